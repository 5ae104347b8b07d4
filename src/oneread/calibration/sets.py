"""Conformal sets: of each question, the answers that hold the right one with a stated probability."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .buckets import grouped, lookup

Probabilities = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sets:
    """Sets of answers with a stated coverage.

    Split conformal prediction with the score 1 - p(right answer) (Vovk et al. 2005; Sadinle, Lei and Wasserman 2019),
    one threshold for each type and bucket of option counts. When new cases come from where the fitted ones came from, a
    set holds the right answer with at least `coverage`, on the average over cases of that type and bucket.

    Attributes:
        coverage: between 0 and 1, exclusive.
        least: by type, (largest option count, probability) pairs in rising order: an answer of at least that
            probability is in the set.
    """

    coverage: float
    least: Mapping[str, Sequence[tuple[int, float]]]

    def of(self, type: str, probabilities: Probabilities) -> tuple[int, ...] | None:
        """Indices of the answers in the set; None for a type or an option count that no case was fitted for.

        The most probable answer is always in the set, and a score's set has no gaps: both only raise the coverage.
        """
        least = lookup(self.least, type, len(probabilities))
        if least is None:
            return None
        inside = np.flatnonzero(probabilities >= least)
        found = sorted({*inside.tolist(), int(np.argmax(probabilities))})
        return tuple(range(found[0], found[-1] + 1)) if type == "score" else tuple(found)


def fewest(coverage: float) -> int:
    """The fewest cases from which a threshold of this coverage can be found: ceil((n + 1) * coverage) <= n."""
    return math.ceil(coverage / (1 - coverage) - 1e-9)


def least_probability(right: Probabilities, coverage: float) -> float:
    """The probability that an answer must have to be in the set.

    Args:
        right: (n,) probabilities given to the right answers, n >= `fewest`.

    Returns:
        the k-th highest of them, k = ceil((n + 1) * coverage).
    """
    k = math.ceil((len(right) + 1) * coverage - 1e-9)
    return float(np.sort(right)[::-1][k - 1])


def fit_sets(cases: Sequence[tuple[str, Probabilities, int]], coverage: float, at_least: int = 50) -> Sets:
    """Sets from (type, probabilities, index of the right answer), none of which the temperatures were fitted on.

    Buckets with fewer than `at_least` cases are joined to their neighbours; a type with fewer than `fewest` gets no sets.
    """
    if not 0 < coverage < 1:
        raise ValueError("coverage should be between 0 and 1")
    least: dict[str, tuple[tuple[int, float], ...]] = {}
    for name in dict.fromkeys(type for type, _, _ in cases):
        right = [(len(p), float(p[gold])) for type, p, gold in cases if type == name]
        if len(right) < fewest(coverage):
            continue
        groups = grouped(right, max(at_least, fewest(coverage)))
        least[name] = tuple((edge, least_probability(np.array(values), coverage)) for edge, values in groups)
    return Sets(coverage, least)
