"""The published formulas, on the vectors that the contract lists and by their laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneread.answers import choice_confidence, expectation, score_confidence

weights = st.lists(st.floats(0.001, 1), min_size=2, max_size=10)


def normal(values: list[float]) -> list[float]:
    return [v / sum(values) for v in values]


def test_choice_confidence_on_published_values() -> None:
    assert choice_confidence([0.88, 0.12]) == pytest.approx(0.76)
    assert choice_confidence([0.25] * 4) == pytest.approx(0)
    assert choice_confidence([1.0]) == 1


def test_score_confidence_on_published_values() -> None:
    assert score_confidence([0, 0.95, 0.05]) == pytest.approx(0.925)
    assert score_confidence([0, 0.01, 0.04, 0.04, 0.91]) == pytest.approx(0.875)
    assert score_confidence([0.5, 0, 0.5]) == 0
    assert score_confidence([0.2] * 5) == pytest.approx(0)
    assert score_confidence([1.0]) == 1


def test_expectation_counts_from_level_zero() -> None:
    assert expectation([0, 0.95, 0.05]) == pytest.approx(1.05)


@given(weights)
def test_confidences_stay_between_zero_and_one(values: list[float]) -> None:
    probabilities = normal(values)
    assert 0 <= choice_confidence(probabilities) <= 1
    assert 0 <= score_confidence(probabilities) <= 1
    assert 0 <= expectation(probabilities) <= len(values) - 1


@given(weights)
def test_a_certain_answer_has_confidence_one(values: list[float]) -> None:
    certain = [0.0] * (len(values) - 1) + [1.0]
    assert choice_confidence(certain) == score_confidence(certain) == 1
