"""Temperatures from labelled cases: a known one is found again, and few cases move it little."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from oneread.calibration.buckets import EDGES, bucket_name, edge_of, grouped, lookup
from oneread.calibration.fit import MIN_QUESTION, fit_questions, fit_temperature, fit_temperatures
from oneread.calibration.scored import Scored, place, split
from oneread.calibration.temperature import Temperatures, softmax

ONES = Temperatures.parse({"noul": 1, "choice": 1, "score": 1})


def drawn(n: int, options: int, temperature: float, seed: int, type: str = "choice", question: str = "q") -> list[Scored]:
    """Cases whose answers are drawn from softmax(scores / temperature): `temperature` is the right one."""
    rng = np.random.default_rng(seed)
    cases = []
    for i in range(n):
        scores = rng.normal(0, 3, options)
        gold = int(rng.choice(options, p=softmax(scores, temperature)))
        cases.append(Scored(type, scores, gold, question, f"{seed}-{i}", f"{seed}-{i}"))
    return cases


@pytest.mark.parametrize("temperature", [0.5, 1.0, 1.9, 6.5])
def test_the_temperature_that_answers_were_drawn_with_is_found(temperature: float) -> None:
    assert fit_temperature(drawn(4000, 5, temperature, 0)) == pytest.approx(temperature, rel=0.1)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.3, 8), st.integers(2, 40))
@example(4482, 0.3046875, 2)  # a minimum between the lowest allowed and 0.06
def test_no_other_temperature_has_a_lower_log_loss(seed: int, temperature: float, options: int) -> None:
    cases = drawn(60, options, temperature, seed)
    found = fit_temperature(cases)

    def loss(t: float) -> float:
        return -float(np.mean([np.log(softmax(c.scores, t)[c.gold] + 1e-300) for c in cases]))

    if found < 0.0501:  # the lowest allowed: every answer was the most probable one
        assert all(np.argmax(c.scores) == c.gold for c in cases) or loss(0.05) <= loss(0.06)
        return
    if found > 99:  # the highest allowed: the scores say nothing about the answers
        assert loss(100.0) <= min(loss(50.0), loss(1.0))
        return
    assert loss(found) <= min(loss(found * 1.05), loss(found / 1.05), loss(1.0)) + 1e-9


def test_a_constant_added_to_all_scores_changes_nothing() -> None:
    cases = drawn(200, 4, 2.0, 1)
    moved = [Scored(c.type, c.scores + i, c.gold, c.question, c.cluster, c.case) for i, c in enumerate(cases)]
    assert fit_temperature(moved) == pytest.approx(fit_temperature(cases), rel=1e-6)


def test_few_cases_stay_near_what_is_known() -> None:
    few, many = drawn(5, 4, 6.0, 2), drawn(4000, 4, 6.0, 2)
    assert abs(np.log(fit_temperature(few, near=1.5) / 1.5)) < abs(np.log(fit_temperature(few) / 1.5))
    assert fit_temperature(many, near=1.5) == pytest.approx(6.0, rel=0.1)


def test_a_handful_of_right_answers_is_no_proof_of_certainty() -> None:
    cases = [Scored("noul", np.array([1.0, 0.0]), 0, "q", str(i), str(i)) for i in range(8)]
    assert fit_temperatures(cases, ONES).of("noul", 2) > 0.2


def test_types_and_option_counts_get_their_own() -> None:
    cases = [*drawn(1500, 2, 1.0, 3), *drawn(1500, 20, 3.0, 4), *drawn(1500, 2, 2.0, 5, "noul")]
    found = fit_temperatures(cases, Temperatures.parse({"noul": 1, "choice": 1, "score": 7}))
    assert found.of("choice", 2) == pytest.approx(1.0, rel=0.15)
    assert found.of("choice", 20) == found.of("choice", 255) == pytest.approx(3.0, rel=0.15)
    assert found.of("noul", 2) == pytest.approx(2.0, rel=0.15)
    assert found.of("score", 5) == 7


def test_a_question_asked_often_gets_its_own() -> None:
    cases = [*drawn(400, 3, 4.0, 6, question="often"), *drawn(MIN_QUESTION - 1, 3, 4.0, 7, question="seldom")]
    found = fit_questions(cases, ONES)
    assert list(found) == ["often"]
    assert found["often"] == pytest.approx(4.0, rel=0.25)


def test_small_buckets_are_joined_and_none_is_lost() -> None:
    items = [(2, "a"), (3, "b"), (4, "c"), (9, "d"), (200, "e")]
    assert grouped(items, 1) == [(2, ["a"]), (4, ["b", "c"]), (16, ["d"]), (255, ["e"])]
    assert grouped(items, 2) == [(4, ["a", "b", "c"]), (255, ["d", "e"])]
    assert grouped(items, 3) == [(255, ["a", "b", "c", "d", "e"])]
    assert grouped(items, 9) == [(255, ["a", "b", "c", "d", "e"])]


@given(st.integers(2, 255))
def test_every_option_count_has_one_bucket(n: int) -> None:
    edge = edge_of(n)
    assert n <= edge
    assert all(n > lower for lower in EDGES if lower < edge)
    name = bucket_name(edge).split("-")
    assert int(name[0]) <= n <= int(name[-1])


def test_nothing_is_claimed_past_the_last_bucket() -> None:
    assert lookup({"choice": [(4, 0.1), (8, 0.2)]}, "choice", 5) == 0.2
    assert lookup({"choice": [(4, 0.1), (8, 0.2)]}, "choice", 9) is None
    assert lookup({"choice": [(4, 0.1)]}, "noul", 2) is None


def test_parts_have_their_shares_and_keep_a_state_together() -> None:
    cases = [Scored("noul", np.zeros(2), 0, "q", f"state {i // 3}", f"{i}") for i in range(9000)]
    parts = split(cases, (0.4, 0.3, 0.3))
    assert [len(part) / 9000 for part in parts] == pytest.approx([0.4, 0.3, 0.3], abs=0.03)
    states = [{case.cluster for case in part} for part in parts]
    assert not states[0] & states[1] | states[0] & states[2] | states[1] & states[2]
    assert split(cases, (0.4, 0.3, 0.3)) == parts
    assert 0 <= place("x") < 1
