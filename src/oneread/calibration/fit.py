"""Temperatures from labelled cases: by question type, bucket of option counts, and question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .buckets import EDGES, grouped
from .scored import Scored
from .temperature import TYPES, Temperatures

MIN_BUCKET = 50
"""A bucket with fewer cases is joined to its neighbour."""

MIN_QUESTION = 40
"""A question asked in at least this many cases gets a temperature of its own."""

PRIOR_SD = 0.3
"""How far a bucket's log temperature is expected to be from its type's, and a question's from its bucket's."""

TYPE_SD = 0.5
"""How far a type's log temperature is expected to be from the one known before: wide, it matters for a handful of cases."""

_LOWEST, _HIGHEST = np.log(0.05), np.log(100.0)


def fit_temperature(cases: Sequence[Scored], near: float | None = None, sd: float = PRIOR_SD) -> float:
    """The temperature of least mean log loss.

    Args:
        cases: at least one.
        near: when given, log T is drawn towards log `near` as by a normal prior of standard deviation `sd`, so that few
            cases move it little.

    Returns:
        between 0.05 and 100.
    """
    scores, gold = _padded(cases)

    def loss(log_t: float) -> float:
        scaled = scores / np.exp(log_t)
        top = scaled.max(axis=1)
        log_sum = top + np.log(np.exp(scaled - top[:, None]).sum(axis=1))
        total = float((log_sum - scaled[np.arange(len(gold)), gold]).sum())
        return total if near is None else total + 0.5 * ((log_t - np.log(near)) / sd) ** 2

    # The log loss is convex in 1/T, so it falls to one minimum and rises again: a grid, then a search around its best.
    grid = np.linspace(_LOWEST, _HIGHEST, 24)
    best = int(np.argmin([loss(t) for t in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    ratio = (np.sqrt(5) - 1) / 2
    while high - low > 1e-4:
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        if loss(a) <= loss(b):
            high = b
        else:
            low = a
    return float(np.exp((low + high) / 2))


def fit_temperatures(cases: Sequence[Scored], fallback: Temperatures) -> Temperatures:
    """A temperature for each type and bucket of option counts.

    A type's temperature is fitted on all its cases, drawn a little towards that of `fallback`; each bucket's is drawn towards
    its type's. A type without cases keeps the temperatures of `fallback`.
    """
    buckets: dict[str, Sequence[tuple[int, float]]] = {}
    for name in TYPES:
        of_type = [case for case in cases if case.type == name]
        if not of_type:
            buckets[name] = fallback.buckets[name]
            continue
        groups = grouped(((case.options, case) for case in of_type), MIN_BUCKET)
        middle = int(np.median([case.options for case in of_type]))
        whole = fit_temperature(of_type, fallback.of(name, middle), TYPE_SD)
        fitted = [(edge, fit_temperature(group, whole) if len(groups) > 1 else whole) for edge, group in groups]
        buckets[name] = (*fitted[:-1], (EDGES[-1], fitted[-1][1]))
    return Temperatures(buckets)


def fit_questions(cases: Sequence[Scored], temperatures: Temperatures) -> Mapping[str, float]:
    """Temperatures of the questions, by digest, that are asked in at least `MIN_QUESTION` cases."""
    by_question: dict[str, list[Scored]] = {}
    for case in cases:
        by_question.setdefault(case.question, []).append(case)
    return {
        question: fit_temperature(group, temperatures.of(group[0].type, group[0].options))
        for question, group in sorted(by_question.items())
        if len(group) >= MIN_QUESTION
    }


def _padded(cases: Sequence[Scored]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Scores (cases, most options) with -inf where a case has fewer options, highest score 0; gold (cases,)."""
    scores = np.full((len(cases), max(case.options for case in cases)), -np.inf)
    for row, case in enumerate(cases):
        scores[row, : case.options] = case.scores - case.scores.max()
    return scores, np.array([case.gold for case in cases])
