"""How fast an engine reads: on the whole, and at the least that it can be trusted with."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Demand = tuple[float, int]
"""When work is due, in monotonic seconds, and how many tokens of it are to be read. It is due at infinity where nobody waits for
it, at minus infinity where it comes before all else."""

MEMORY_S = 10.0
"""The mean rate forgets what is older than about this many seconds of reading."""

STALE_S = 30.0
"""A rate older than this is believed less and less: it counts double for every further `STALE_S`. What it would refuse might
be done by now, and as long as it is refused nothing corrects the rate."""

STRETCH_S = 0.5
STRETCHES = 240
"""The last two minutes of reading are remembered as stretches of half a second each."""

LOW = 0.05
"""What is sure to be read in some seconds is what was read in all but this share of all stretches of as many seconds."""


class DrainRate:
    """Tokens read per second of reading while more waits. Takes the time from its caller.

    Only passes that left something waiting count. A pass that took all there was says little: small ones have mostly fixed
    costs, so their rate would make any large request look as if it could not be done in time.

    Two numbers come of it. `mean` forgets passes over about `MEMORY_S` of reading. `sure` is a low quantile over all stretches
    of a length within the last minutes (the minimal service curve of network calculus, measured): when the rate swings,
    little is sure within a second and nearly the mean within ten, if the swing is faster than that.
    """

    def __init__(self) -> None:
        self._tokens = self._seconds = 0.0
        self._at = -math.inf
        self._stretches: deque[float] = deque(maxlen=STRETCHES)
        self._open = (0.0, 0.0)
        self._slow: NDArray[np.float64] = np.zeros(0)

    def add(self, tokens: float, seconds: float, now: float) -> None:
        """Count one pass that ended now."""
        seconds = max(seconds, 1e-6)
        kept = math.exp(-seconds / MEMORY_S)
        self._tokens = kept * self._tokens + tokens
        self._seconds = kept * self._seconds + seconds
        self._at = now
        read, spent = self._open
        ends = spent + seconds >= STRETCH_S
        while spent + seconds >= STRETCH_S:  # a long pass is spread over its stretches
            part = (STRETCH_S - spent) / seconds * tokens
            self._stretches.append(read + part)
            tokens, seconds = tokens - part, seconds - (STRETCH_S - spent)
            read = spent = 0.0
        self._open = read + tokens, spent + seconds
        if ends:
            self._slow = _slow(self._stretches)

    def mean(self, now: float) -> float | None:
        """Tokens per second; None before the first pass that counts."""
        return float(self._tokens / self._seconds * self._disbelief(now)) if self._seconds else None

    def sure(self, seconds: NDArray[np.float64], now: float) -> NDArray[np.float64]:
        """Tokens that are sure to be read within so many seconds of reading; infinite before the first pass that counts."""
        mean = self.mean(now)
        if mean is None:
            return np.full(seconds.shape, np.inf)
        within = np.maximum(seconds, 0.0)
        if not len(self._slow):
            return within * mean
        lengths = np.clip(np.ceil(np.minimum(within, 1e6) / STRETCH_S).astype(int), 1, len(self._slow)) - 1
        tokens: NDArray[np.float64] = within * np.minimum(self._slow[lengths] * self._disbelief(now), mean)
        return tokens

    def excess(self, demands: Iterable[Demand], now: float, share: float, due_from: float = -math.inf) -> float:
        """Tokens by which work exceeds what will be read by when it is due, at the worst of all moments; 0 where all fits.

        Earliest due, first read: then all of it is in time if by every moment no more is due than can be read (Liu and
        Layland 1973).

        Args:
            share: of what is sure, how much is counted on.
            due_from: only moments from this one on are looked at.
        """
        ordered = sorted(demand for demand in demands if demand[0] < math.inf)
        if not ordered:
            return 0.0
        due = np.array([at for at, _ in ordered])
        wanted = np.cumsum([tokens for _, tokens in ordered])
        over = (wanted - share * self.sure(due - now, now))[due >= due_from]
        return max(0.0, float(over.max())) if len(over) else 0.0

    def _disbelief(self, now: float) -> float:
        return float(2.0 ** min(50.0, max(0.0, (now - self._at) / STALE_S - 1)))


def _slow(stretches: Iterable[float]) -> NDArray[np.float64]:
    """Of 1, 2, 3 ... stretches in a row: the tokens per second that all but the slowest `LOW` of them reach."""
    ends = np.concatenate([[0.0], np.cumsum(list(stretches))])
    rates = []
    for k in range(1, len(ends)):
        spans = ends[k:] - ends[:-k]
        place = int(LOW * (len(spans) - 1))
        rates.append(np.partition(spans, place)[place] / (k * STRETCH_S))
    return np.array(rates)
