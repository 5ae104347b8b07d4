"""Stages: order by need, refusal of what cannot be, skipping by earlier answers."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneread import Choice, ChoiceAnswer, InvalidRequest, Noul, NoulAnswer, Question, Score, ScoreAnswer
from oneread.answers import Skipped
from oneread.controls import Asking
from oneread.planning.stages import skip_reason, stages, value_of

QUESTIONS: dict[str, Question] = {
    "a": Noul("is it"),
    "b": Choice({"x": None, "y": None}),
    "c": Score(["low", "high"]),
    "d": Noul("and"),
}


def test_without_conditions_there_is_one_stage() -> None:
    assert stages(QUESTIONS, {}) == (("a", "b", "c", "d"),)


def test_a_question_stands_right_after_all_it_needs() -> None:
    asking = {"a": Asking(depends_on=("b",)), "c": Asking(ask_if={"a": (True,)}), "d": Asking(depends_on=("b",))}
    assert stages(QUESTIONS, asking) == (("b",), ("a", "d"), ("c",))


def test_a_subset_brings_its_needs_and_nothing_else() -> None:
    asking = {"c": Asking(depends_on=("a",)), "d": Asking(depends_on=("b",))}
    assert stages(QUESTIONS, asking, ask=("c",)) == (("a",), ("c",))


def circular(asking: dict[str, Asking]) -> bool:
    sorter = TopologicalSorter({key: asked.needs for key, asked in asking.items()})
    try:
        sorter.prepare()
    except CycleError:
        return True
    return False


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20))
def test_every_question_comes_after_its_needs_or_the_circle_is_named(pairs: list[tuple[int, int]]) -> None:
    questions: dict[str, Question] = {str(i): Noul("x") for i in range(10)}
    asking = {str(i): Asking(depends_on=tuple(str(b) for a, b in pairs if a == i)) for i in range(10)}
    if circular(asking):
        with pytest.raises(InvalidRequest) as caught:
            stages(questions, asking)
        assert {issue.type for issue in caught.value.issues} == {"cycle"}
        return
    order = [key for stage in stages(questions, asking) for key in stage]
    assert sorted(order) == sorted(questions)
    assert all(order.index(need) < order.index(key) for key in order for need in asking[key].needs)


@pytest.mark.parametrize(
    ("asking", "loc", "type"),
    [
        (Asking(depends_on=("a", "nope")), ("depends_on", 1), "unknown_question"),
        (Asking(ask_if={"nope": (True,)}), ("ask_if", "nope"), "unknown_question"),
        (Asking(ask_if={"a": ()}), ("ask_if", "a"), "too_short"),
        (Asking(ask_if={"a": ("yes",)}), ("ask_if", "a", 0), "impossible_answer"),
        (Asking(ask_if={"b": ("x", "z")}), ("ask_if", "b", 1), "impossible_answer"),
        (Asking(ask_if={"c": (2,)}), ("ask_if", "c", 0), "impossible_answer"),
        (Asking(ask_if={"c": (True,)}), ("ask_if", "c", 0), "impossible_answer"),
        (Asking(depends_on=("d",)), ("depends_on",), "cycle"),
    ],
)
def test_what_cannot_be_is_refused_at_its_place(asking: Asking, loc: tuple[Any, ...], type: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        stages(QUESTIONS, {"d": asking})
    assert [(issue.loc, issue.type) for issue in caught.value.issues] == [(("questions", "d", "noul", *loc), type)]


def test_an_unknown_id_in_a_subset_is_refused() -> None:
    with pytest.raises(InvalidRequest) as caught:
        stages(QUESTIONS, {}, ask=("a", "nope"))
    assert caught.value.issues[0].loc == ("ask", 1)


def test_conditions_look_at_the_most_probable_answer() -> None:
    assert value_of(NoulAnswer(0.5)) is True
    assert value_of(NoulAnswer(0.49)) is False
    assert value_of(ChoiceAnswer("x", 0.2, {"x": 0.6, "y": 0.4})) == "x"
    assert value_of(ScoreAnswer(1.1, 0.1, ("l", "m", "h"), (0.4, 0.1, 0.5))) == 2


def test_a_question_is_skipped_with_the_reason() -> None:
    asked = Asking(ask_if={"a": (True,), "b": ("x",)})
    yes, no, x = NoulAnswer(0.9), NoulAnswer(0.1), ChoiceAnswer("x", 1, {"x": 1, "y": 0})
    assert skip_reason(asked, {"a": yes, "b": x}, {}) is None
    assert skip_reason(asked, {"a": no, "b": x}, {}) == Skipped("a", False, (True,))
    earlier = {"b": Skipped("q", True, (False,))}
    assert skip_reason(asked, {"a": yes}, earlier) == Skipped("b", None, ("x",))
