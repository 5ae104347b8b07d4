"""One worker thread for a model in this process: all reads that wait and run at the same length share the next pass."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from threading import Condition, Thread

from ..errors import EngineError
from .base import Capabilities, LocalModel, Read, Reading
from .isolated import IsolatedModel
from .load import DrainRate, Load, Pass


class _Request:
    """The reads of one call that wait, by bucket, and what has been read of them so far."""

    def __init__(self, reads: Sequence[Read], buckets: Sequence[int]) -> None:
        self.future: Future[list[Reading]] = Future()
        self.queued_at = time.monotonic()
        self.reads = reads
        self.tokens_left = sum(read.tokens for read in reads)
        self.turn_rows = 0
        self.waiting: dict[int, deque[int]] = {}
        for index, bucket in enumerate(buckets):
            self.waiting.setdefault(bucket, deque()).append(index)
        self._readings: list[Reading | None] = [None] * len(reads)
        self._left = len(reads)

    @property
    def bucket(self) -> int:
        """The bucket of the read that has waited longest."""
        return min(self.waiting, key=lambda bucket: self.waiting[bucket][0])

    def take(self, bucket: int) -> int:
        queue = self.waiting[bucket]
        index = queue.popleft()
        if not queue:
            del self.waiting[bucket]
        return index

    def finish(self, index: int, reading: Reading) -> None:
        self._readings[index] = reading
        self._left -= 1
        if self._left == 0 and self.future.set_running_or_notify_cancel():
            self.future.set_result([r for r in self._readings if r is not None])

    def fail(self, error: EngineError) -> None:
        if not self.future.done() and self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)


class Batcher:
    """An engine that drives a `LocalModel` from one thread. Safe to call from any thread.

    Calls take turns: the one whose turn it is gives the next pass its oldest read and others of that bucket, up to half a
    pass, then the next call gives of that bucket, while the padded tokens stay within the budget. Who has given half a pass
    goes to the end. So small calls are served in order of arrival, and one of a thousand reads delays another by about half
    a pass. A pass starts as soon as the worker is free and waits for no timer.

    Args:
        model: what runs the passes; closed with the batcher.
        token_budget: the most padded tokens of a pass.
    """

    def __init__(self, model: LocalModel, token_budget: int) -> None:
        self._model = model
        self._budget = token_budget
        self._turn: deque[_Request] = deque()
        self._running: list[tuple[_Request, int]] = []
        self._running_since = 0.0
        self._more_waits = False
        self._rate = DrainRate()
        self._observers: list[Callable[[Pass], None]] = []
        self._changed = Condition()
        self._closed = False
        self._worker = Thread(target=self._work, name="oneread-batcher", daemon=True)
        self._worker.start()

    @property
    def capabilities(self) -> Capabilities:
        """What the model can do."""
        return self._model.capabilities

    def read(self, reads: Sequence[Read]) -> Future[list[Reading]]:
        """Queue reads; the future gives one reading for each, in order.

        The future fails with `EngineError` when the model cannot run one of the reads, fails in a pass, or is closed.
        Cancelling it gives up the reads that have not started.
        """
        try:
            request = _Request(reads, [self._model.bucket(read) for read in reads])
        except EngineError as error:
            return _failed(error)
        if not reads:
            request.future.set_result([])
            return request.future
        with self._changed:
            if self._closed:
                request.fail(_closed())
            else:
                self._turn.append(request)
                self._changed.notify()
        return request.future

    def load(self) -> Load:
        """What waits and runs, and how fast it drains."""
        with self._changed:
            left = self._left()
            return Load(
                requests=len(left),
                rows=len(self._running) + sum(len(q) for r in self._turn if not r.future.done() for q in r.waiting.values()),
                tokens=sum(left.values()),
                tokens_per_s=self._rate.value,
                pass_s=time.monotonic() - self._running_since if self._running else 0.0,
                restarts=self._model.restarts if isinstance(self._model, IsolatedModel) else 0,
            )

    def seconds_for(self, tokens: int) -> float | None:
        """How long a call of so many tokens would take from now, its waiting included; None while the rate is not known.

        Since calls take turns, each of the others holds it up by no more than its own size, or half a pass if that is more.
        """
        with self._changed:
            rate = self._rate.value
            turn = max(tokens, self._budget // 2)
            ahead = sum(min(left, turn) for left in self._left().values())
            running = sum(request.reads[index].tokens for request, index in self._running)
        return None if rate is None else (max(ahead, running) + tokens) / rate

    def memory(self) -> int:
        """Resident bytes of the model's own process; 0 where it has none or they cannot be told."""
        return self._model.resident_bytes() if isinstance(self._model, IsolatedModel) else 0

    def observe(self, observer: Callable[[Pass], None]) -> None:
        """Call the observer after every pass, from the worker's thread. It must be quick and must not raise."""
        self._observers.append(observer)

    def close(self) -> None:
        """Finish the pass that runs, refuse the reads that wait, free the model. May be called again."""
        with self._changed:
            already, self._closed = self._closed, True
            refused = list(self._turn)
            self._turn.clear()
            self._changed.notify()
        for request in refused:
            request.fail(_closed())
        self._worker.join()
        if not already:
            self._model.close()

    def _left(self) -> dict[_Request, int]:
        """Tokens not yet read of each call that still wants them."""
        calls = dict.fromkeys((*self._turn, *(request for request, _ in self._running)))
        return {request: request.tokens_left for request in calls if not request.future.done()}

    def _work(self) -> None:
        while (batch := self._next()) is not None:
            reads = [request.reads[index] for request, index in batch]
            start = self._running_since
            waits = [start - request.queued_at for request, _ in batch]
            fault: str | None = None
            try:
                readings = self._model.forward(reads)
                if len(readings) != len(batch):
                    raise EngineError(f"The model returned {len(readings)} readings for {len(batch)} reads")
            except Exception as cause:  # whatever a runtime raises: it fails these requests, not the worker
                # the runtime's own words may hold parts of the evidence, so only its type is repeated
                error = cause if isinstance(cause, EngineError) else EngineError(f"A pass failed with {type(cause).__name__}")
                error.__cause__ = None if error is cause else cause
                fault, readings = type(cause).__name__, []
                for request, _ in batch:
                    request.fail(error)
            tokens, seconds = sum(read.tokens for read in reads), time.monotonic() - start
            with self._changed:
                self._running = []
                for (request, _), read in zip(batch, reads, strict=True):
                    request.tokens_left -= read.tokens
                if fault is None and self._more_waits:
                    self._rate.add(tokens, seconds)
            # told before the futures are: who waits for an answer finds its pass counted
            told = Pass(len(batch), tokens, seconds, tuple(waits), sum(r.tokens_reused for r in readings), fault)
            for observer in self._observers:
                observer(told)
            for (request, index), reading, wait in zip(batch, readings, waits, strict=False):
                request.finish(index, replace(reading, waited_s=wait))
            del batch, reads, readings
            if fault is not None and isinstance(self._model, IsolatedModel):
                self._model.recover()  # here, so that the time it takes is no reading time

    def _next(self) -> list[tuple[_Request, int]] | None:
        """The reads of the next pass; blocks while there are none; None when closed."""
        with self._changed:
            while True:
                while not self._turn and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return None
                # cancelled futures, and those that failed in an earlier pass, want nothing more
                self._turn = deque(request for request in self._turn if not request.future.done())
                if self._turn:
                    self._running = self._gather()
                    self._running_since = time.monotonic()
                    self._more_waits = bool(self._turn)
                    return self._running

    def _gather(self) -> list[tuple[_Request, int]]:
        """Take the next pass's reads. A call whose turn is used up goes to the end."""
        bucket = self._turn[0].bucket
        room = max(1, self._budget // bucket)
        quantum = max(1, room // 2)
        batch: list[tuple[_Request, int]] = []
        giving = deque(request for request in self._turn if bucket in request.waiting)
        while giving and len(batch) < room:
            request = giving.popleft()
            while len(batch) < room and bucket in request.waiting and request.turn_rows < quantum:
                batch.append((request, request.take(bucket)))
                request.turn_rows += 1
            if request.turn_rows >= quantum:
                request.turn_rows = 0
                self._turn.remove(request)
                self._turn.append(request)
                if bucket in request.waiting:
                    giving.append(request)
        self._turn = deque(request for request in self._turn if request.waiting)
        return batch


def _closed() -> EngineError:
    return EngineError("The engine is closed")


def _failed(error: EngineError) -> Future[list[Reading]]:
    future: Future[list[Reading]] = Future()
    future.set_exception(error)
    return future
