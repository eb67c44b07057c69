"""Extraction in child processes that can be killed, because parsers of hostile pages hang, crash and eat memory.

C code ignores signals and threads cannot be stopped; a process can. Each child has a limit on its memory, each task
a deadline. A task that breaks becomes a status (extract-timeout, extract-crash); its neighbours do not notice, and the
pool puts a fresh child in its place. Children are forked from a server that has the parsers loaded, and replaced after
`TASKS` pages, so that no leak lasts.

A child ends by our kill, or by its page's fault, and by nothing else that could be taken for it: see `children`.
What breaks the pool itself is no page's fault: Unavailable, and the next page gets a new pool. A page waits here for
a free child, which is not its own time, so that no more pages are copied to children than there are.
"""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from typing import Self, cast

from pebble import ProcessExpired, ProcessPool

from sandcrawler.config import Config
from sandcrawler.errors import ConfigurationError, Unavailable
from sandcrawler.fetch.allowance import uncounted
from sandcrawler.ingest.child import confine, ready, run
from sandcrawler.ingest.children import FORKED, SERVED
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
# Pages of one child before it is replaced.
TASKS = 400
# A child loads its parsers in about a second; on a machine that is very busy it may take a while.
START_SECONDS = 60.0


class Sandbox:
    """A pool of extraction children: `async with Sandbox(config) as sandbox: await sandbox.extract("html", page)`."""

    def __init__(self, config: Config, steps: Mapping[str, str] = STEPS) -> None:
        self._config, self._steps, self._rules = config, steps, _rules(config)
        self._free = asyncio.Semaphore(config.extract_processes)
        self._pool = self._open()

    def _open(self) -> ProcessPool:
        modules = sorted({target.partition(":")[0] for target in self._steps.values()})
        SERVED.set_forkserver_preload([__name__, *modules])
        return ProcessPool(
            max_workers=self._config.extract_processes,
            max_tasks=TASKS,
            initializer=confine,
            initargs=[self._config.extract_bytes, self._rules, modules],
            context=SERVED,
        )

    async def __aenter__(self) -> Self:
        """Raises Unavailable where the children cannot start: then no page is to blame."""
        started = self._pool.schedule(ready, timeout=START_SECONDS)
        try:
            await asyncio.wait_for(asyncio.wrap_future(started), START_SECONDS)
        except Exception as error:
            await asyncio.to_thread(self.close)
            raise Unavailable(f"the extraction children do not start ({type(error).__name__}): see above") from error
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Stop every child, whatever it is doing, and wait for them."""
        _stop(self._pool)

    async def extract(self, step: str, page: Page) -> Extracted:
        """One of STEPS on one page. A cancelled call kills its child; what breaks there is told by the status.

        Unavailable: there are no children.
        """
        with uncounted():
            await self._free.acquire()
        try:
            return await self._extract(step, page, self._config.extract_seconds)
        finally:
            self._free.release()

    async def _extract(self, step: str, page: Page, seconds: float) -> Extracted:
        pool = self._pool
        try:
            future = pool.schedule(run, args=[self._steps[step], page], timeout=seconds)
        except RuntimeError as error:  # the pool broke while nobody was there
            raise await self._broken(pool) from error
        try:
            return cast(Extracted, await asyncio.wrap_future(future))
        except BrokenProcessPool as error:
            raise await self._broken(pool) from error
        except TimeoutError:
            return _timed_out(seconds)
        except ProcessExpired as error:
            return _crashed(error.exitcode)
        except MemoryError:
            return _out_of_memory(self._config.extract_bytes)
        except Exception as error:  # noqa: BLE001  (whatever a parser raised on this page: the page's result)
            return Extracted(Status.EXTRACT_CRASH, f"{type(error).__name__}: {error}")

    async def _broken(self, pool: ProcessPool) -> Unavailable:
        """What to raise; the first who finds the pool broken replaces it."""
        if pool is self._pool:
            self._pool = self._open()
            await asyncio.to_thread(_stop, pool)
        return Unavailable("the extraction children are gone; they are started again: see the log for the reason")


def extract_once(step: str, page: Page, config: Config, steps: Mapping[str, str] = STEPS) -> Extracted:
    """The same for one page, in one forked child, without a pool: for the command line. Unavailable as above."""
    receiving, sending = FORKED.Pipe(duplex=False)
    child = FORKED.Process(target=_answer, args=(sending, steps[step], page, config, _rules(config)), daemon=True)
    child.start()
    sending.close()
    try:
        if not receiving.poll(config.extract_seconds):
            return _timed_out(config.extract_seconds)
        answer = receiving.recv()
        if isinstance(answer, Unavailable):
            raise answer
        return cast(Extracted, answer)
    except EOFError:
        child.join()
        return _crashed(child.exitcode)
    finally:
        child.kill()
        child.join()
        receiving.close()


def _stop(pool: ProcessPool) -> None:
    pool.stop()  # type: ignore[no-untyped-call]
    pool.join()


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
        confine(config.extract_bytes, rules, [target.partition(":")[0]])
    except Exception as error:  # noqa: BLE001  (whatever it is, no page has been looked at yet)
        sending.send(Unavailable(f"the extraction child does not start: {type(error).__name__}: {error}"))
        return
    try:
        answer = run(target, page)
    except MemoryError:
        answer = _out_of_memory(config.extract_bytes)
    except Exception as error:  # noqa: BLE001  (as above)
        answer = Extracted(Status.EXTRACT_CRASH, f"{type(error).__name__}: {error}")
    sending.send(answer)


def _timed_out(seconds: float) -> Extracted:
    return Extracted(Status.EXTRACT_TIMEOUT, f"extraction was stopped after {seconds:g} s")


def _crashed(exitcode: int | None) -> Extracted:
    return Extracted(Status.EXTRACT_CRASH, f"the extraction process ended with exit code {exitcode}")


def _out_of_memory(limit: int) -> Extracted:
    return Extracted(Status.EXTRACT_CRASH, f"extraction needed more than {limit} bytes of memory")
