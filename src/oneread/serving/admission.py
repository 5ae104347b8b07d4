"""Who is let in: a bounded number of requests and tokens, and only work that can be done in time."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..engines.load import Load, Monitored
from ..engines.turns import Errand, errand
from .failures import Failure, Refused
from .limits import Limits

LONGEST_RETRY_S = 25.0
"""The official SDK gives up at once when it is told to wait 30 s or more."""

SHORTEST_RETRY_S = 0.1

SPREAD_S = 10.0
"""Callers who are refused are told to come back one after the other, as fast as the engine reads, over at most so long."""

WAITING = 0.3
"""Nobody is let in while what is due before takes more than this share of what is sure to be read until then. The engine may
become slower than it ever was, and a late answer helps nobody; a longer queue would keep the engine no busier."""

BELIEVED = 0.5
"""Nor when it would take more than this share together with the newcomer's own work: the difference is the room of large ones,
which small ones would else never leave them."""

FORGETTING = 0.02
"""By this share of the difference with each answer, the time that answers take after their last read comes down."""


class Admission:
    """One bounded queue by requests and by tokens. Bound to one event loop.

    A request is in the house from the arrival of its head until its reply is made. Before its first read it asks
    for admission: by then it is known how many tokens it may need, later stages and further draws included, and how many the
    engine is sure to read until then. It is let in when it and all that was let in before will be in time.

    Args:
        limits: its bounds.
        clock: monotonic seconds; the engine's and the deadlines'.
    """

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._clock = limits, clock
        self._engine: Monitored | None = None
        self._admitted: set[Errand] = set()
        self._returning = -math.inf
        self.inside = 0
        self.answer_s = 0.0

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
        if self._engine is not None:
            self._refuse_late(self._engine, 0, deadline - self.answer_s)
        if self.inside >= self._limits.requests:
            raise overloaded(f"This server answers {self._limits.requests} requests at a time", self._again(0, 0))
        self.inside += 1
        try:
            yield
        finally:
            self.inside -= 1

    @contextmanager
    def errand(self, deadline: float) -> Iterator[Errand]:
        """A request's work, due shortly before its deadline. Reads queued in this context belong to it; `admit` lets it in.

        When the block ends, nothing more is expected of it.
        """
        made = Errand(deadline - self.answer_s)
        token = errand.set(made)
        try:
            yield made
        finally:
            errand.reset(token)
            self._admitted.discard(made)

    def admit(self, work: Errand, tokens: int) -> None:
        """Let in an errand that may need so many tokens, or refuse it at once. `Errand.queued` tells what went to the engine.

        Raises:
            Refused: 529, the queue is full or too long for the deadline; 504, the work itself is too long for it.
        """
        engine = self._engine
        if engine is None:
            return
        load = engine.load()
        waiting = load.tokens + sum(other.later for other in self._admitted)
        if waiting and waiting + tokens > self._limits.queue_tokens:
            over = waiting + tokens - self._limits.queue_tokens
            raise overloaded("Too many tokens wait to be read", self._again(over, tokens))
        if load.tokens_per_s is not None:
            left, alone = max(0.0, work.due - self._clock()), tokens / load.tokens_per_s
            if alone > left or (not waiting and engine.excess(tokens, work.due, BELIEVED)):
                raise timed_out(f"Reading this takes {alone:.1f} s here, or twice as long", left)
        self._refuse_late(engine, tokens, work.due)
        work.later = tokens
        self._admitted.add(work)

    @contextmanager
    def admit_generation(self, deadline: float, prompt: int, most: int, passes: float = 1.0) -> Iterator[Errand]:
        """Let in the writing of a text, or refuse it at once as `admit` does; it counts as work until the block ends.

        What writes the text calls `Errand.queued` with the tokens of each pass that it has made.

        Args:
            prompt: tokens of the prompt, read once.
            most: the most tokens that may be written.
            passes: how often each of them goes through the model until it stands.
        """
        with self.errand(deadline) as work:
            self.admit(work, prompt + math.ceil(most * passes))
            yield work

    def answered(self, seconds: float) -> None:
        """An answer was there so long after its last read: work has to be read by so much before its deadline."""
        self.answer_s = max(seconds, self.answer_s + FORGETTING * (seconds - self.answer_s))

    def _refuse_late(self, engine: Monitored, tokens: int, due: float) -> None:
        excess = engine.excess(0, due, WAITING, self._admitted)
        if tokens:
            excess = max(excess, engine.excess(tokens, due, BELIEVED, self._admitted))
        if excess:
            raise overloaded("The queue is too long to answer in time", self._again(excess, tokens))

    def _again(self, excess: float, tokens: int) -> float:
        """In how many seconds a refused caller should come back: when so much more is read, and after those told before.

        Args:
            excess: tokens to be read first.
            tokens: that the caller asks for; 0 where that is not known, which is then what others ask for on average.
        """
        load, now = self.load(), self._clock()
        if load is None or not load.tokens_per_s or not load.requests:
            return 1.0
        turn = (tokens or load.tokens / load.requests) / load.tokens_per_s
        self._returning = min(max(self._returning, now) + turn, now + SPREAD_S)
        return excess / load.tokens_per_s + self._returning - now


def overloaded(message: str, wait_s: float) -> Refused:
    """529 with the time after which to try again; a little more for some, so that not all come back at once."""
    wait = min(LONGEST_RETRY_S, max(SHORTEST_RETRY_S, wait_s) * random.uniform(1.0, 1.3))
    headers = {"retry-after": str(math.ceil(wait)), "retry-after-ms": str(round(wait * 1000))}
    return Refused(Failure(529, "overloaded", f"{message}. Try again after the time in 'retry-after-ms'.", headers=headers))


def timed_out(message: str, seconds: float) -> Refused:
    """504: the deadline cannot be, or was not, met."""
    told = f"{message}; the deadline leaves {seconds:.1f} s. Ask for more with 'x-request-timeout-ms', or ask less at once."
    return Refused(Failure(504, "timeout", told))
