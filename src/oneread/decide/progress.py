"""What has been read of one stage: raw scores by row, and the distributions they add up to."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence

import numpy as np

from ..calibration.temperature import softmax
from ..controls import Controls
from ..engines.base import Reading
from ..planning import Group, Order, Row, StagePlan, orders
from ..planning.orders import distinct_orders
from ..planning.plan import first_round
from ..questions import Question, option_count, question_type
from .merging import Draws, Scores, combine_windows, entropy, second_round

MANY_OPTIONS = 20
"""From so many options on, ``rotations: "auto"`` reads other orders whatever the first reading says."""


class StageProgress:
    """The rows of one stage as they come in. `planning.next_rows` asks it what is known.

    Args:
        questions: of the stage.
        plan: how they are read.
        controls: draws, orders and seed.
        ordered: whether the order of options can change a score on this reader.
        noise: whether its slots hold noise, so that a draw in the same order is another reading.
        temperature: of a question.
    """

    def __init__(
        self,
        questions: Mapping[str, Question],
        plan: StagePlan,
        controls: Controls,
        ordered: bool,
        noise: bool,
        temperature: Callable[[Question], float],
    ) -> None:
        self._questions = questions
        self._plan = plan
        self._controls = controls
        self._ordered, self._noise = ordered, noise
        self._groups = {key: group for group in plan.groups for key in group.questions}
        self._scores: dict[Row, tuple[Scores, ...]] = {}
        self._mass: dict[Row, tuple[float, ...]] = {}
        self._orders: dict[str, tuple[Order, ...]] = {}
        self._distributions: dict[tuple[str, int], Scores] = {}
        self._temperatures = {key: temperature(question) for key, question in questions.items()}

    @property
    def done(self) -> Container[Row]:
        return self._scores

    def record(self, row: Row, reading: Reading) -> None:
        """Take in one row's reading."""
        counts = [len(part.options) for part in row.parts]
        scores = np.split(np.asarray(reading.scores, np.float64), np.cumsum(counts)[:-1])
        self._scores[row] = tuple(scores)
        if reading.log_sum_exp is not None:
            logs = np.asarray(reading.log_sum_exp, np.float64)
            self._mass[row] = tuple(float(np.exp(s - log).sum()) for s, log in zip(scores, logs, strict=True))

    def draws(self, key: str) -> int:
        """See `planning.Progress`."""
        samples, rotations = (self._count(key, name) for name in ("samples", "rotations"))
        if self._noise:
            return samples * min(rotations, self._distinct(key))
        return min(max(samples, rotations), self._distinct(key))

    def order(self, key: str, draw: int) -> Order:
        """See `planning.Progress`. With noise, all samples of one order come before the next order."""
        if draw == 0:
            return tuple(range(self._plan.options[key]))
        if key not in self._orders:
            kind, options = question_type(self._questions[key]), self._plan.options[key]
            self._orders[key] = orders(kind, options, self._distinct(key), self._controls.seed)
        found = self._orders[key]
        return found[(draw // self._count(key, "samples") if self._noise else draw) % len(found)]

    def best(self, key: str, draw: int, rows: Sequence[Row], count: int) -> Order:
        """See `planning.Progress`. The finalists keep the order in which their options are read in this draw."""
        merged = self._joined(key, rows)
        chosen = set(np.argsort(-merged, kind="stable")[:count].tolist())
        return tuple(option for option in self.order(key, draw) if option in chosen)

    def result(self, key: str) -> Draws:
        """The distributions of all draws of a question whose rows are read."""
        return Draws(np.stack([self._distribution(key, draw) for draw in range(self.draws(key))]))

    def label_mass(self, key: str) -> float | None:
        """The mean label mass over all rows of a question; None where the reader has no labels."""
        masses = [
            self._mass[row][place]
            for row in self._mass
            for place, part in enumerate(row.parts)
            if part.question == key and not row.final
        ]
        return float(np.mean(masses)) if masses else None

    def extended(self, key: str) -> bool:
        """Whether an uncertain first draw called for more."""
        automatic = "auto" in (self._controls.samples, self._controls.rotations)
        return automatic and self.draws(key) > 1 and self._uncertain(key)

    def orders_read(self, key: str) -> int:
        """In how many orders the options were read."""
        return len({self.order(key, draw) for draw in range(self.draws(key))})

    def orders_agree(self, key: str) -> bool | None:
        """Whether every order has the top answer of all draws together; None for a single order."""
        found: dict[Order, list[Scores]] = {}
        for draw in range(self.draws(key)):
            found.setdefault(self.order(key, draw), []).append(self._distribution(key, draw))
        if len(found) == 1:
            return None
        top = self.result(key).mean.argmax()
        return all(np.mean(draws, axis=0).argmax() == top for draws in found.values())

    def group(self, key: str) -> Group:
        """The questions that shared rows with this one, and how the rows were cut."""
        return self._groups[key]

    def temperature(self, key: str) -> float:
        """The temperature applied to a question."""
        return self._temperatures[key]

    def _count(self, key: str, control: str) -> int:
        wanted = getattr(self._controls, control)
        if wanted != "auto":
            return int(wanted)
        many = control == "rotations" and self._plan.options[key] >= MANY_OPTIONS
        return self._controls.auto_max if many or self._uncertain(key) else 1

    def _distinct(self, key: str) -> int:
        if not self._ordered:
            return 1
        kind = question_type(self._questions[key])
        return min(distinct_orders(kind, self._plan.options[key]), 32)

    def _uncertain(self, key: str) -> bool:
        first = first_round(self._groups[key], 0, self._plan, self.order)
        if not all(row in self._scores for row in first):
            return False
        first_draw = self._distribution(key, 0)
        return (key, 0) in self._distributions and entropy(first_draw) > self._controls.auto_threshold

    def _distribution(self, key: str, draw: int) -> Scores:
        known = self._distributions.get((key, draw))
        if known is not None:
            return known
        group = self._groups[key]
        first = first_round(group, draw, self._plan, self.order)
        merged = self._joined(key, first)
        finals = [row for row in self._scores if row.final and row.draw == draw and row.parts[0].question == key]
        if finals:
            chosen = finals[0].parts[0].options
            merged = second_round(merged, chosen, combine_windows([self._scores[row][0] for row in finals]))
        distribution = softmax(merged, self._temperatures[key])
        if finals or not (self._plan.second_round and len(group.splits) > 1):
            self._distributions[key, draw] = distribution
        return distribution

    def _joined(self, key: str, rows: Sequence[Row]) -> Scores:
        """One raw score for each option, in the request's order, from first-round rows that hold each option once a window."""
        windows: dict[tuple[int, int], Scores] = {}
        for row in rows:
            place = next(i for i, part in enumerate(row.parts) if part.question == key)
            window = windows.setdefault(row.window, np.full(option_count(self._questions[key]), np.nan))
            window[list(row.parts[place].options)] = self._scores[row][place]
        return combine_windows(list(windows.values()))
