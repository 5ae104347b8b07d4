"""Plans: every option meets every part of the state, in rows the reader can take, whatever else is asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneread import InvalidRequest
from oneread.planning import Lengths, make_plan, next_rows

lengths = st.builds(
    Lengths,
    window=st.just(512),
    frame=st.integers(4, 256),
    options=st.lists(st.integers(1, 150), min_size=2, max_size=255).map(tuple),
    state=st.integers(0, 8000),
)


@given(lengths)
def test_every_option_meets_every_token_once_in_each_window(question: Lengths) -> None:
    rows = make_plan({"q": question}).rows["q"]
    by_window: dict[tuple[int, int], list[int]] = {}
    for row in rows:
        by_window.setdefault(row.window, []).extend(row.options)
        used = question.frame + sum(question.options[i] for i in row.options) + row.window[1] - row.window[0]
        assert used <= question.window
    assert all(options == list(range(len(question.options))) for options in by_window.values())
    assert {t for a, b in by_window for t in range(a, b)} == set(range(question.state))


@given(st.lists(lengths, min_size=1, max_size=4))
def test_a_question_is_planned_the_same_alone_and_among_others(questions: list[Lengths]) -> None:
    together = make_plan({str(i): q for i, q in enumerate(questions)})
    for i, question in enumerate(questions):
        assert make_plan({str(i): question}).rows[str(i)] == together.rows[str(i)]


def test_what_fits_one_row_is_one_row() -> None:
    plan = make_plan({"q": Lengths(512, 12, (2, 2), 400)})
    assert len(plan.rows["q"]) == 1


def test_rows_are_asked_for_until_all_are_read() -> None:
    plan = make_plan({"a": Lengths(512, 12, (2, 2), 2000), "b": Lengths(512, 12, (40,) * 30, 10)})
    first = next_rows(plan, {})
    assert len(first) == plan.row_count > 5
    read = {row: (0.0,) * len(row.options) for row in first}
    last = first[-1]
    kept = {row: values for row, values in read.items() if row != last}
    assert next_rows(plan, kept) == (last,)
    assert next_rows(plan, read) == ()


@pytest.mark.parametrize(
    ("question", "loc"),
    [
        (Lengths(512, 257, (2, 2), 10), ("questions", "q", "instructions")),
        (Lengths(512, 12, (2, 500), 10), ("questions", "q", "criteria", 1)),
    ],
)
def test_what_no_row_can_hold_is_refused_with_the_limit(question: Lengths, loc: tuple[str | int, ...]) -> None:
    with pytest.raises(InvalidRequest) as caught:
        make_plan({"q": question})
    issue = caught.value.issues[0]
    assert (issue.loc, issue.type) == (loc, "too_many_tokens")
    assert issue.context["actual_tokens"] > issue.context["max_tokens"]
