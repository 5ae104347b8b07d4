"""Cases with the probabilities they got, as columns, and what is measured over any part of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..calibration.buckets import bucket_name, edge_of
from . import metrics
from .cases import Case, labels
from .metrics import Bools, Floats, Ints

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """A case, and the probabilities of its allowed answers in the question's order (sum 1)."""

    case: Case
    probabilities: Floats


@dataclass(frozen=True, slots=True)
class Summary:
    """Metrics of a group of cases.

    Attributes:
        cases: how many.
        values: by metric's name; a metric that does not apply is not there.
        intervals: 95 % bootstrap intervals, states drawn whole; empty when none were asked for.
    """

    cases: int
    values: Mapping[str, float]
    intervals: Mapping[str, Interval]

    def to_json(self) -> dict[str, object]:
        """``{"cases": n, metric: {"value", "low", "high"}}``."""
        found: dict[str, object] = {"cases": self.cases}
        for name, value in self.values.items():
            entry = {"value": round(value, 6)}
            if name in self.intervals:
                entry["low"], entry["high"] = (round(v, 6) for v in self.intervals[name])
            found[name] = entry
        return found


class Columns:
    """Outcomes as arrays of length n, in order; `kinds`, `tasks`, `groups` and `buckets` name each one's place.

    Attributes:
        top: probability of the most probable answer; `right`: whether it is the right one.
        gold, predicted: labels as integers, one for each (task, name of an answer).
    """

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        n = len(outcomes)
        self.outcomes = list(outcomes)
        self.kinds = [o.case.type for o in outcomes]
        self.tasks = [o.case.task for o in outcomes]
        self.groups = [o.case.group for o in outcomes]
        self.buckets = [bucket_name(edge_of(len(o.probabilities))) for o in outcomes]
        best = [int(np.argmax(o.probabilities)) for o in outcomes]
        self.top: Floats = np.array([o.probabilities[b] for o, b in zip(outcomes, best, strict=True)], np.float64)
        self.right: Bools = np.array([o.case.gold == b for o, b in zip(outcomes, best, strict=True)], np.bool_)
        self.p_gold: Floats = np.array([o.probabilities[o.case.gold] for o in outcomes], np.float64)
        self.chance: Floats = np.array([1 / len(o.probabilities) for o in outcomes], np.float64)
        self.brier: Floats = np.array([metrics.brier(o.probabilities, o.case.gold) for o in outcomes], np.float64)
        self.log = metrics.log_score(self.p_gold)
        self.is_noul: Bools = np.array([kind == "noul" for kind in self.kinds], np.bool_)
        self.is_score: Bools = np.array([kind == "score" for kind in self.kinds], np.bool_)
        self.p_yes: Floats = np.array([o.probabilities[0] for o in outcomes], np.float64)
        self.is_yes: Bools = np.array([o.case.gold == 0 for o in outcomes], np.bool_)
        self.rps: Floats = np.zeros(n)
        self.level_error: Floats = np.zeros(n)
        for i in np.flatnonzero(self.is_score).tolist():
            p, level = outcomes[i].probabilities, outcomes[i].case.gold
            self.rps[i] = metrics.ranked_probability_score(p, level)
            self.level_error[i] = abs(float(p @ np.arange(len(p))) - level)
        self.clusters: Ints = _numbered([o.case.cluster for o in outcomes])
        names = [labels(o.case.question) for o in outcomes]
        self.label_ids: dict[tuple[str, str], int] = {}
        task_ids: dict[str, int] = {}
        owner: list[int] = []

        def label(i: int, index: int) -> int:
            key = (self.tasks[i], names[i][index])
            if key not in self.label_ids:
                self.label_ids[key] = len(self.label_ids)
                owner.append(task_ids.setdefault(key[0], len(task_ids)))
            return self.label_ids[key]

        self.gold: Ints = np.array([label(i, o.case.gold) for i, o in enumerate(outcomes)], np.int64)
        self.predicted: Ints = np.array([label(i, b) for i, b in enumerate(best)], np.int64)
        self.owner: Ints = np.array(owner, np.int64)

    def __len__(self) -> int:
        return len(self.outcomes)

    def measure(self, index: Ints) -> dict[str, float]:
        """Every metric that applies to the cases at these places (at least one; places may repeat)."""
        top, right = self.top[index], self.right[index]
        found = {
            "accuracy": float(right.mean()),
            "chance": float(self.chance[index].mean()),
            "macro_f1": metrics.macro_f1(self.gold[index], self.predicted[index], self.owner),
            "brier": float(self.brier[index].mean()),
            "log_score": float(self.log[index].mean()),
            "ece_width": metrics.ece_equal_width(top, right),
            "ece_mass": metrics.ece_equal_mass(top, right),
            "overconfidence": float(top.mean() - right.mean()),
            "aurc": metrics.aurc(top, right),
        }
        nouls = index[self.is_noul[index]]
        if len(nouls):
            area = metrics.auroc(self.p_yes[nouls], self.is_yes[nouls])
            if area is not None:
                found["auroc"] = area
        scores = index[self.is_score[index]]
        if len(scores):
            found["mae"] = float(self.level_error[scores].mean())
            found["rps"] = float(self.rps[scores].mean())
        return found

    def summary(self, index: Ints, resamples: int, seed: int) -> Summary:
        """Metrics of the cases at these places, with bootstrap intervals over states (none for fewer than 2 states)."""
        values = self.measure(index)
        clusters = _numbered(self.clusters[index].tolist())
        count = int(clusters.max()) + 1
        if resamples == 0 or count < 2:
            return Summary(len(index), values, {})
        rng = np.random.default_rng(seed)
        drawn: dict[str, list[float]] = {name: [] for name in values}
        for _ in range(resamples):
            times = np.bincount(rng.integers(0, count, count), minlength=count)
            for name, value in self.measure(np.repeat(index, times[clusters])).items():
                if name in drawn:
                    drawn[name].append(value)
        intervals = {name: metrics.quantiles(found, 0.025, 0.975) for name, found in drawn.items() if found and name != "chance"}
        return Summary(len(index), values, {name: (low, high) for name, (low, high) in intervals.items()})

    def by(self, names: Sequence[str]) -> dict[str, Ints]:
        """Places of the cases of each name, names in rising order."""
        places: dict[str, list[int]] = {}
        for i, name in enumerate(names):
            places.setdefault(name, []).append(i)
        return {name: np.array(places[name], np.int64) for name in sorted(places, key=_natural)}


def _numbered(names: Sequence[object]) -> Ints:
    ids: dict[object, int] = {}
    return np.array([ids.setdefault(name, len(ids)) for name in names], np.int64)


def _natural(name: str) -> tuple[int, str]:
    """Buckets by their number, other names by the alphabet."""
    head = name.split("-")[0]
    return (int(head) if head.isdigit() else 0), name
