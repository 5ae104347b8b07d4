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

    def excess(self, tokens: int, due: float, share: float, others: Iterable[Errand] = ()) -> float:
        """Tokens by which work would exceed what is sure to be read in time, if so many more were due then; 0 if all fits.

        Args:
            due: monotonic seconds.
            share: of what is sure, how much is counted on.
            others: errands whose later tokens are to be read too.
        """
        ...

    def memory(self) -> int:
        """Resident bytes of the model's own process; 0 where it has none or they cannot be told."""
        ...

    def observe(self, observer: Callable[[Pass], None]) -> None:
        """Call the observer after every pass."""
        ...
