"""What is measured of probabilities against right answers. Plain arrays in, numbers out; numpy only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

BINS = 15
LOG_FLOOR = 1e-12
"""Probabilities below this count as this in the log score, so that one impossible answer does not make it infinite."""


def brier(probabilities: Floats, gold: int) -> float:
    """sum over answers of (p - 1 if right else p) squared: 0 is best, 2 is worst (Brier 1950, the sum form)."""
    return float(np.square(probabilities).sum() - 2 * probabilities[gold] + 1)


def log_score(p_gold: Floats) -> Floats:
    """-ln of the probability of the right answer, nats, (n,) -> (n,)."""
    return -np.log(np.maximum(p_gold, LOG_FLOOR))


def ranked_probability_score(probabilities: Floats, gold: int) -> float:
    """sum over levels of (cumulative p - cumulative truth) squared, over levels - 1: 0 to 1 (Epstein 1969)."""
    truth = np.arange(len(probabilities)) >= gold
    return float(np.square(np.cumsum(probabilities)[:-1] - truth[:-1]).sum() / (len(probabilities) - 1))


def ece_equal_width(top: Floats, right: Bools, bins: int = BINS) -> float:
    """Expected calibration error of the most probable answer, bins of equal width (Naeini et al. 2015; Guo et al. 2017).

    sum over bins of share * |accuracy - mean probability|; bin i holds probabilities in (i/bins, (i+1)/bins].
    """
    return _gaps(top, right, np.clip(np.ceil(top * bins).astype(np.int64) - 1, 0, bins - 1), bins)


def ece_equal_mass(top: Floats, right: Bools, bins: int = BINS) -> float:
    """As `ece_equal_width`, bins of as equal numbers of cases as can be (Nguyen and O'Connor 2015).

    Equal probabilities may fall into neighbouring bins; they are ordered as given.
    """
    n = len(top)
    place = np.empty(n, np.int64)
    place[np.argsort(top, kind="stable")] = np.arange(n) * min(bins, n) // max(n, 1)
    return _gaps(top, right, place, bins)


def _gaps(top: Floats, right: Bools, place: Ints, bins: int) -> float:
    gap = np.bincount(place, weights=right - top, minlength=bins)
    return float(np.abs(gap).sum() / len(top))


def reliability(top: Floats, right: Bools, bins: int = BINS) -> list[tuple[float, float, int]]:
    """(mean probability, accuracy, cases) of each equal-width bin that holds a case."""
    place = np.clip(np.ceil(top * bins).astype(np.int64) - 1, 0, bins - 1)
    found = []
    for i in range(bins):
        inside = place == i
        if inside.any():
            found.append((float(top[inside].mean()), float(right[inside].mean()), int(inside.sum())))
    return found


def auroc(p_yes: Floats, yes: Bools) -> float | None:
    """Chance that a random yes case gets a higher probability of yes than a random no case; ties count half.

    The Mann-Whitney statistic. None when all cases have the same answer.
    """
    positive = int(yes.sum())
    if positive in (0, len(yes)):
        return None
    _, where, counts = np.unique(p_yes, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - (counts - 1) / 2)[where]
    return float((rank[yes].sum() - positive * (positive + 1) / 2) / (positive * (len(yes) - positive)))


def macro_f1(gold: Ints, predicted: Ints, owner: Ints | None = None) -> float:
    """Mean F1 over the labels that are right or predicted somewhere.

    Args:
        gold: (n,) labels as integers from 0, each with one meaning throughout.
        predicted: likewise.
        owner: (labels,) the task of each label, from 0: then the mean is taken within each task first, and over tasks.
    """
    size = int(max(gold.max(), predicted.max())) + 1 if owner is None else len(owner)
    seen = np.bincount(gold, minlength=size) + np.bincount(predicted, minlength=size)
    hits = np.bincount(gold[gold == predicted], minlength=size)
    used = seen > 0
    f1 = 2 * hits[used] / seen[used]
    if owner is None:
        return float(f1.mean())
    labels = np.bincount(owner[used])
    return float((np.bincount(owner[used], weights=f1)[labels > 0] / labels[labels > 0]).mean())


def risk_coverage(top: Floats, right: Bools) -> tuple[Floats, Floats]:
    """Coverage and error (n,) each, when only the most certain 1, 2, ... n cases are answered.

    Among cases of equal probability the errors are spread evenly, so that their order does not matter.
    """
    order = np.argsort(-top, kind="stable")
    _, block, counts = np.unique(-top[order], return_inverse=True, return_counts=True)
    wrong = (~right[order]).astype(np.float64)
    even = (np.bincount(block, weights=wrong) / counts)[block]
    n = np.arange(1, len(top) + 1)
    return n / len(top), np.cumsum(even) / n


def aurc(top: Floats, right: Bools) -> float:
    """Area under the risk-coverage curve: the mean over 1, 2, ... n answered cases of the error (Geifman et al. 2019)."""
    return float(risk_coverage(top, right)[1].mean())


def quantiles(values: Sequence[float], *shares: float) -> tuple[float, ...]:
    """Quantiles by linear interpolation; nan for no values."""
    if not len(values):
        return tuple(float("nan") for _ in shares)
    return tuple(float(q) for q in np.quantile(np.asarray(values, np.float64), shares))
