"""What an engine tells of its work: its backlog, how fast it drains, and every finished pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from .turns import Errand


@dataclass(frozen=True, slots=True)
class Load:
    """An engine's work at one moment.

    Attributes:
        requests: calls that have reads waiting or running.
        rows: reads waiting or running.
        tokens: tokens of those reads, without padding.
        tokens_per_s: see `DrainRate.mean`; None where it is not known.
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
class Gauges:
    """The memory of a model, in bytes, wherever it lives: a GPU's or the host's.

    Attributes:
        held: by weights, caches and what passes leave allocated.
        kv: of that, keys and values that later prompts may find again.
        kv_room: the most that `kv` may be.
    """

    held: int = 0
    kv: int = 0
    kv_room: int = 0


@runtime_checkable
class Gauged(Protocol):
    """A model that tells of its memory. Called from other threads than the one that drives it."""

    def gauges(self) -> Gauges: ...


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
        hits: reads that found some of their prompt in the cache.
    """

    rows: int
    tokens: int
    seconds: float
    waits_s: tuple[float, ...]
    tokens_reused: int
    fault: str | None
    hits: int = 0


@runtime_checkable
class Monitored(Protocol):
    """An engine whose load is known here; `Batcher` is one."""

    def load(self) -> Load: ...

    def excess(self, tokens: int, due: float, share: float, others: Iterable[Errand] = ()) -> float:
        """Tokens by which work would exceed what is sure to be read in time, if so many more were due then; 0 if all fits.

        Args:
            due: monotonic seconds.
            share: of what is sure, how much is counted on.
            others: errands whose later tokens are to be read too.
        """
        ...

    def gauges(self) -> Gauges:
        """The model's memory; zeros where it does not tell."""
        ...

    def memory(self) -> int:
        """Resident bytes of the model's own process; 0 where it has none or they cannot be told."""
        ...

    def observe(self, observer: Callable[[Pass], None]) -> None:
        """Call the observer after every pass."""
        ...
