"""The rows of a pass while they are laid out: a few numbers for many rows, which become arrays all at once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..base import PAGE

Ints = NDArray[np.int32]


class Rows:
    """Rows, as stretches of consecutive positions, and as strips of consecutive rows of the store.

    Attributes:
        count: rows so far.
    """

    def __init__(self) -> None:
        self.count = 0
        self._counts: list[int] = []
        self._firsts: list[int] = []
        self._nodes: list[int] = []
        self._canvas: list[bool] = []
        self._lengths: list[int] = []
        self._places: list[int] = []

    def stretch(self, count: int, first: int, node: int, canvas: bool = False) -> None:
        """So many more rows, of one node and from position `first` on."""
        self.count += count
        self._counts.append(count)
        self._firsts.append(first)
        self._nodes.append(node)
        self._canvas.append(canvas)

    def strips(self, lengths: Iterable[int], places: Iterable[int]) -> None:
        """Where the store has them: a page's slot, or ``~row`` of the first of so many scratch rows."""
        self._lengths += lengths
        self._places += places

    def columns(self, then: Rows, scratch: int) -> tuple[Ints, Ints, Ints, Ints, NDArray[np.bool_]]:
        """Of each row here, and after them of each row of `then`, int32 and bool (rows,): its position, its node, its row in a
        store with so many scratch rows, the position that its stretch begins with, and whether it is a canvas row."""
        counts = np.array(self._counts + then._counts, np.int32)
        firsts = np.array(self._firsts + then._firsts, np.int32).repeat(counts)
        nodes = np.array(self._nodes + then._nodes, np.int32).repeat(counts)
        canvas = np.array(self._canvas + then._canvas, np.bool_).repeat(counts)
        lengths, places = np.array(self._lengths + then._lengths, np.int32), np.array(self._places + then._places, np.int32)
        begins = np.where(places < 0, ~places, places * PAGE + scratch).repeat(lengths)
        return _count(firsts, counts), nodes, _count(begins, lengths), firsts, canvas


def _count(firsts: Ints, counts: Ints) -> Ints:
    """Add 0, 1, 2... within each stretch to its first number, which `firsts` holds for each of its rows."""
    begins = counts.cumsum(dtype=np.int32) - counts
    return firsts + (np.arange(len(firsts), dtype=np.int32) - begins.repeat(counts))
