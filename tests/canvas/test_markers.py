"""Rows: the layout a reader was trained on, to the token."""

from __future__ import annotations

import numpy as np
import pytest

from oneread import Choice, Noul, Question, Score
from oneread.canvas.markers import ALIGN, CompiledQuestion, MarkerCanvas
from oneread.canvas.text import context_text, option_texts, render
from oneread.engines.base import Read

from ..fakes import BOS, MASK, SEP, UNKNOWN, word_canvas

WORDS = "which team owns it billing outage money site down the is no yes : 0 1 calm angry"


@pytest.fixture
def canvas() -> MarkerCanvas:
    return word_canvas(WORDS)


def ids(canvas: MarkerCanvas, text: str) -> list[int]:
    return [int(i) for i in canvas.encode_state(text)]


def test_a_row_is_framed_as_documented(canvas: MarkerCanvas) -> None:
    question = canvas.compile(Choice({"billing": "money", "outage": None}, "which team owns it"))
    state = canvas.encode_state("the site is down")
    row = canvas.row([(question, (0, 1))], state)
    expected = [
        BOS, *ids(canvas, "which team owns it"), SEP,
        *ids(canvas, "billing : money"), MASK, *ids(canvas, "outage"), MASK,
        SEP, *ids(canvas, "the site is down"), SEP,
    ]  # fmt: skip
    assert row.canvas.tolist() == expected
    assert row.canvas.dtype == np.int32
    assert [row.canvas[slot.position] for slot in row.slots] == [MASK, MASK]
    assert len(row.prompt) == 0


def test_slots_follow_the_order_asked_for(canvas: MarkerCanvas) -> None:
    question = canvas.compile(Choice({"billing": None, "outage": None, "calm": None}))
    row = canvas.row([(question, (2, 0))], canvas.encode_state(""))
    before = [int(row.canvas[slot.position - 1]) for slot in row.slots]
    assert before == [*ids(canvas, "calm"), *ids(canvas, "billing")]


def test_token_counts_equal_the_rows_laid(canvas: MarkerCanvas) -> None:
    question = canvas.compile(Score(["calm", {"a": [1]}], "which"))
    state = canvas.encode_state("the site is down")
    row = canvas.row([(question, (0, 1))], state)
    assert len(row.canvas) == canvas.lengths(question).total + canvas.row_form.frame + len(state)


@pytest.fixture
def apart() -> MarkerCanvas:
    return word_canvas(WORDS, layout="apart")


def sees(row: Read) -> np.ndarray:
    """(n, n) bool: whether the token of row i sees the token of column j."""
    assert row.segments is not None
    assert row.sees is not None
    return row.sees[row.segments[:, None], row.segments[None, :]]


def test_options_apart_start_together_and_see_only_themselves_their_frame_and_the_state(apart: MarkerCanvas) -> None:
    question = apart.compile(Choice({"billing": "money", "outage": None}, "which team"))
    row = apart.row([(question, (0, 1))], apart.encode_state("the site"))
    #  <s> which team </s> | billing : money <mask> | outage <mask> | </s> the site </s>
    assert row.positions is not None
    assert row.positions.tolist() == [0, 1, 2, 3, *[4, 5, 6, 7], *[4, 5], *[8, 9, 10, 11]]
    assert [slot.position for slot in row.slots] == [7, 9]
    visible = sees(row)
    frame, first, second, state = [0, 1, 2, 3], [4, 5, 6, 7], [8, 9], [10, 11, 12, 13]
    assert visible[np.ix_(frame, range(14))].all()
    assert visible[np.ix_(state, range(14))].all()
    assert visible[np.ix_(first, frame + first + state)].all()
    assert not visible[np.ix_(first, second)].any()
    assert not visible[np.ix_(second, first)].any()


def test_a_row_apart_is_the_same_set_of_pieces_in_any_order(apart: MarkerCanvas) -> None:
    question = apart.compile(Choice({"billing": "money", "outage": None, "site": "down"}, "which team"))
    state = apart.encode_state("the site")

    def pieces(order: tuple[int, ...]) -> set[tuple[tuple[int, int], ...]]:
        row = apart.row([(question, order)], state)
        assert row.positions is not None
        assert row.segments is not None
        return {
            tuple((int(t), int(p)) for t, p, s in zip(row.canvas, row.positions, row.segments, strict=True) if s == segment)
            for segment in range(5)
        }

    assert pieces((0, 1, 2)) == pieces((2, 0, 1))


def test_packed_questions_do_not_reach_one_another(apart: MarkerCanvas) -> None:
    questions = [apart.compile(Noul("is it down")), apart.compile(Score(["calm", "angry"], "which"))]
    state = apart.encode_state("the site")
    row = apart.row([(q, (0, 1)) for q in questions], state, packed=True)
    reach = np.linalg.matrix_power(sees(row).astype(int), 12) > 0
    first = range(canvas_size(questions[0]))
    second = range(len(first), len(first) + canvas_size(questions[1]))
    assert not reach[np.ix_(first, second)].any()
    assert not reach[np.ix_(second, first)].any()
    assert reach[np.ix_([*first, *second], range(second[-1] + 1, len(row.canvas)))].all()
    assert len(row.canvas) == sum(map(canvas_size, questions)) + len(state) + apart.row_form.frame


def canvas_size(question: CompiledQuestion) -> int:
    return len(question.head) + 2 + sum(len(option) + 1 for option in question.options)


def test_a_state_that_stands_first_sees_only_itself_and_serves_every_question() -> None:
    canvas = word_canvas(WORDS, layout="state_first")
    state = canvas.encode_state("the site is down")
    questions = [canvas.compile(Choice({"billing": "money", "outage": None}, "which team")), canvas.compile(Noul("is it calm"))]
    row = canvas.row([(q, (0, 1)) for q in questions], state)
    assert row.positions is not None
    assert row.sees is not None
    assert row.segments is not None
    assert row.canvas[:6].tolist() == [BOS, *ids(canvas, "the site is down"), SEP]
    sees = row.sees[row.segments][:, row.segments]
    assert sees[:, :6].all()
    assert not sees[:6, 6:].any()
    at = 6
    for question in questions:
        at = -(-(at - 6) // ALIGN) * ALIGN + 6  # what fills the gap is seen by itself alone
        alone = canvas.row([(question, (0, 1))], state)
        assert alone.positions is not None
        assert alone.sees is not None
        assert alone.segments is not None
        n = len(alone.canvas) - 6
        assert row.canvas[at : at + n].tolist() == alone.canvas[6:].tolist()
        assert row.positions[at : at + n].tolist() == alone.positions[6:].tolist()
        alone_sees = alone.sees[alone.segments][:, alone.segments]
        assert (sees[at : at + n, at : at + n] == alone_sees[6:, 6:]).all()
        assert not sees[at : at + n, 6:at].any()
        assert not sees[6:at, at:].any()
        assert not sees[at : at + n, at + n :].any()
        at += n
    assert at == len(row.canvas)


def test_packed_questions_share_one_state(canvas: MarkerCanvas) -> None:
    questions = [canvas.compile(Noul("is it down")), canvas.compile(Score(["calm", "angry"], "which"))]
    state = canvas.encode_state("the site")
    row = canvas.row([(q, (0, 1)) for q in questions], state, packed=True)
    assert len(row.canvas) == sum(canvas.lengths(q).total for q in questions) + len(state) + canvas.row_form.frame
    assert row.canvas.tolist().count(BOS) == 1
    assert len(row.slots) == 4


def test_context_stands_before_the_instructions(canvas: MarkerCanvas) -> None:
    compiled = canvas.compile(Noul("is it"), "the site")
    assert compiled.head.tolist() == ids(canvas, "the site is it")
    assert compiled is not canvas.compile(Noul("is it"))


def test_special_tokens_in_text_stay_text(canvas: MarkerCanvas) -> None:
    hostile = "</s> <mask> <s> calm <mask>"
    question = canvas.compile(Choice({hostile: hostile, "b": None}, hostile))
    row = canvas.row([(question, (0, 1))], canvas.encode_state(hostile))
    assert row.canvas.tolist().count(MASK) == 2
    assert row.canvas.tolist().count(SEP) == 3
    assert row.canvas.tolist().count(BOS) == 1
    assert UNKNOWN in row.canvas


def test_a_question_is_compiled_once(canvas: MarkerCanvas) -> None:
    assert canvas.compile(Noul("is it")) is canvas.compile(Noul("is it"))
    assert canvas.compile(Noul("is it")) is not canvas.compile(Noul("is"))


def test_the_cache_is_bounded_by_tokens() -> None:
    canvas = word_canvas(WORDS)
    canvas._cache_limit = 100
    for i in range(200):
        canvas.compile(Noul(f"is it {i} " * 4))
    assert canvas._cached_tokens <= 100
    assert len(canvas._cache) < 20


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Choice({"a": None, "b": None}), Choice({"b": None, "a": None})),
        (Noul("a", yes="b"), Noul("a", no="b")),
        (Score(["a", "b"]), Choice({"0": "a", "1": "b"})),
        (Noul({"a": 1}), Noul('{"a": 1}')),
        (Noul({"a": 1}), Noul({"a": True})),
        (Noul({"a": 1}), Noul({"a": 1.0})),
        (Choice({"a": None, "b": None}), Choice({"a": "null", "b": None})),
    ],
)
def test_different_questions_never_share_a_cache_entry(canvas: MarkerCanvas, a: Question, b: Question) -> None:
    assert canvas.compile(a) is not canvas.compile(b)


def test_content_is_rendered_as_documented() -> None:
    assert render("as it is") == "as it is"
    assert render(None) == ""
    assert render({"from": "Ann", "count": 3, "ok": True, "none": None}) == "from: Ann\ncount: 3\nok: true\nnone: null"
    assert render({"a": {"b": ["ü"]}}) == '{"a": {"b": ["ü"]}}'
    assert render(["a", 1]) == '["a", 1]'
    assert render({}) == "{}"


def test_options_are_named_as_documented() -> None:
    assert option_texts(Noul("q", yes="the site is down")) == ("yes: the site is down", "no")
    assert option_texts(Choice({"check_order": None, "b": {"k": "v"}})) == ("check order", "b: k: v")
    assert option_texts(Score(["calm", "angry"])) == ("0: calm", "1: angry")


def test_context_tells_what_earlier_stages_answered() -> None:
    given = [
        (Noul("Is it down?"), True),
        (Choice({"lost_card": "the card is gone", "b": None}, "What?"), "lost_card"),
        (Score(["low", "high"]), 1),
    ]
    assert context_text("Shared.", given) == (
        "Shared.\nKnown: Is it down? yes\nKnown: What? lost card: the card is gone\nKnown:  1: high"
    )
    assert context_text(None, []) == ""
