"""Merging: laws that hold whatever a model says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneread.calibration.temperature import softmax
from oneread.decide.merging import Draws, combine_windows, entropy, second_round

vectors = st.integers(2, 20).flatmap(
    lambda n: st.lists(st.lists(st.floats(-20, 20), min_size=n, max_size=n), min_size=1, max_size=6)
)


def test_entropy_is_in_nats_and_zero_when_certain() -> None:
    assert entropy(np.array([0.25] * 4)) == pytest.approx(np.log(4))
    assert entropy(np.array([1.0, 0.0])) == 0


def test_one_window_is_taken_as_it_is() -> None:
    scores = np.array([3.0, 1.0])
    assert combine_windows([scores]).tolist() == [3.0, 1.0]


def test_a_window_that_says_nothing_counts_little() -> None:
    combined = combine_windows([np.array([6.0, 0.0]), np.zeros(2), np.zeros(2)])
    assert combined[0] - combined[1] > 5.5


def test_windows_that_disagree_equally_cancel() -> None:
    combined = combine_windows([np.array([4.0, 0.0]), np.array([0.0, 4.0])])
    assert combined[0] == pytest.approx(combined[1])


@given(vectors)
def test_the_order_of_windows_does_not_matter(windows: list[list[float]]) -> None:
    arrays = [np.array(w) for w in windows]
    assert softmax(combine_windows(arrays), 1) == pytest.approx(softmax(combine_windows(arrays[::-1]), 1), abs=1e-9)


@given(vectors)
def test_a_shift_of_one_window_changes_nothing(windows: list[list[float]]) -> None:
    arrays = [np.array(w) for w in windows]
    shifted = [arrays[0] + 5, *arrays[1:]]
    assert softmax(combine_windows(arrays), 1) == pytest.approx(softmax(combine_windows(shifted), 1), abs=1e-9)


@given(st.lists(st.floats(-10, 10), min_size=3, max_size=30), st.data())
def test_a_second_round_moves_mass_among_finalists_only(first: list[float], data: st.DataObject) -> None:
    scores = np.array(first)
    finalists = data.draw(st.lists(st.sampled_from(range(len(first))), min_size=2, max_size=8, unique=True))
    final = np.array(data.draw(st.lists(st.floats(-10, 10), min_size=len(finalists), max_size=len(finalists))))
    before, after = softmax(scores, 1), softmax(second_round(scores, finalists, final), 1)
    others = [i for i in range(len(first)) if i not in finalists]
    assert after[others] == pytest.approx(before[others], abs=1e-9)
    assert after[finalists] / after[finalists].sum() == pytest.approx(softmax(final, 1), abs=1e-9)


def test_draws_report_their_mean_error_and_agreement() -> None:
    draws = Draws(np.array([[0.8, 0.2], [0.6, 0.4], [0.4, 0.6]]))
    assert draws.mean.tolist() == pytest.approx([0.6, 0.4])
    assert draws.stderr == pytest.approx(0.2 / np.sqrt(3))
    assert draws.agreement == pytest.approx(2 / 3)
    assert Draws(np.array([[0.8, 0.2]])).stderr is None
