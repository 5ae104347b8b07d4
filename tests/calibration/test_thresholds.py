"""Thresholds keep the error they were chosen for, and the cost is the least."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from oneread.calibration.thresholds import (
    Thresholds,
    binomial_cdf,
    fit_thresholds,
    threshold_for_cost,
    threshold_for_error,
)


def world(n: int, seed: int, sharper: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Tops, and whether each was wrong: right with probability top ** sharper (1 is calibrated)."""
    rng = np.random.default_rng(seed)
    top = rng.uniform(0.5, 1.0, n)
    return top, rng.uniform(size=n) > top**sharper


@pytest.mark.parametrize(("k", "n", "p"), [(0, 10, 0.1), (3, 50, 0.05), (40, 1000, 0.05), (7, 7, 0.3), (100, 5000, 0.02)])
def test_the_binomial_tail_is_scipys(k: int, n: int, p: float) -> None:
    assert binomial_cdf(k, n, p) == pytest.approx(stats.binom.cdf(k, n, p), rel=1e-9)


@pytest.mark.parametrize("sharper", [1.0, 2.0])
def test_the_target_error_is_kept_as_often_as_stated(sharper: float) -> None:
    grid = np.linspace(0.5, 1, 20001)
    broken = tried = 0
    for seed in range(200):
        threshold = threshold_for_error(*world(2000, seed, sharper), target=0.1)
        if threshold is not None:
            tried += 1
            accepted = grid[grid >= threshold]
            broken += bool((1 - accepted**sharper).mean() > 0.1)  # the true error among accepted cases
    assert tried > 100
    assert broken / 200 <= 0.1


def test_more_cases_accept_more() -> None:
    few, many = threshold_for_error(*world(150, 1), target=0.1), threshold_for_error(*world(20000, 1), target=0.1)
    assert many is not None
    assert many < 0.83  # the least true one is .8
    assert few is None or few > many


def test_nothing_is_accepted_when_nothing_is_good_enough() -> None:
    top = np.full(300, 0.99)
    assert threshold_for_error(top, np.arange(300) % 2 == 0, target=0.1) is None
    found = Thresholds("error", 0.1, {"noul": [(2, None)]})
    assert not found.accepts("noul", np.array([0.999, 0.001]))
    assert not found.accepts("choice", np.array([0.999, 0.001]))


def test_the_cost_threshold_is_chows_for_calibrated_probabilities() -> None:
    assert threshold_for_cost(*world(50_000, 3), abstain=0.2) == pytest.approx(0.8, abs=0.03)


def test_the_cost_threshold_is_the_best_of_all() -> None:
    top, wrong = world(200, 4)
    best = threshold_for_cost(top, wrong, 0.25)

    def cost(t: float) -> float:
        return float(np.where(top >= t, wrong, 0.25).mean())

    assert cost(best) == min(cost(t) for t in [0.0, *top, 2.0])


def test_thresholds_are_by_type_and_option_count() -> None:
    rng = np.random.default_rng(0)
    good = [("choice", np.array([0.95, 0.05]), int(rng.uniform() > 0.95)) for _ in range(400)]
    bad = [("choice", np.array([0.9, *[0.01] * 10]), int(rng.uniform() > 0.6)) for _ in range(400)]
    found = fit_thresholds([*good, *bad], "error", 0.1)
    assert found.accepts("choice", np.array([0.95, 0.05]))
    assert not found.accepts("choice", np.array([0.95, *[0.005] * 10]))


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_targets_out_of_range_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        fit_thresholds([], "error", value)
