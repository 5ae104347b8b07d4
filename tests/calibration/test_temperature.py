"""Temperatures: the right one is found, and it does what it should to a distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneread import ReaderError
from oneread.calibration.temperature import Temperatures, softmax


def test_the_bucket_of_an_option_count_is_the_first_that_holds_it() -> None:
    temperatures = Temperatures.parse({"noul": 1.5, "choice": [[2, 1.1], [10, 1.2], [100, 1.3]], "score": 2})
    assert [temperatures.of("choice", n) for n in (2, 3, 10, 11, 100, 255)] == [1.1, 1.2, 1.2, 1.3, 1.3, 1.3]
    assert temperatures.of("noul", 2) == 1.5
    assert temperatures.of("score", 5) == 2


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"noul": 1, "choice": 1},
        {"noul": 1, "choice": 1, "score": 1, "box": 1},
        {"noul": 0, "choice": 1, "score": 1},
        {"noul": -1, "choice": 1, "score": 1},
        {"noul": float("nan"), "choice": 1, "score": 1},
        {"noul": "x", "choice": 1, "score": 1},
        {"noul": [], "choice": 1, "score": 1},
        {"noul": [[3, 1.0], [2, 1.0]], "choice": 1, "score": 1},
    ],
)
def test_other_profiles_are_refused(value: Any) -> None:
    with pytest.raises(ReaderError, match="temperatures"):
        Temperatures.parse(value)


scores = st.lists(st.floats(-50, 50), min_size=2, max_size=255).map(np.array)


@given(scores, st.floats(0.1, 10))
def test_probabilities_sum_to_one_and_keep_the_order(values: np.ndarray, temperature: float) -> None:
    probabilities = softmax(values, temperature)
    assert probabilities.sum() == pytest.approx(1, abs=1e-9)
    assert probabilities[np.argmax(values)] == probabilities.max()


@given(scores)
def test_a_higher_temperature_is_never_more_certain(values: np.ndarray) -> None:
    assert softmax(values, 2.0).max() <= softmax(values, 1.0).max() + 1e-12
