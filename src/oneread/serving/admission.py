"""Who is let in: a bounded number of requests and tokens, and only work that can be done in time."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..engines.load import Load, Monitored
from .failures import Failure, Refused
from .limits import Limits

LONGEST_RETRY_S = 25.0
"""The official SDK gives up at once when it is told to wait 30 s or more."""

SHORTEST_RETRY_S = 0.1

BELIEVED = 0.6
"""Work is let in when its estimate takes at most this share of the time left: rates vary, and a late answer helps nobody."""


class Admission:
    """One bounded queue by requests and by tokens. Bound to one event loop.

    A request is in the house from the arrival of its head until its reply is made. Before its first read it asks
    for admission: by then its rows and tokens are known, and the engine's measured drain rate says when they would be read.

    Args:
        limits: its bounds.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._engine: Monitored | None = None
        self.inside = 0

    def serve(self, engine: object) -> None:
        """From now on this engine's load counts; one that tells none is bounded by requests only."""
        self._engine = engine if isinstance(engine, Monitored) else None

    @property
    def full(self) -> bool:
        """Whether the next request would find no place."""
        load = self.load()
        return self.inside >= self._limits.requests or (load is not None and load.tokens >= self._limits.queue_tokens)

    def load(self) -> Load | None:
        """The engine's; None where it tells none."""
        return None if self._engine is None else self._engine.load()

    @contextmanager
    def place(self, deadline: float) -> Iterator[None]:
        """A place in the house, given back when the block ends.

        Raises:
            Refused: 529, all are taken, or so much waits that nothing could be read before the deadline (monotonic seconds):
                then the body need not even be looked at.
        """
        needed = None if self._engine is None else self._engine.seconds_for(0)
        left = deadline - time.monotonic()
        if needed is not None and needed > BELIEVED * left:
            raise overloaded("The queue is too long to answer in time", needed - BELIEVED * left)
        if self.inside >= self._limits.requests:
            raise overloaded(f"This server answers {self._limits.requests} requests at a time", self._soon())
        self.inside += 1
        try:
            yield
        finally:
            self.inside -= 1

    def admit(self, tokens: int, deadline: float) -> None:
        """Let in work of so many tokens that is to be done by a deadline (monotonic seconds), or refuse it at once.

        Raises:
            Refused: 529, the queue is full or too long for the deadline; 504, the work itself is too long for it.
        """
        if self._engine is None:
            return
        load = self._engine.load()
        left = deadline - time.monotonic()
        if load.tokens and load.tokens + tokens > self._limits.queue_tokens:
            over = load.tokens + tokens - self._limits.queue_tokens
            raise overloaded("Too many tokens wait to be read", over / (load.tokens_per_s or math.inf))
        if load.tokens_per_s is not None and tokens / load.tokens_per_s > left:
            raise timed_out(f"Reading this takes about {tokens / load.tokens_per_s:.1f} s here", max(left, 0.0))
        needed = self._engine.seconds_for(tokens)
        if needed is not None and needed > BELIEVED * left:
            raise overloaded("The queue is too long to answer in time", needed - BELIEVED * left)

    def _soon(self) -> float:
        """When a place may be free: the time one of the requests inside takes at the present rate."""
        load = self.load()
        if load is None or not load.tokens_per_s or not load.requests:
            return 1.0
        return load.tokens / load.requests / load.tokens_per_s


def overloaded(message: str, wait_s: float) -> Refused:
    """529 with the time after which to try again; a little more for some, so that not all come back at once."""
    wait = min(LONGEST_RETRY_S, max(SHORTEST_RETRY_S, wait_s) * random.uniform(1.0, 1.3))
    headers = {"retry-after": str(math.ceil(wait)), "retry-after-ms": str(round(wait * 1000))}
    return Refused(Failure(529, "overloaded", f"{message}. Try again after the time in 'retry-after-ms'.", headers=headers))


def timed_out(message: str, seconds: float) -> Refused:
    """504: the deadline cannot be, or was not, met."""
    told = f"{message}; the deadline leaves {seconds:.1f} s. Ask for more with 'x-request-timeout-ms', or ask less at once."
    return Refused(Failure(504, "timeout", told))
