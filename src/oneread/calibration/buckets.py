"""Buckets of option counts: questions with about as many options share a number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

EDGES = (2, 4, 8, 16, 32, 64, 255)
"""The largest option count of each bucket."""

T = TypeVar("T")


def edge_of(options: int) -> int:
    """The upper edge of the bucket that holds this option count (2 to 255)."""
    return next((edge for edge in EDGES if options <= edge), EDGES[-1])


def bucket_name(edge: int) -> str:
    """A bucket for a person: ``"2"``, ``"3-4"``, ... ``"65-255"``."""
    at = EDGES.index(edge)
    low = EDGES[at - 1] + 1 if at else EDGES[0]
    return str(edge) if low == edge else f"{low}-{edge}"


def grouped(items: Iterable[tuple[int, T]], at_least: int) -> list[tuple[int, list[T]]]:
    """Items by bucket, neighbours joined until each holds at least `at_least`.

    Args:
        items: (option count, item) pairs.

    Returns:
        (upper edge, items) in rising order; one group of all when there are too few items for one.
    """
    by_edge: dict[int, list[T]] = {}
    for options, item in items:
        by_edge.setdefault(edge_of(options), []).append(item)
    groups: list[tuple[int, list[T]]] = []
    waiting: list[T] = []
    for edge in sorted(by_edge):
        waiting = waiting + by_edge[edge]
        if len(waiting) >= at_least:
            groups.append((edge, waiting))
            waiting = []
    if waiting:
        last = max(by_edge)
        groups = [*groups[:-1], (last, groups[-1][1] + waiting)] if groups else [(last, waiting)]
    return groups


def lookup(buckets: Mapping[str, Sequence[tuple[int, T]]], type: str, options: int) -> T | None:
    """The value of the first bucket that holds this option count; None past the last one or for a type without any."""
    return next((value for edge, value in buckets.get(type, ()) if options <= edge), None)
