"""One worker thread for a model in this process: all reads that wait and run at the same length share the next pass."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from threading import Condition, Thread

import numpy as np

from ..errors import EngineError
from .base import Capabilities, LocalModel, Read, Reading, wanted
from .drain import DrainRate
from .isolated import IsolatedModel
from .load import Gauged, Gauges, Load, Pass
from .turns import Batch, Call, Errand, Turns, errand


class Batcher:
    """An engine that drives a `LocalModel` from one thread. Safe to call from any thread.

    Calls take turns; see `Turns`. A pass starts as soon as the worker is free and waits for no timer.

    Args:
        model: what runs the passes; closed with the batcher.
        token_budget: the most padded tokens of a pass.
    """

    def __init__(self, model: LocalModel, token_budget: int) -> None:
        self._model = model
        self._turns = Turns(token_budget)
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
            call = Call(reads, [self._model.bucket(read) for read in reads], time.monotonic(), errand.get())
        except EngineError as error:
            return _failed(error)
        if not reads:
            call.future.set_result([])
            return call.future
        with self._changed:
            if self._closed:
                call.fail(_closed())
            else:
                self._turns.add(call)
                self._changed.notify()
        return call.future

    def load(self) -> Load:
        """What waits and runs, and how fast it drains."""
        with self._changed:
            now, live = time.monotonic(), self._turns.live()
            running = len(self._turns.running)
            return Load(
                requests=len(live),
                rows=running + sum(len(queue) for call in live for queue in call.waiting.values()),
                tokens=sum(call.tokens_left for call in live),
                tokens_per_s=self._rate.mean(now),
                pass_s=now - self._running_since if running else 0.0,
                restarts=self._model.restarts if isinstance(self._model, IsolatedModel) else 0,
            )

    def excess(self, tokens: int, due: float, share: float, others: Iterable[Errand] = ()) -> float:
        """See `Monitored`."""
        with self._changed:
            demands = [*self._turns.demands(), *((other.due, other.later) for other in others), (due, tokens)]
            return self._rate.excess(demands, time.monotonic(), share, due)

    def gauges(self) -> Gauges:
        """See `Monitored`."""
        return self._model.gauges() if isinstance(self._model, Gauged) else Gauges()

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
            refused = self._turns.clear()
            self._changed.notify()
        for call in refused:
            call.fail(_closed())
        self._worker.join()
        if not already:
            self._model.close()

    def _work(self) -> None:
        while (batch := self._next()) is not None:
            reads = [call.reads[index] for call, index in batch]
            start = self._running_since
            waits = [start - call.queued_at for call, _ in batch]
            fault: str | None = None
            wanted.set(partial(_awaited, batch))
            try:
                readings = self._model.forward(reads)
                if len(readings) != len(batch):
                    raise EngineError(f"The model returned {len(readings)} readings for {len(batch)} reads")
            except Exception as cause:  # whatever a runtime raises: it fails these requests, not the worker
                # the runtime's own words may hold parts of the evidence, so only its type is repeated
                error = cause if isinstance(cause, EngineError) else EngineError(f"A pass failed with {type(cause).__name__}")
                error.__cause__ = None if error is cause else cause
                # what was broken off because nobody waits is no fault
                fault, readings = type(cause).__name__ if _awaited(batch) else None, []
                for call, _ in batch:
                    call.fail(error)
            now = time.monotonic()
            tokens, seconds = sum(read.tokens for read in reads), now - start
            with self._changed:
                self._turns.ended()
                if readings and self._more_waits:
                    self._rate.add(tokens, seconds, now)
            # told before the futures are: who waits for an answer finds its pass counted
            reused = [reading.tokens_reused for reading in readings]
            hits = sum(tokens > 0 for tokens in reused)
            if readings or fault is not None:
                told = Pass(len(batch), tokens, seconds, tuple(waits), sum(reused), fault, hits)
                for observer in self._observers:
                    observer(told)
            for (call, index), reading, wait in zip(batch, readings, waits, strict=False):
                if np.isfinite(reading.scores).all():
                    call.finish(index, replace(reading, waited_s=wait))
                else:
                    call.fail(EngineError("The model's scores are not finite"))
            del batch, reads, readings
            if fault is not None and isinstance(self._model, IsolatedModel):
                self._model.recover()  # here, so that the time it takes is no reading time

    def _next(self) -> Batch | None:
        """The reads of the next pass; blocks while there are none; None when closed."""
        with self._changed:
            while not self._closed:
                self._running_since = time.monotonic()
                if batch := self._turns.next(self._rate, self._running_since):
                    self._more_waits = bool(self._turns)
                    return batch
                self._changed.wait()
            return None


def _awaited(batch: Batch) -> bool:
    """Whether any call of a pass still wants its readings."""
    return any(not call.future.done() for call, _ in batch)


def _closed() -> EngineError:
    return EngineError("The engine is closed")


def _failed(error: EngineError) -> Future[list[Reading]]:
    future: Future[list[Reading]] = Future()
    future.set_exception(error)
    return future
