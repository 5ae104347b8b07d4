"""Whose reads are in the next pass: calls take turns, until work that is due would be late by that."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass

from ..errors import EngineError
from .base import Read, Reading, new_tokens
from .drain import Demand, DrainRate

COUNTED_ON = 0.7
"""Turns end, and what is due first is read first, once what is due takes more than this share of what is sure to be read.
More than what is admitted (`serving.admission.BELIEVED`): between the two, turns are taken."""


@dataclass(slots=True, eq=False)
class Errand:
    """What the reads of several calls are part of, told to the engine by the context in which they are queued.

    Attributes:
        due: monotonic seconds by when all is to be read; infinite where nobody waits.
        later: tokens that may still have to be read beside those queued: later stages, further draws.
    """

    due: float = math.inf
    later: int = 0

    def queued(self, tokens: int) -> None:
        """Some of what was to come is now with the engine."""
        self.later = max(0, self.later - tokens)


errand: ContextVar[Errand | None] = ContextVar("errand", default=None)
"""Of the reads that are queued in this context."""


class Call:
    """The reads of one call that wait, by bucket, and what has been read of them so far."""

    def __init__(self, reads: Sequence[Read], buckets: Sequence[int], now: float, errand: Errand | None = None) -> None:
        self.future: Future[list[Reading]] = Future()
        self.queued_at = now
        self.errand = errand or Errand()
        self.reads = reads
        self.tokens_left = sum(read.tokens for read in reads)
        self.turn_tokens = 0
        self.waiting: dict[int, deque[int]] = {}
        for index, bucket in enumerate(buckets):
            self.waiting.setdefault(bucket, deque()).append(index)
        self._readings: list[Reading | None] = [None] * len(reads)
        self._left = len(reads)

    @property
    def bucket(self) -> int:
        """The bucket of the read that has waited longest."""
        return min(self.waiting, key=lambda bucket: self.waiting[bucket][0])

    @property
    def demand(self) -> Demand:
        """What the errand still wants, as far as it is known here."""
        return self.errand.due, self.tokens_left + self.errand.later

    def cost(self, bucket: int, batch: Batch) -> int:
        """Padded tokens that the next read of a bucket takes up in a pass after a batch. In bucket 0 reads are not padded, and
        what its prompt shares with the last read's is computed once."""
        if bucket:
            return bucket
        last = batch[-1] if batch else None
        return new_tokens(self.reads[self.waiting[bucket][0]], None if last is None else last[0].reads[last[1]])

    def take(self, bucket: int) -> int:
        """The index of the next read of a bucket, which no longer waits."""
        queue = self.waiting[bucket]
        index = queue.popleft()
        if not queue:
            del self.waiting[bucket]
        return index

    def finish(self, index: int, reading: Reading) -> None:
        """Note a reading; the last one fulfils the future."""
        self._readings[index] = reading
        self._left -= 1
        if self._left == 0 and self.future.set_running_or_notify_cancel():
            self.future.set_result([r for r in self._readings if r is not None])

    def fail(self, error: EngineError) -> None:
        """End the call with an error, unless it has ended."""
        if not self.future.done() and self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)


Batch = list[tuple[Call, int]]
"""The reads of a pass: each with its call and its index there."""


class Turns:
    """The calls that wait and the pass that runs. Not safe to use from several threads at a time; knows no clock.

    The call whose turn it is gives the next pass its oldest read and others of that bucket, up to half a pass, then the next
    call gives of that bucket, while the padded tokens stay within the budget. Who has given half a pass goes to the end. So
    small calls are served in order of arrival, and one of a thousand reads delays another by about half a pass.

    Turns are fair between calls, not between deadlines. Therefore, while what is due takes up nearly all that is sure to be
    read by then, the call that is due first gives first, as much as it has.

    Args:
        budget: the most padded tokens of a pass.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._calls: deque[Call] = deque()
        self.running: Batch = []

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, call: Call) -> None:
        """Let a call wait."""
        self._calls.append(call)

    def clear(self) -> list[Call]:
        """The calls that waited and no longer do."""
        calls = list(self._calls)
        self._calls.clear()
        return calls

    def live(self) -> list[Call]:
        """Calls with reads waiting or running that are still wanted."""
        calls = dict.fromkeys((*self._calls, *(call for call, _ in self.running)))
        return [call for call in calls if not call.future.done()]

    def next(self, rate: DrainRate, now: float) -> Batch:
        """The reads of the next pass, which are then `running`; none where none wait."""
        # cancelled futures, and those that failed in an earlier pass, want nothing more
        self._calls = deque(call for call in self._calls if not call.future.done())
        self.running = []
        if self._calls:
            # a pass spent on others, and the rest of the one that ends the call, come before it too
            demands = [(-math.inf, 2 * self._budget), *(call.demand for call in self._calls)]
            pressed = rate.excess(demands, now, COUNTED_ON, now) > 0
            self.running = self._first_due() if pressed else self._in_turn()
            self._calls = deque(call for call in self._calls if call.waiting)
        return self.running

    def demands(self) -> list[Demand]:
        """What the calls want; a call ends with its pass, so up to a whole one of what waits comes before anything."""
        found = [(call.errand.due, call.tokens_left) for call in self.live()]
        return [(-math.inf, min(self._budget, sum(tokens for _, tokens in found))), *found]

    def ended(self) -> None:
        """The pass that ran is over, well or not."""
        for call, index in self.running:
            call.tokens_left -= call.reads[index].tokens
        self.running = []

    def _in_turn(self) -> Batch:
        bucket = self._calls[0].bucket
        room = self._budget
        quantum = max(bucket, room // bucket // 2 * bucket) if bucket else room // 2
        batch: Batch = []
        giving = deque(call for call in self._calls if bucket in call.waiting)
        while giving:
            call = giving.popleft()
            while bucket in call.waiting and call.turn_tokens < quantum and (not batch or call.cost(bucket, batch) <= room):
                cost = call.cost(bucket, batch)
                batch.append((call, call.take(bucket)))
                room -= cost
                call.turn_tokens += cost
            if call.turn_tokens >= quantum:
                call.turn_tokens = 0
                self._calls.remove(call)
                self._calls.append(call)
                if bucket in call.waiting and room > 0:
                    giving.append(call)
            elif bucket in call.waiting:
                break  # the pass is full
        return batch

    def _first_due(self) -> Batch:
        ordered = sorted(self._calls, key=lambda call: call.errand.due)  # stable: equally due, in turn
        bucket, room = ordered[0].bucket, self._budget
        batch: Batch = []
        for call in ordered:
            while bucket in call.waiting and (not batch or call.cost(bucket, batch) <= room):
                room -= call.cost(bucket, batch)
                batch.append((call, call.take(bucket)))
        return batch
