"""Conformal sets hold what they state, and no more than needed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oneread.calibration.sets import Sets, fewest, fit_sets, least_probability
from oneread.calibration.temperature import softmax


def world(n: int, options: int, seed: int, wrong_temperature: float = 1.0) -> list[tuple[str, np.ndarray, int]]:
    """Exchangeable cases; probabilities are as wrong as the temperature is far from 1."""
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(n):
        scores = rng.normal(0, 2, options)
        gold = int(rng.choice(options, p=softmax(scores, 1.0)))
        cases.append(("choice", softmax(scores, wrong_temperature), gold))
    return cases


@pytest.mark.parametrize("coverage", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("wrong_temperature", [0.3, 1.0, 4.0])
def test_stated_coverage_holds_on_new_cases_even_when_probabilities_are_wrong(coverage: float, wrong_temperature: float) -> None:
    held = []
    for seed in range(40):
        sets = fit_sets(world(200, 6, seed, wrong_temperature), coverage)
        for name, p, gold in world(200, 6, seed + 1000, wrong_temperature):
            inside = sets.of(name, p)
            assert inside is not None
            held.append(gold in inside)
    assert np.mean(held) >= coverage - 0.01  # 8000 cases from 40 fits: standard error about .005
    if wrong_temperature == 1.0 and coverage > 0.85:
        assert np.mean(held) <= coverage + 0.03


def test_the_threshold_is_the_stated_order_statistic() -> None:
    right = np.array([0.9, 0.1, 0.5, 0.7, 0.3, 0.2, 0.4, 0.6, 0.8])  # n = 9: k = ceil(10 * .9) = 9, the lowest
    assert least_probability(right, 0.9) == 0.1
    assert least_probability(right, 0.8) == 0.2
    assert least_probability(right, 0.5) == 0.5


@given(st.floats(0.5, 0.99))
def test_fewest_is_the_least_count_with_a_threshold(coverage: float) -> None:
    n = fewest(coverage)
    least_probability(np.linspace(0, 1, n), coverage)
    with pytest.raises(IndexError):
        least_probability(np.linspace(0, 1, n - 1), coverage)


def test_types_without_enough_cases_get_no_sets() -> None:
    sets = fit_sets(world(fewest(0.9) - 1, 3, 0), 0.9)
    assert sets.of("choice", np.array([0.5, 0.3, 0.2])) is None


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=10), st.floats(0, 1))
def test_sets_hold_the_top_answer_and_scores_have_no_gaps(weights: list[float], least: float) -> None:
    p = np.array(weights) / sum(weights)
    sets = Sets(0.9, {"choice": [(255, least)], "score": [(255, least)]})
    chosen, levels = sets.of("choice", p), sets.of("score", p)
    assert chosen is not None
    assert levels is not None
    assert int(np.argmax(p)) in chosen
    assert set(chosen) <= set(levels) == set(range(levels[0], levels[-1] + 1))


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 1.5])
def test_impossible_coverage_is_refused(coverage: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        fit_sets(world(30, 3, 0), coverage)
