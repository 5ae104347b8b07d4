"""In which orders the options of a question are read: the request's own first, then others chosen by the seed."""

from __future__ import annotations

import random
from math import factorial

Order = tuple[int, ...]


def distinct_orders(kind: str, options: int) -> int:
    """How many orders there are to choose from: two for levels and for yes and no, all permutations of a choice."""
    return factorial(options) if kind == "choice" and options < 20 else 2 if kind != "choice" else 2**63


def orders(kind: str, options: int, count: int, seed: int) -> tuple[Order, ...]:
    """At most `count` orders of 0..options-1, none twice; fewer where there are no more.

    Levels are read as they are and reversed. A choice is rotated, by a different step each time so that every option
    comes to stand at other places, and once all rotations are used, shuffled and rotated again.

    Args:
        kind: ``"noul"``, ``"choice"`` or ``"score"``.
        count: at least 1.
        seed: of the steps and shuffles; the first order does not depend on it.
    """
    own = tuple(range(options))
    if kind != "choice":
        return (own, own[::-1])[:count]
    chance = random.Random(seed)
    found: dict[Order, None] = {own: None}
    count = min(count, distinct_orders(kind, options))
    base = own
    while len(found) < count:
        steps = list(range(options))
        chance.shuffle(steps)
        for step in steps:
            if len(found) < count:
                found[base[step:] + base[:step]] = None
        base = tuple(chance.sample(own, options))
    return tuple(found)
