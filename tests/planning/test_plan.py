"""Plans: every option meets every part of the state, in rows the reader can take, whatever else is asked."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneread import InvalidRequest
from oneread.planning import Lengths, Order, Row, RowForm, StagePlan, first_draw, next_rows, plan_stage

FULL = RowForm(window=512, longest=512, frame=2)
APART = RowForm(window=512, longest=1024, frame=2, shared=True)
forms = st.sampled_from([FULL, APART, RowForm(512, 512, 2, max_options=26)])
lengths = st.builds(Lengths, st.integers(2, 250), st.lists(st.integers(1, 150), min_size=2, max_size=255).map(tuple))
short = st.builds(Lengths, st.integers(2, 20), st.lists(st.integers(1, 8), min_size=2, max_size=6).map(tuple))
states = st.integers(0, 8000)


@dataclass
class Known:
    """Progress in which every question wants so many draws."""

    plan: StagePlan
    wanted: int = 1
    done: Container[Row] = field(default_factory=set)

    def draws(self, question: str) -> int:
        return self.wanted

    def order(self, question: str, draw: int) -> Order:
        own = tuple(range(self.plan.options[question]))
        return own[draw % len(own) :] + own[: draw % len(own)]

    def best(self, question: str, draw: int, rows: Sequence[Row], count: int) -> Order:
        return tuple(range(count))


def taken(row: Row, questions: dict[str, Lengths], form: RowForm) -> tuple[int, int]:
    """Tokens and positions of a row."""
    state = row.window[1] - row.window[0]
    tokens = form.frame + state
    deepest = 0
    for part in row.parts:
        sizes = [questions[part.question].options[i] for i in part.options]
        tokens += questions[part.question].frame + sum(sizes)
        deepest = max(deepest, questions[part.question].frame + max(sizes))
    return tokens, (form.frame + deepest + state if form.shared else tokens)


@given(lengths, forms, states)
def test_every_option_meets_every_token_once_in_each_window(question: Lengths, form: RowForm, state: int) -> None:
    rows = first_draw(plan_stage({"q": question}, form, state))
    by_window: dict[tuple[int, int], list[int]] = {}
    for row in rows:
        by_window.setdefault(row.window, []).extend(row.parts[0].options)
        tokens, positions = taken(row, {"q": question}, form)
        assert tokens <= form.longest
        assert positions <= form.window
        assert form.max_options is None or len(row.parts[0].options) <= form.max_options
    assert all(options == list(range(len(question.options))) for options in by_window.values())
    assert {t for a, b in by_window for t in range(a, b)} == set(range(state))


@given(st.lists(lengths, min_size=1, max_size=4), forms, states)
def test_a_question_is_planned_the_same_alone_and_among_others(questions: list[Lengths], form: RowForm, state: int) -> None:
    together = first_draw(plan_stage({str(i): q for i, q in enumerate(questions)}, form, state))
    for i, question in enumerate(questions):
        alone = first_draw(plan_stage({str(i): question}, form, state))
        assert alone == tuple(row for row in together if row.parts[0].question == str(i))


@given(st.lists(short, min_size=1, max_size=40), forms, states)
def test_packed_rows_hold_every_question_and_fit(questions: list[Lengths], form: RowForm, state: int) -> None:
    named = {str(i): q for i, q in enumerate(questions)}
    rows = first_draw(plan_stage(named, form, state, packed=True))
    windows: dict[str, list[tuple[int, int]]] = {}
    for row in rows:
        tokens, positions = taken(row, named, form)
        assert tokens <= form.longest
        assert positions <= form.window
        for part in row.parts:
            windows.setdefault(part.question, []).append(row.window)
            assert part.options == tuple(range(len(named[part.question].options)))
    assert set(windows) == set(named)
    for spans in windows.values():
        assert {t for a, b in spans for t in range(a, b)} == set(range(state))


def test_packed_chunks_are_even_and_few() -> None:
    questions = {str(i): Lengths(20, (5, 5)) for i in range(20)}  # 30 tokens each
    plan = plan_stage(questions, FULL, 100, packed=True)
    assert [len(group.questions) for group in plan.groups] == [10, 10]


def test_a_question_that_wants_to_be_alone_is_and_one_too_large_is_split() -> None:
    questions = {"a": Lengths(5, (2, 2)), "b": Lengths(5, (2, 2)), "c": Lengths(5, (2, 2)), "large": Lengths(5, (20,) * 50)}
    plan = plan_stage(questions, FULL, 50, packed=True, alone={"b"})
    assert [group.questions for group in plan.groups] == [("a", "c"), ("b",), ("large",)]
    assert len(plan.groups[2].splits) > 1


def test_a_row_holds_no_more_questions_than_its_form_says() -> None:
    questions = {str(i): Lengths(5, (2, 2)) for i in range(5)}
    plan = plan_stage(questions, RowForm(512, 512, 2, max_questions=2), 50, packed=True)
    assert max(len(group.questions) for group in plan.groups) == 2


def test_what_fits_one_row_is_one_row() -> None:
    assert len(first_draw(plan_stage({"q": Lengths(12, (2, 2))}, FULL, 400))) == 1


def test_options_apart_share_positions_so_that_many_fit_one_row() -> None:
    many = Lengths(12, (6,) * 100)
    assert len(first_draw(plan_stage({"q": many}, APART, 200))) == 1
    assert len(first_draw(plan_stage({"q": many}, FULL, 200))) > 1


def test_rows_are_asked_for_until_all_are_read() -> None:
    plan = plan_stage({"a": Lengths(10, (2, 2)), "b": Lengths(10, (3,) * 5)}, FULL, 2000)
    first = next_rows(plan, Known(plan))
    assert first == first_draw(plan)
    assert len(first) > 5
    assert next_rows(plan, Known(plan, done=set(first[:-1]))) == first[-1:]
    assert next_rows(plan, Known(plan, done=set(first))) == ()


def test_the_best_of_split_options_are_read_together_once_the_rest_is() -> None:
    plan = plan_stage({"q": Lengths(10, (40,) * 30)}, FULL, 10)
    first = next_rows(plan, Known(plan))
    assert not any(row.final for row in first)
    (final,) = next_rows(plan, Known(plan, done=set(first)))
    assert final.final
    assert final.parts[0].options == tuple(range(8))
    assert next_rows(plan, Known(plan, done={*first, final})) == ()


def test_all_draws_known_to_be_wanted_are_asked_for_at_once() -> None:
    plan = plan_stage({"q": Lengths(10, (2, 2, 2))}, FULL, 10)
    rows = next_rows(plan, Known(plan, wanted=3))
    assert [(row.draw, row.parts[0].options) for row in rows] == [(0, (0, 1, 2)), (1, (1, 2, 0)), (2, (2, 0, 1))]


@pytest.mark.parametrize(
    ("question", "loc"),
    [
        (Lengths(255, (2, 2)), ("questions", "q", "instructions")),
        (Lengths(12, (2, 500)), ("questions", "q", "criteria", 1)),
    ],
)
@pytest.mark.parametrize("form", [FULL, APART])
def test_what_no_row_can_hold_is_refused_with_the_limit(question: Lengths, loc: tuple[str | int, ...], form: RowForm) -> None:
    with pytest.raises(InvalidRequest) as caught:
        plan_stage({"q": question}, form, 10)
    issue = caught.value.issues[0]
    assert (issue.loc, issue.type) == (loc, "too_many_tokens")
    assert issue.context["actual_tokens"] > issue.context["max_tokens"]


TOGETHER = RowForm(window=512, longest=1024, frame=2, shared=True, together=256, align=16)


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.one_of(lengths, short), min_size=2), states, st.booleans())
def test_questions_that_may_share_rows_are_cut_as_they_are_alone(questions: dict[str, Lengths], state: int, packed: bool) -> None:
    plan = plan_stage(questions, TOGETHER, state, packed)
    assert sorted(key for group in plan.groups for key in group.questions) == sorted(questions)
    for group in plan.groups:
        for key in group.questions:
            (alone,) = plan_stage({key: questions[key]}, TOGETHER, state, packed).groups
            assert alone.spans == group.spans
            assert len(alone.splits) == len(group.splits)
        for row in first_draw(StagePlan((group,), plan.options, plan.second_round)):
            tokens, positions = taken(row, questions, TOGETHER)
            assert tokens <= (TOGETHER.longest if packed or len(row.parts) == 1 else TOGETHER.together)
            assert positions <= TOGETHER.window


def test_one_row_serves_the_questions_about_a_short_state() -> None:
    questions = {key: Lengths(10, (3, 4)) for key in "abc"}
    (row,) = first_draw(plan_stage(questions, TOGETHER, 100))
    assert [part.question for part in row.parts] == ["a", "b", "c"]
    rows = first_draw(plan_stage(questions, TOGETHER, 100, alone=["b"]))
    assert sorted(len(row.parts) for row in rows) == [1, 2]


def test_long_rows_are_shared_in_packed_mode_only() -> None:
    questions = {key: Lengths(10, (3, 4)) for key in "abc"}
    assert len(first_draw(plan_stage(questions, TOGETHER, 300))) == 3
    assert len(first_draw(plan_stage(questions, TOGETHER, 300, packed=True))) == 1


def test_questions_fill_a_row_up_to_their_places() -> None:
    questions = {key: Lengths(10, (3, 4)) for key in "abc"}  # 17 tokens each, which take 32
    assert len(first_draw(plan_stage(questions, TOGETHER, 256 - 2 - 96))) == 1
    assert len(first_draw(plan_stage(questions, TOGETHER, 256 - 2 - 95))) == 2


def test_questions_of_like_length_cut_a_long_state_alike() -> None:
    questions = {"a": Lengths(10, (3, 4)), "b": Lengths(17, (3, 6)), "c": Lengths(150, (3, 4))}
    plan = plan_stage(questions, TOGETHER, 3000, packed=True)
    assert [group.questions for group in plan.groups] == [("a", "b"), ("c",)]
