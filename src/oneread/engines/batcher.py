"""One worker thread for a model in this process: all reads that wait and run at the same length share the next pass."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition, Thread

from ..errors import EngineError
from .base import Capabilities, LocalModel, Read, Reading


@dataclass(slots=True, eq=False)
class _Request:
    """The reads of one call, and what has been read of them so far."""

    future: Future[list[Reading]]
    readings: list[Reading | None]
    left: int = field(init=False)

    def __post_init__(self) -> None:
        self.left = len(self.readings)

    def finish(self, index: int, reading: Reading) -> None:
        self.readings[index] = reading
        self.left -= 1
        if self.left == 0 and self.future.set_running_or_notify_cancel():
            self.future.set_result([r for r in self.readings if r is not None])

    def fail(self, error: EngineError) -> None:
        if not self.future.done() and self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    request: _Request
    index: int
    read: Read
    bucket: int


class Batcher:
    """An engine that drives a `LocalModel` from one thread. Safe to call from any thread.

    A pass takes the oldest read that waits and, in order of arrival, others of its bucket while the padded tokens stay
    within the budget (the oldest always runs). It starts as soon as the worker is free and waits for no timer, so reads
    gather only while a pass runs, and no read is overtaken for ever.

    Args:
        model: what runs the passes; closed with the batcher.
        token_budget: the most padded tokens of a pass.
    """

    def __init__(self, model: LocalModel, token_budget: int) -> None:
        self._model = model
        self._budget = token_budget
        self._queue: deque[_Waiting] = deque()
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
        request = _Request(Future(), [None] * len(reads))
        if not reads:
            request.future.set_result([])
            return request.future
        try:
            waiting = [_Waiting(request, i, read, self._model.bucket(read)) for i, read in enumerate(reads)]
        except EngineError as error:
            request.fail(error)
            return request.future
        with self._changed:
            if self._closed:
                request.fail(_closed())
            else:
                self._queue.extend(waiting)
                self._changed.notify()
        return request.future

    def close(self) -> None:
        """Finish the pass that runs, refuse the reads that wait, free the model. May be called again."""
        with self._changed:
            already, self._closed = self._closed, True
            refused = {w.request for w in self._queue}
            self._queue.clear()
            self._changed.notify()
        for request in refused:
            request.fail(_closed())
        self._worker.join()
        if not already:
            self._model.close()

    def _work(self) -> None:
        while (batch := self._next()) is not None:
            try:
                readings = self._model.forward([w.read for w in batch])
                if len(readings) != len(batch):
                    raise EngineError(f"The model returned {len(readings)} readings for {len(batch)} reads")
            except Exception as cause:  # whatever a runtime raises: it fails these requests, not the worker
                # the runtime's own words may hold parts of the evidence, so only its type is repeated
                error = cause if isinstance(cause, EngineError) else EngineError(f"A pass failed with {type(cause).__name__}")
                error.__cause__ = None if error is cause else cause
                for w in batch:
                    w.request.fail(error)
            else:
                for w, reading in zip(batch, readings, strict=True):
                    w.request.finish(w.index, reading)
            del batch

    def _next(self) -> list[_Waiting] | None:
        """The reads of the next pass; blocks while there are none; None when closed."""
        with self._changed:
            while True:
                while not self._queue and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return None
                # cancelled futures, and those that failed in an earlier pass, want nothing more
                alive = [w for w in self._queue if not w.request.future.done()]
                if not alive:
                    self._queue.clear()
                    continue
                bucket = alive[0].bucket
                room = max(1, self._budget // bucket)
                batch: list[_Waiting] = []
                rest: deque[_Waiting] = deque()
                for w in alive:
                    if w.bucket == bucket and len(batch) < room:
                        batch.append(w)
                    else:
                        rest.append(w)
                self._queue = rest
                return batch


def _closed() -> EngineError:
    return EngineError("The engine is closed")
