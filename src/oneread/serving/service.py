"""The decider behind the routes: loaded in the background, checked by a canary, given up when its caller is gone."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..answers import Answers
from ..errors import EngineError, OnereadError
from ..questions import Noul, Request
from .failures import Failure, Refused, unavailable
from .settings import Settings

if TYPE_CHECKING:
    from ..decide import Decider

log = logging.getLogger("oneread.serving")

CANARY = Request("The canary sings.", {"alive": Noul("Does the canary sing?")})

Readiness = Literal["loading", "failing", "ready"]


@dataclass(frozen=True, slots=True)
class Canary:
    """The last canary read: when it was made (monotonic seconds), how long it took, what went wrong."""

    at: float
    seconds: float
    fault: str | None


class Service:
    """Holds the decider. Bound to one event loop.

    Args:
        load: makes the decider; runs in a thread.
        decider: one that is loaded already; its owner closes it.
    """

    def __init__(self, settings: Settings, load: Callable[[Settings], Decider], decider: Decider | None = None) -> None:
        self.settings = settings
        self._load = load
        self._decider = decider
        self._loading: asyncio.Task[Decider] | None = None
        self._watched = False
        self._started = asyncio.Event()
        self._canary: Canary | None = None
        self._canary_lock = asyncio.Lock()

    def start(self) -> None:
        """Begin loading, unless a decider was given."""
        if self._decider is None and self._loading is None:
            self._loading = asyncio.create_task(asyncio.to_thread(self._load, self.settings))
            self._loading.add_done_callback(self._report)
        self._started.set()

    async def loaded(self) -> Decider:
        """The decider, once it is there. Raises what loading raised."""
        if self._decider is None:
            self._watched = True
            await self._started.wait()
            assert self._loading is not None
            self._decider = await asyncio.shield(self._loading)
        return self._decider

    async def settled(self) -> None:
        """Wait until loading has ended, well or not."""
        if self._loading is not None:
            await asyncio.wait({self._loading})

    def decider(self) -> Decider:
        """The decider, or `Refused` (503) while it is loading or where that failed."""
        if self._decider is None:
            if self._loading is None or not self._loading.done():
                raise Refused(unavailable("The reader is still loading. /ready tells when it is there."))
            if self._loading.exception() is not None:
                raise Refused(unavailable("The reader could not be loaded; the server's log says why."))
            self._decider = self._loading.result()
        return self._decider

    async def answer(self, request: Request, gone: Awaitable[None]) -> Answers:
        """Answer a request, unless its caller leaves first: then what was not yet read is given up.

        Raises:
            Refused: status 499 when the caller left (nobody receives it).
        """
        work = asyncio.ensure_future(self.decider().adecide(request))
        work.add_done_callback(_taken)
        watch = asyncio.ensure_future(gone)
        try:
            await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            raise Refused(Failure(499, "client_closed_request", "The caller left before the answer."))
        finally:
            watch.cancel()
            work.cancel()

    async def readiness(self) -> tuple[Readiness, Canary | None]:
        """Whether requests are answered, by a canary read at most `Settings.canary_age_s` old."""
        try:
            decider = self.decider()
        except Refused:
            loading = self._loading is None or not self._loading.done()
            return ("loading" if loading else "failing"), None
        async with self._canary_lock:
            if self._canary is None or time.monotonic() - self._canary.at > self.settings.canary_age_s:
                self._canary = await self._sing(decider)
        return ("ready" if self._canary.fault is None else "failing"), self._canary

    async def _sing(self, decider: Decider) -> Canary:
        start = time.monotonic()
        fault = None
        try:
            await asyncio.wait_for(decider.adecide(CANARY), self.settings.canary_timeout_s)
        except TimeoutError:
            fault = f"a canary read took more than {self.settings.canary_timeout_s:g} s"
        except (EngineError, OnereadError) as error:
            fault = f"a canary read failed with {type(error).__name__}"
        end = time.monotonic()
        return Canary(end, end - start, fault)

    async def close(self) -> None:
        """Close a decider that was loaded here."""
        if self._loading is not None:
            await self.settled()
            if self._loading.exception() is None:
                await asyncio.to_thread(self._loading.result().close)

    def _report(self, loading: asyncio.Task[Decider]) -> None:
        """Put a failed load in the log where nobody waits for it: it would pass unseen."""
        if not self._watched and not loading.cancelled() and loading.exception() is not None:
            log.error("the reader could not be loaded: %s", loading.exception())


def _taken(work: asyncio.Future[Answers]) -> None:
    """Look at the outcome, so that asyncio does not log the error of a decision that nobody waits for."""
    if not work.cancelled():
        work.exception()
