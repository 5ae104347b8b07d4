"""The decider behind the routes: loaded in the background, checked by a canary, given up when its caller is gone."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..answers import Answers
from ..decision_log import DecisionLog
from ..engines.startup import Step, hearer
from ..errors import EngineError, OnereadError
from ..questions import Message, Request
from .admission import Admission, timed_out
from .call import Call, Follow, this_call
from .failures import Failure, Refused, unavailable
from .limits import check
from .metrics import Metrics
from .settings import LogChoice, Settings
from .texts import Gone, written
from .warmth import CANARY

if TYPE_CHECKING:
    from ..decide import Decider, Piece

log = logging.getLogger("oneread.serving")

Readiness = Literal["loading", "failing", "full", "stopping", "ready"]

TIMEOUT_HEADER = b"x-request-timeout-ms"

LAST_WORDS_S = 1.0
"""A stopping server refuses what is still unanswered so long before it is cut off."""


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
        self._read_at = -1e9
        self._out_of_time = asyncio.Event()
        self.stopping = False
        self.step: Step | None = None
        """How far loading has come."""
        self.metrics = Metrics()
        self._log = _open_log(settings.log, self.metrics)
        self.admission = Admission(settings.limits)
        if decider is not None:
            self._adopt(decider)

    def start(self) -> None:
        """Begin loading, unless a decider was given."""
        if self._decider is None and self._loading is None:
            token = hearer.set(lambda step: setattr(self, "step", step))
            self._loading = asyncio.create_task(asyncio.to_thread(self._load, self.settings))
            hearer.reset(token)
            self._loading.add_done_callback(self._report)
        self._started.set()

    async def loaded(self) -> Decider:
        """The decider, once it is there. Raises what loading raised."""
        if self._decider is None:
            self._watched = True
            await self._started.wait()
            assert self._loading is not None
            self._adopt(await asyncio.shield(self._loading))
        assert self._decider is not None
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
            self._adopt(self._loading.result())
        assert self._decider is not None
        return self._decider

    def _adopt(self, decider: Decider) -> None:
        self._decider = decider
        self.admission.serve(decider.reader.engine)
        self.metrics.follow(decider.reader.engine)

    @property
    def reader_name(self) -> str:
        """Of the reader served; empty until it is there."""
        return "" if self._decider is None else self._decider.reader.name

    async def answer(self, request: Request, gone: Awaitable[None]) -> Answers:
        """Answer a request before its deadline, unless its caller leaves first: then what was not yet read is given up.

        Raises:
            InvalidRequest: it asks more than the limits allow, or breaks a rule of the domain or the reader.
            Refused: 529 when it cannot be answered in time or the queue is full, 504 when it was not, 400 for a deadline
                that is none, 503 when the server stops first, 499 when the caller left (nobody receives it).
        """
        watch = asyncio.ensure_future(gone)
        try:
            return await self._answer(request, watch)
        finally:
            watch.cancel()

    async def _answer(self, request: Request, watch: asyncio.Future[None]) -> Answers:
        call, decider = this_call(), self.decider()
        check(request, self.settings.limits)
        deadline = self._deadline(call)
        with self.admission.errand(deadline) as errand:
            follow = Follow(call, errand, lambda tokens: self.admission.admit(errand, tokens))
            work = asyncio.ensure_future(decider.adecide(request, follow))
            work.add_done_callback(_taken)
            answers = await self._wait(work, watch, deadline)
            self.admission.answered(time.monotonic() - follow.since)
        self._read_at = time.monotonic()
        if self._log is not None:
            calibration = None if decider.calibration is None else decider.calibration.name
            self._log.note(call.id, request, answers, decider.reader.digest, calibration)
        return answers

    async def _wait(self, work: asyncio.Future[Answers], gone: asyncio.Future[None], deadline: float) -> Answers:
        """The answers, unless the caller, the deadline or the server's end comes first."""
        stop = asyncio.ensure_future(self._out_of_time.wait())
        try:
            left = max(0.0, deadline - time.monotonic())
            first: set[asyncio.Future[Any]] = {work, gone, stop}
            await asyncio.wait(first, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            if gone.done():
                raise Refused(Failure(499, "client_closed_request", "The caller left before the answer."))
            if stop.done():
                raise Refused(unavailable("The server stops before this could be answered. The request may be sent again."))
            raise timed_out("The answer was not there in time", 0.0)
        finally:
            stop.cancel()
            work.cancel()

    async def write(
        self, messages: Sequence[Message], most: int, seed: int, stop: Sequence[str], gone: Gone
    ) -> AsyncGenerator[Piece, None]:
        """Continue a conversation before its deadline; see `texts.written`.

        Raises:
            UnknownModel: the reader only reads.
            InvalidRequest: the conversation is too long for it.
        """
        call, decider = this_call(), self.decider()
        text = await asyncio.to_thread(decider.write, messages, most, seed, stop)
        async for piece in written(text, most, self.admission, call, self._deadline(call), gone, self._out_of_time):
            yield piece
        self._read_at = time.monotonic()

    def place(self) -> AbstractContextManager[None]:
        """A place in the house for the call being answered; see `Admission.place`."""
        return self.admission.place(self._deadline(this_call()))

    def permit(self, model: str) -> None:
        """Raise `Refused` (403) where the caller's key may not ask for the model."""
        call = this_call()
        call.model = model
        if call.caller is not None:
            call.caller.check_model(model)

    def _deadline(self, call: Call) -> float:
        """When the call has to be answered, in monotonic seconds."""
        limits = self.settings.limits
        text = call.headers.get(TIMEOUT_HEADER)
        if text is None:
            return call.started + limits.timeout_s
        if not (text.isdigit() and len(text) <= 9 and int(text) > 0):
            raise Refused(
                Failure(400, "api_usage_error", f"The header {TIMEOUT_HEADER.decode()} takes whole milliseconds above 0.")
            )
        return call.started + min(int(text) / 1000, limits.max_timeout_s)

    def stop(self, seconds: float) -> None:
        """Refuse, shortly before so many seconds have passed, what is then still unanswered. /ready says so at once."""
        self.stopping = True
        asyncio.get_running_loop().call_later(max(0.0, seconds - LAST_WORDS_S), self._out_of_time.set)

    @property
    def seems_ready(self) -> bool:
        """Whether /ready said so last, or a request was answered since; reads nothing."""
        fresh = time.monotonic() - self._read_at <= self.settings.canary_age_s
        sang = self._canary is not None and self._canary.fault is None
        return self._decider is not None and not self.stopping and not self.admission.full and (fresh or sang)

    async def readiness(self) -> tuple[Readiness, Canary | None]:
        """Whether requests are answered: by a read at most `Settings.canary_age_s` old, a request's or else a canary's."""
        if self.stopping:
            return "stopping", None
        try:
            decider = self.decider()
        except Refused:
            loading = self._loading is None or not self._loading.done()
            return ("loading" if loading else "failing"), None
        if self.admission.full:
            return "full", None
        if time.monotonic() - self._read_at <= self.settings.canary_age_s:
            return "ready", None
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
        """Close the log, and a decider that was loaded here."""
        if self._log is not None:
            await asyncio.to_thread(self._log.close)
        if self._loading is not None:
            await self.settled()
            if self._loading.exception() is None:
                await asyncio.to_thread(self._loading.result().close)

    def _report(self, loading: asyncio.Task[Decider]) -> None:
        """Put a failed load in the log where nobody waits for it: it would pass unseen."""
        if not self._watched and not loading.cancelled() and loading.exception() is not None:
            log.error("the reader could not be loaded: %s", loading.exception())


def _open_log(choice: LogChoice | None, metrics: Metrics) -> DecisionLog | None:
    if choice is None:
        return None
    c = choice
    return DecisionLog(c.file, c.full, c.sample, c.days, c.max_bytes, lambda outcome: metrics.logged.labels(outcome).inc())


def _taken(work: asyncio.Future[Answers]) -> None:
    """Look at the outcome, so that asyncio does not log the error of a decision that nobody waits for."""
    if not work.cancelled():
        work.exception()
