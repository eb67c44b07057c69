"""The statuses are the contract's, each with a meaning, and spelled nowhere else."""

import ast
from pathlib import Path

import sandcrawler
from sandcrawler.status import KEPT, Scope, Status, verdict

ROOT = Path(sandcrawler.__file__).parent


def test_every_status_has_a_meaning() -> None:
    assert all(len(status.meaning) > 10 for status in Status)
    assert Status("host-backoff").retry
    assert not Status("wrong-scope").retry


def test_scopes_lead_to_the_verdicts_of_the_contract() -> None:
    words = {scope.value: verdict(scope).value for scope in Scope}
    assert words["article-fulltext"] == "success"
    assert words["unknown"] == "unknown-scope"
    assert words["blocked-paywall"] == words["blocked-login"] == "blocked-wall"
    assert words["blocked-captcha"] == "blocked-captcha"
    assert words["blocked-cookie"] == "blocked-cookie"
    assert words["blocked-forbidden"] == "blocked-forbidden"
    others = {s for s in words if not s.startswith("blocked-")} - {"article-fulltext", "unknown"}
    assert {words[s] for s in others} == {"wrong-scope"}
    assert {Status.SUCCESS, Status.UNKNOWN_SCOPE} == KEPT


def test_no_module_spells_a_status_with_a_dash_as_a_string() -> None:
    """Words such as success or timeout are common English; the dashed ones are only ours."""
    dashed = {status.value for status in Status if "-" in status.value}
    for path in ROOT.rglob("*.py"):
        if path.name == "status.py":
            continue
        strings = {n.value for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Constant)}
        assert not dashed & {s for s in strings if isinstance(s, str)}, path
