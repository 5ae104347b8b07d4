"""What an engine tells of its work: its backlog, how fast it drains, and every finished pass."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

MEMORY_S = 10.0
"""The drain rate forgets what is older than about this many seconds of reading."""

STALE_S = 30.0
"""A rate older than this is believed less and less: it counts double for every further `STALE_S`. What it would refuse might
be done by now, and as long as it is refused nothing corrects the rate."""


@dataclass(frozen=True, slots=True)
class Load:
    """An engine's work at one moment.

    Attributes:
        requests: calls that have reads waiting or running.
        rows: reads waiting or running.
        tokens: tokens of those reads, without padding.
        tokens_per_s: see `DrainRate`; None where it is not known.
        pass_s: age of the pass that runs, in seconds; 0 when idle.
        restarts: how often the model's process was started again.
    """

    requests: int
    rows: int
    tokens: int
    tokens_per_s: float | None
    pass_s: float
    restarts: int


@dataclass(frozen=True, slots=True)
class Pass:
    """One finished pass.

    Attributes:
        rows: reads that shared it.
        tokens: their tokens, without padding.
        seconds: how long it took.
        waits_s: how long each of the reads had waited.
        tokens_reused: prompt tokens whose keys and values came from a cache.
        fault: the type of what was raised; None for a pass that worked.
    """

    rows: int
    tokens: int
    seconds: float
    waits_s: tuple[float, ...]
    tokens_reused: int
    fault: str | None


@runtime_checkable
class Monitored(Protocol):
    """An engine whose load is known here; `Batcher` is one."""

    def load(self) -> Load: ...

    def seconds_for(self, tokens: int) -> float | None:
        """How long a call of so many tokens would take from now, its waiting included; None while that is not known."""
        ...

    def memory(self) -> int:
        """Resident bytes of the model's own process; 0 where it has none or they cannot be told."""
        ...

    def observe(self, observer: Callable[[Pass], None]) -> None:
        """Call the observer after every pass."""
        ...


class DrainRate:
    """Tokens read per second of reading while more waits: a mean that forgets passes over about `MEMORY_S` of reading.

    Only passes that left something waiting count. A pass that took all there was says little: small ones have mostly fixed
    costs, so their rate would make any large request look as if it could not be done in time.
    """

    def __init__(self) -> None:
        self._tokens = self._seconds = 0.0
        self._at = 0.0

    def add(self, tokens: int, seconds: float) -> None:
        """Count one pass."""
        kept = math.exp(-seconds / MEMORY_S)
        self._tokens = kept * self._tokens + tokens
        self._seconds = kept * self._seconds + max(seconds, 1e-6)
        self._at = time.monotonic()

    @property
    def value(self) -> float | None:
        """Tokens per second; None before the first pass that counts."""
        if not self._seconds:
            return None
        age = time.monotonic() - self._at
        doublings = min(50.0, max(0.0, age / STALE_S - 1))
        return float(self._tokens / self._seconds * 2.0**doublings)
