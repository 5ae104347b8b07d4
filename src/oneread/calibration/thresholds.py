"""When to accept an answer: thresholds on the probability of the most probable one, for a target error or a cost.

The number compared is the highest probability (for a noul the larger of p and 1 - p), not a reply's `confidence`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .buckets import grouped, lookup

CONFIDENCE = 0.9
"""The chance with which a target error holds for what is accepted."""

FEWEST = 20
"""A type with fewer cases gets no thresholds."""

_STARTS = (0.99, 0.95, 0.9, 0.8, 0.65)
_STEP = 0.005


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Accept an answer when its probability is at least the threshold.

    Attributes:
        goal: what they were chosen for: ``"error"`` (at most `value` of the accepted answers are wrong) or ``"cost"``
            (a wrong answer costs 1, an answer that is not accepted costs `value`; least total cost).
        value: the target.
        top: by type, (largest option count, threshold) pairs in rising order; a threshold of None accepts nothing.
    """

    goal: str
    value: float
    top: Mapping[str, Sequence[tuple[int, float | None]]]

    def accepts(self, type: str, probabilities: NDArray[np.float64]) -> bool:
        """Whether the most probable answer is accepted; never for a type or option count that was not fitted."""
        threshold = lookup(self.top, type, len(probabilities))
        return threshold is not None and float(probabilities.max()) >= threshold


def binomial_cdf(k: int, n: int, p: float) -> float:
    """P(at most k of n) when each has probability p, 0 < p < 1."""
    logs = [
        math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * math.log(p) + (n - i) * math.log1p(-p)
        for i in range(k + 1)
    ]
    top = max(logs)
    return min(1.0, math.exp(top) * math.fsum(math.exp(v - top) for v in logs))


def threshold_for_error(top: NDArray[np.float64], wrong: NDArray[np.bool_], target: float) -> float | None:
    """The lowest threshold above which at most `target` of the answers are wrong, with a chance of `CONFIDENCE`.

    Learn then test (Angelopoulos et al. 2021): from each of five starting points the threshold is lowered step by step
    as long as an exact binomial test rejects "more than `target` are wrong"; each start may err with a fifth of
    1 - `CONFIDENCE`. None when no threshold passes, as with few cases.

    Args:
        top: (n,) probabilities of the most probable answers.
        wrong: (n,) whether it was wrong.
    """
    order = np.argsort(-top, kind="stable")
    sorted_top, errors = top[order], np.concatenate([[0], np.cumsum(wrong[order])])
    level = (1 - CONFIDENCE) / len(_STARTS)
    found: float | None = None
    for start in _STARTS:
        threshold = start
        while threshold >= 0:
            n = int(np.searchsorted(-sorted_top, -threshold, side="right"))
            if n == 0 or binomial_cdf(int(errors[n]), n, target) > level:
                break
            found = threshold if found is None else min(found, threshold)
            threshold = round(threshold - _STEP, 6)
    return found


def threshold_for_cost(top: NDArray[np.float64], wrong: NDArray[np.bool_], abstain: float) -> float:
    """The threshold of least mean cost on these cases, when a wrong answer costs 1 and one not accepted `abstain`.

    With perfectly calibrated probabilities it is 1 - `abstain` (Chow 1970). Of equal ones the lowest.
    """
    values, counts = np.unique(-top, return_counts=True)
    errors = np.concatenate([[0], np.cumsum(wrong[np.argsort(-top, kind="stable")])])
    accepted = np.concatenate([[0], np.cumsum(counts)])
    cost = errors[accepted] + abstain * (len(top) - accepted)
    best = len(cost) - 1 - int(np.argmin(cost[::-1]))
    return float(-values[best - 1]) if best else 1.0 + 1e-9


def fit_thresholds(
    cases: Sequence[tuple[str, NDArray[np.float64], int]], goal: str, value: float, at_least: int = 100
) -> Thresholds:
    """Thresholds by type and bucket, from (type, probabilities, index of the right answer).

    Buckets with fewer than `at_least` cases are joined to their neighbours; a type with fewer than `FEWEST` gets none.
    """
    if not 0 < value < 1:
        raise ValueError(f"the target {goal} should be between 0 and 1")
    top: dict[str, tuple[tuple[int, float | None], ...]] = {}
    for name in dict.fromkeys(type for type, _, _ in cases):
        items = [(len(p), (float(p.max()), int(np.argmax(p)) != gold)) for type, p, gold in cases if type == name]
        if len(items) < FEWEST:
            continue
        fitted: list[tuple[int, float | None]] = []
        for edge, group in grouped(items, at_least):
            tops, wrongs = np.array([t for t, _ in group]), np.array([w for _, w in group], bool)
            fitted.append(
                (edge, threshold_for_error(tops, wrongs, value) if goal == "error" else threshold_for_cost(tops, wrongs, value))
            )
        top[name] = tuple(fitted)
    return Thresholds(goal, value, top)
