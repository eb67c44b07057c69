"""Extraction in child processes that can be killed, because parsers of hostile pages hang, crash and eat memory.

C code ignores signals and threads cannot be stopped; a process can. Each child has a limit on its memory, each task
a deadline. A task that breaks becomes a status (extract-timeout, extract-crash); its neighbours do not notice, and the
pool puts a fresh child in its place. Children are forked from a server that has the parsers loaded, and replaced after
`TASKS` pages, so that no leak lasts.
"""

import asyncio
import multiprocessing
import resource
from collections.abc import Mapping, Sequence
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any, Self, cast

from pebble import ProcessExpired, ProcessPool

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.model import Extracted, Page
from sandcrawler.status import Status

# What can be asked for → module:function, a function from a Page to what was Extracted; loaded in the child alone.
STEPS: Mapping[str, str] = {
    "html": "sandcrawler.extract.html:extract_html",
    "xml": "sandcrawler.extract.xml:extract_xml",
    "pdf": "sandcrawler.extract.pdf:extract_pdf",
    "xml-link": "sandcrawler.extract.html:extract_xml_link",
    "pdf-link": "sandcrawler.extract.html:extract_pdf_link",
    "css": "sandcrawler.extract.resources:extract_css",
}
# Those that also need the rules for sub-resources.
WITH_RULES = frozenset({"extract_html", "extract_css"})
# Pages of one child before it is replaced, and between two clearings of its parsers' caches.
TASKS = 400
TASKS_BETWEEN_CLEARINGS = 50
# A child loads its parsers in about a second; on a machine that is very busy it may take a while.
START_SECONDS = 60.0


class Sandbox:
    """A pool of extraction children: `async with Sandbox(config) as sandbox: await sandbox.extract("html", page)`."""

    def __init__(self, config: Config, steps: Mapping[str, str] = STEPS) -> None:
        self._config, self._steps = config, steps
        context = multiprocessing.get_context("forkserver")
        modules = sorted({target.partition(":")[0] for target in steps.values()})
        context.set_forkserver_preload([__name__, *modules])
        self._pool = ProcessPool(
            max_workers=config.extract_processes,
            max_tasks=TASKS,
            initializer=_confine,
            initargs=[config.extract_bytes, _rules(config), modules],
            context=context,
        )

    async def __aenter__(self) -> Self:
        """Raises Unavailable where the children cannot start: then no page is to blame."""
        ready = self._pool.schedule(_ready, timeout=START_SECONDS)
        try:
            await asyncio.wait_for(asyncio.wrap_future(ready), START_SECONDS)
        except Exception as error:
            await asyncio.to_thread(self.close)
            raise Unavailable(f"the extraction children do not start ({type(error).__name__}): see above") from error
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Stop every child, whatever it is doing, and wait for them."""
        self._pool.stop()  # type: ignore[no-untyped-call]
        self._pool.join()

    async def extract(self, step: str, page: Page) -> Extracted:
        """One of STEPS on one page. A cancelled call kills its child; what breaks there is told by the status."""
        seconds = self._config.extract_seconds
        future = self._pool.schedule(_run, args=[self._steps[step], page], timeout=seconds)
        try:
            return cast(Extracted, await asyncio.wrap_future(future))
        except TimeoutError:
            return _timed_out(seconds)
        except ProcessExpired as error:
            return _crashed(error.exitcode)
        except MemoryError:
            return _out_of_memory(self._config.extract_bytes)
        except Exception as error:  # noqa: BLE001  (whatever a parser raised on this page: the page's result)
            return Extracted(Status.EXTRACT_CRASH, f"{type(error).__name__}: {error}")


def extract_once(step: str, page: Page, config: Config, steps: Mapping[str, str] = STEPS) -> Extracted:
    """The same for one page, in one forked child, without a pool: for the command line."""
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=_answer, args=(sending, steps[step], page, config, _rules(config)), daemon=True)
    child.start()
    sending.close()
    try:
        if not receiving.poll(config.extract_seconds):
            return _timed_out(config.extract_seconds)
        return cast(Extracted, receiving.recv())
    except EOFError:
        child.join()
        return _crashed(child.exitcode)
    finally:
        child.kill()
        child.join()
        receiving.close()


def _rules(config: Config) -> list[str]:
    """The operator's own rules for sub-resources."""
    if config.extract_rules is None:
        return []
    try:
        return config.extract_rules.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"SANDCRAWLER_EXTRACT_RULES: {config.extract_rules}: {error}") from error


def _answer(sending: Connection, target: str, page: Page, config: Config, rules: Sequence[str]) -> None:
    try:
        _confine(config.extract_bytes, rules)
        answer = _run(target, page)
    except MemoryError:
        answer = _out_of_memory(config.extract_bytes)
    except Exception as error:  # noqa: BLE001  (as above)
        answer = Extracted(Status.EXTRACT_CRASH, f"{type(error).__name__}: {error}")
    sending.send(answer)


# A child's own state: the arguments that its extractors take beside the page, and how many pages it has seen.
_child: dict[str, Any] = {"rules": None, "seen": 0}


def _confine(memory_bytes: int, rules: Sequence[str], modules: Sequence[str] = ()) -> None:
    """Make this process a child that extracts: memory limited, no core dumped, rules compiled, modules loaded."""
    from sandcrawler.extract.resources import ResourceRules  # noqa: PLC0415  (loaded in the child alone)

    for module in modules:  # before the first task, whose deadline is not to pay for it
        import_module(module)
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _child["rules"] = ResourceRules(rules)


def _ready() -> None:
    """Nothing: a child that returns from it has started."""


def _run(target: str, page: Page) -> Extracted:
    """Call an extractor of STEPS in this process."""
    module, _, name = target.partition(":")
    function = getattr(import_module(module), name)
    answer = function(page, _child["rules"]) if name in WITH_RULES else function(page)
    _child["seen"] += 1
    if _child["seen"] % TASKS_BETWEEN_CLEARINGS == 0:
        import_module("sandcrawler.extract.fulltext").forget()
    return cast(Extracted, answer)


def _timed_out(seconds: float) -> Extracted:
    return Extracted(Status.EXTRACT_TIMEOUT, f"extraction was stopped after {seconds:g} s")


def _crashed(exitcode: int | None) -> Extracted:
    return Extracted(Status.EXTRACT_CRASH, f"the extraction process ended with exit code {exitcode}")


def _out_of_memory(limit: int) -> Extracted:
    return Extracted(Status.EXTRACT_CRASH, f"extraction needed more than {limit} bytes of memory")
