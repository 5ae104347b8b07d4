"""Cutting a long state into overlapping windows, and many options into even groups."""

from __future__ import annotations

from itertools import pairwise

Span = tuple[int, int]


def windows(length: int, room: int, overlap: int) -> tuple[Span, ...]:
    """The fewest spans of at most `room` tokens that cover 0..length, neighbours sharing at least `overlap` tokens.

    All spans have the same size and are spread evenly. A state that fits is one span, an empty one too. `room` must
    exceed `overlap`.
    """
    if length <= room:
        return ((0, length),)
    count = -(-(length - overlap) // (room - overlap))
    size = -(-(length + (count - 1) * overlap) // count)
    starts = (i * (length - size) // (count - 1) for i in range(count))
    return tuple((start, start + size) for start in starts)


def groups(length: int, count: int) -> tuple[Span, ...]:
    """Cut 0..length into `count` consecutive spans, as even as can be."""
    return tuple(pairwise(i * length // count for i in range(count + 1)))
