"""Back ends by name: which there are, when they are opened, and what becomes of one that cannot be."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError
from sandcrawler.fetch import backends
from sandcrawler.fetch.backends import Backends, open_fetcher
from sandcrawler.fetch.live import Fetcher
from sandcrawler.fetch.warc import WarcFetcher
from sandcrawler.model import Capture
from sandcrawler.status import Status
from tests.fetch.warcs import HOST, tape
from tests.fetch.web import reply

URL = f"{HOST}/a"


def test_a_name_makes_its_fetcher(tmp_path: Path) -> None:
    assert isinstance(open_fetcher(Config(), "live"), Fetcher)
    made = open_fetcher(Config(), "warc:https://example.org/x.warc.gz")
    assert isinstance(made, WarcFetcher)
    assert made.place == "https://example.org/x.warc.gz"


@pytest.mark.parametrize("name", ["", "warc", "warc:", "live:x", "gopher", "Live"])
def test_other_names_are_said_to_be_wrong(name: str) -> None:
    with pytest.raises(ConfigurationError, match="back end"):
        open_fetcher(Config(), name)


def test_a_worker_s_own_back_end_must_be_there(tmp_path: Path) -> None:
    async def work() -> None:
        async with Backends(Config(fetch_backend=f"warc:{tmp_path}/none")):
            pass

    with pytest.raises(ConfigurationError, match="no such file"):
        asyncio.run(work())


async def ask(held: Backends, backend: str | None) -> Capture:
    async with held.fetcher(backend) as fetcher, fetcher.session() as session:
        return await session.get(URL)


def test_one_that_a_request_names_may_be_missing_today_and_there_tomorrow(tmp_path: Path) -> None:
    async def work() -> tuple[Capture, Capture]:
        async with Backends(Config()) as held:
            first = await ask(held, f"warc:{tmp_path}/made.warc.gz")
            await asyncio.to_thread(tape, {URL: reply(b"there")}, URL, folder=tmp_path)
            return first, await ask(held, f"warc:{tmp_path}/made.warc.gz")

    missing, there = asyncio.run(work())
    assert (missing.status, missing.hops) == (Status.NO_CAPTURE, (URL,))
    assert "no such file" in (missing.error_message or "")
    assert there.body == b"there"


def test_a_file_is_opened_once_and_few_stay_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, closed = list[str](), list[str]()

    class Noted(WarcFetcher):
        async def __aenter__(self) -> "Noted":
            opened.append(self.place)
            await asyncio.sleep(0.01)
            return await super().__aenter__()

        async def __aexit__(self, *given: object) -> None:
            closed.append(self.place)
            await super().__aexit__(None, None, None)

    monkeypatch.setattr(backends, "BACKENDS", {**backends.BACKENDS, "warc": Noted})
    tape({URL: reply(b"there")}, URL, folder=tmp_path)
    files = [tmp_path / f"{number}.warc.gz" for number in range(10)]
    for file in files:
        file.hardlink_to(tmp_path / "made.warc.gz")

    async def work() -> None:
        async with Backends(Config()) as held, AsyncExitStack() as stack:
            await stack.enter_async_context(held.fetcher(f"warc:{files[0]}"))
            for file in files:
                assert {c.body for c in await asyncio.gather(*(ask(held, f"warc:{file}") for _ in range(5)))} == {
                    b"there"
                }
            assert len(opened) - len(closed) == backends.IDLE + 1
            assert str(files[0]) not in closed, "it is in use"

    asyncio.run(work())
    assert sorted(opened) == sorted(closed) == sorted(map(str, files))
