"""Whether answers hang on the order in which options are listed, and on being read packed with other questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..questions import Choice, Question, Score
from .cases import Case, Row
from .metrics import Floats, quantiles
from .outcomes import Outcome

NOUL_ORDER = "not applicable: the API gives yes and no no order"
NOT_MEASURED = "not measured: no further order was asked for"
NO_CASES = "not measured: no case of this type was answered in another order"
NO_PACKED_MODE = "not available: packed mode cannot be asked for here"
NO_COMPANIONS = "not measured: there are too few different questions to pack"

COMPANIONS = 3
"""How many questions of other lines join a line's only question when packed reading is measured."""


@dataclass(frozen=True, slots=True)
class Shift:
    """How two sets of answers to the same cases differ.

    Attributes:
        cases: compared pairs.
        flips: share whose most probable answer differs.
        moved: median, 95th and 99th percentile, and the most, of the largest change of a probability.
    """

    cases: int
    flips: float
    moved: tuple[float, float, float, float]

    def to_json(self) -> dict[str, object]:
        names = ("moved_median", "moved_p95", "moved_p99", "moved_most")
        moved = {name: round(value, 6) for name, value in zip(names, self.moved, strict=True)}
        return {"cases": self.cases, "flips": round(self.flips, 6), **moved}


def other_order(rows: Sequence[Row], seed: int) -> list[Row]:
    """The rows' choices in another random order and scores with their levels reversed; nouls are left out.

    A reversed score asks something else (level 0 becomes the highest), so its flips are reported by themselves.
    """
    rng = np.random.default_rng(seed)
    found: list[Row] = []
    for row in rows:
        cases: list[Case] = []
        for case in row.cases:
            order = permutation(case.question, rng)
            if order is not None:
                cases.append(replace(case, question=reordered(case.question, order), gold=order.index(case.gold)))
        if cases:
            found.append(Row(row.source, row.state, tuple(cases)))
    return found


def packed_rows(rows: Sequence[Row], seed: int) -> list[Row]:
    """Rows whose questions are to be read together: a line's own, or its only one and `COMPANIONS` of other lines.

    Companions get ids that no line has, so that only a line's own questions are compared.
    """
    rng = np.random.default_rng(seed)
    others = list({case.question_digest: case for row in rows for case in row.cases}.values())
    found: list[Row] = []
    for row in rows:
        cases = list(row.cases)
        if len(cases) == 1:
            digest = cases[0].question_digest
            drawn = [others[i] for i in rng.permutation(len(others))[: COMPANIONS + 1].tolist()]
            drawn = [case for case in drawn if case.question_digest != digest][:COMPANIONS]
            cases += [replace(case, source=f"{row.source} beside", key=f" {i}", state=row.state) for i, case in enumerate(drawn)]
        if len(cases) > 1:
            found.append(Row(row.source, row.state, tuple(cases)))
    return found


def permutation(question: Question, rng: np.random.Generator) -> list[int] | None:
    """Another order of the answers: place i of it holds answer ``order[i]``; None where there is none to ask for."""
    match question:
        case Choice(options):
            order = list(range(len(options)))
            while order == sorted(order):
                rng.shuffle(order)
            return order
        case Score(levels):
            return list(range(len(levels)))[::-1]
        case _:
            return None


def reordered(question: Question, order: Sequence[int]) -> Question:
    """The question with its answers in this order."""
    match question:
        case Choice(options, instructions):
            items = list(options.items())
            return Choice(dict(items[i] for i in order), instructions)
        case Score(levels, instructions):
            return Score([levels[i] for i in order], instructions)
        case _:
            return question


def restored(outcome: Outcome, question: Question) -> Floats:
    """The probabilities of a reordered case in the order of the original question."""
    match outcome.case.question, question:
        case Choice(asked), Choice(options):
            by_name = dict(zip(asked, outcome.probabilities.tolist(), strict=True))
            return np.array([by_name[name] for name in options])
        case _:
            return outcome.probabilities[::-1]


def compare(pairs: Sequence[tuple[Floats, Floats]]) -> Shift | None:
    """How pairs of distributions over the same answers differ; None for no pairs."""
    if not pairs:
        return None
    flips = float(np.mean([int(np.argmax(a)) != int(np.argmax(b)) for a, b in pairs]))
    q50, q95, q99, most = quantiles([float(np.abs(a - b).max()) for a, b in pairs], 0.5, 0.95, 0.99, 1.0)
    return Shift(len(pairs), flips, (q50, q95, q99, most))


def order_pairs(first: Sequence[Outcome], other: Sequence[Outcome]) -> dict[str, list[tuple[Floats, Floats]]]:
    """Pairs (as asked first, in the other order) by type, matched by place in the file and question id."""
    by_place = {(o.case.source, o.case.key): o for o in first}
    pairs: dict[str, list[tuple[Floats, Floats]]] = {"choice": [], "score": []}
    for outcome in other:
        original = by_place.get((outcome.case.source, outcome.case.key))
        if original is not None:
            pairs[outcome.case.type].append((original.probabilities, restored(outcome, original.case.question)))
    return pairs
