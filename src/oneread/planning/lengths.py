"""All that planning knows of tokens: how many there are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lengths:
    """Token counts of one question about one state.

    Attributes:
        window: the longest row the reader takes.
        frame: tokens that every row of the question repeats: instructions and separators.
        options: tokens of each allowed answer, its marker included.
        state: tokens of the whole state.
    """

    window: int
    frame: int
    options: tuple[int, ...]
    state: int
