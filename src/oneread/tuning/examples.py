"""Labelled cases as the reads that a decider would make of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..canvas.markers import MarkerCanvas
from ..engines.base import Read
from ..evaluate.cases import Case
from ..evaluate.orders import permutation, reordered
from ..planning import first_draw, plan_stage
from ..questions import Score


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """One way to read a case: the rows of one window of its state.

    Attributes:
        reads: rows that together hold every option once.
        options: for each read, the index of each slot's answer.
        gold: index of the right answer.
        count: how many answers there are.
        case: index of the case it was made of.
    """

    reads: tuple[Read, ...]
    options: tuple[tuple[int, ...], ...]
    gold: int
    count: int
    case: int

    @property
    def tokens(self) -> int:
        return sum(read.tokens for read in self.reads)


def examples(canvas: MarkerCanvas, cases: Sequence[Case], rng: np.random.Generator | None = None) -> list[Example]:
    """One example for each case.

    Args:
        rng: when given, choices are asked in a random order and a long state is read in one of its windows; else the case
            is read as asked, in its first window.

    Raises:
        InvalidRequest: a question does not fit the reader.
    """
    found = []
    for place, case in enumerate(cases):
        question, gold = case.question, case.gold
        if rng is not None and not isinstance(question, Score):
            order = permutation(question, rng)
            if order is not None:
                question, gold = reordered(question, order), order.index(gold)
        compiled, state = canvas.compile(question), canvas.encode_state(case.state)
        plan = plan_stage({"q": canvas.lengths(compiled)}, canvas.row_form, len(state))
        rows = first_draw(plan)
        windows = list(dict.fromkeys(row.window for row in rows))
        window = windows[0 if rng is None else int(rng.integers(len(windows)))]
        rows = tuple(row for row in rows if row.window == window)
        reads = tuple(canvas.row([(compiled, row.parts[0].options)], state[slice(*window)]) for row in rows)
        found.append(
            Example(
                reads, tuple(row.parts[0].options for row in rows), gold, sum(len(row.parts[0].options) for row in rows), place
            )
        )
    return found
