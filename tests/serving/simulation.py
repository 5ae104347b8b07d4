"""A served engine in simulated time: the real admission, turns and drain rate around a reader whose speed is a function."""

from __future__ import annotations

import contextvars
import heapq
import itertools
import random
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import numpy as np

from oneread.engines.base import Read, Reading, Slot
from oneread.engines.drain import DrainRate
from oneread.engines.load import Load
from oneread.engines.turns import Call, Errand, Turns
from oneread.serving.admission import Admission
from oneread.serving.failures import Refused
from oneread.serving.limits import Limits

from .fakes import Untold

Shape = tuple[float, list[list[int]]]
"""Of a request: seconds to its deadline, and for each of its rounds the lengths of its reads."""


def row(tokens: int) -> Read:
    return Read(np.zeros(tokens, np.int32), (Slot(0),))


class Engine(Untold):
    """Monitored, as the batcher is, at the simulation's time."""

    def __init__(self, clock: Callable[[], float], budget: int) -> None:
        self.clock, self.turns, self.rate = clock, Turns(budget), DrainRate()

    def load(self) -> Load:
        live = self.turns.live()
        tokens = sum(call.tokens_left for call in live)
        return Load(len(live), len(live), tokens, self.rate.mean(self.clock()), 0.0, 0)

    def excess(self, tokens: int, due: float, share: float, others: Iterable[Errand] = ()) -> float:
        demands = [*self.turns.demands(), *((other.due, other.later) for other in others), (due, tokens)]
        return self.rate.excess(demands, self.clock(), share, due)


@dataclass
class Outcome:
    """What became of all requests.

    Attributes:
        late_at: when those came that were admitted and not answered in time.
        tokens: of answered requests.
        possible: tokens that the engine could have read from the end of warming up.
        waits: seconds that the answered ones took, by their number of reads.
    """

    answered: int = 0
    refused: int = 0
    tokens: int = 0
    possible: float = 0.0
    late_at: list[float] = field(default_factory=list)
    waits: dict[int, list[float]] = field(default_factory=dict)


class Simulation:
    """Clients that ask again once answered, and a refused one when it was told to; nothing is random but by the seed.

    Args:
        speed: tokens per second at a time.
        shape: draws a request.
        clients: how many.
    """

    def __init__(self, speed: Callable[[float], float], shape: Callable[[random.Random], Shape], clients: int) -> None:
        self.speed, self.shape, self.clients = speed, shape, clients
        self.now = 0.0
        self.engine = Engine(lambda: self.now, 512)
        self.admission = Admission(Limits(), lambda: self.now)
        self.admission.serve(self.engine)
        self.outcome = Outcome()
        self._dice = random.Random(11)
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number = itertools.count()
        self._busy = False
        self._open: set[AbstractContextManager[Errand]] = set()

    def run(self, seconds: float) -> Outcome:
        return contextvars.copy_context().run(self._run, seconds)

    def _run(self, seconds: float) -> Outcome:
        random.seed(5)  # of the jitter in retry-after
        for _ in range(20):  # as `service.warm_up` does
            self.engine.rate.add(500, 500 / self.speed(0.0), 0.0)
        for client in range(self.clients):
            self._at(client * 0.003, self._ask)
        while self._events and self._events[0][0] <= seconds:
            self.now, _, act = heapq.heappop(self._events)
            act()
        for scope in self._open:
            scope.__exit__(None, None, None)
        self.outcome.possible = sum(self.speed(t / 100) for t in range(int(seconds * 100))) / 100
        return self.outcome

    def _at(self, when: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._events, (when, next(self._number), act))

    def _ask(self) -> None:
        timeout, rounds = self.shape(self._dice)
        deadline = self.now + timeout
        started, total = self.now, sum(map(sum, rounds))
        try:
            with self.admission.place(deadline):
                pass
            scope = self.admission.errand(deadline)
            errand = scope.__enter__()
            self.admission.admit(errand, total)
        except Refused as refused:
            self.outcome.refused += 1
            self._at(self.now + int(refused.failure.headers.get("retry-after-ms", 500)) / 1000, self._ask)
            return
        self._open.add(scope)

        def end(late: bool) -> None:
            if scope in self._open:
                self._open.remove(scope)
                scope.__exit__(None, None, None)
                if late:
                    self.outcome.late_at.append(started)
                if not late:
                    self.outcome.answered += 1
                    self.outcome.tokens += total
                    self.outcome.waits.setdefault(sum(map(len, rounds)), []).append(self.now - started)
                self._at(self.now + 0.001, self._ask)

        def send(number: int) -> None:
            if number == len(rounds):
                end(late=False)
                return
            reads = [row(n) for n in rounds[number]]
            errand.queued(sum(rounds[number]))
            call = Call(reads, [-(-n // 32) * 32 for n in rounds[number]], self.now, errand)
            call.future.add_done_callback(lambda f: None if f.cancelled() else send(number + 1))
            self._at(deadline, lambda: (call.future.cancel(), end(late=True))[1])
            self.engine.turns.add(call)
            self._work()

        send(0)

    def _work(self) -> None:
        if self._busy:
            return
        batch = list(self.engine.turns.next(self.engine.rate, self.now))
        if not batch:
            return
        self._busy = True
        more = bool(self.engine.turns)
        tokens = sum(call.reads[index].tokens for call, index in batch)
        seconds, left = 0.0, float(tokens)
        while left > 1e-6:
            step = min(0.01, left / self.speed(self.now + seconds))
            left -= step * self.speed(self.now + seconds)
            seconds += step

        def done() -> None:
            self._busy = False
            self.engine.turns.ended()
            if more:
                self.engine.rate.add(tokens, seconds, self.now)
            for call, index in batch:
                call.finish(index, Reading(np.zeros(1, np.float32)))
            self._work()

        self._at(self.now + seconds, done)
