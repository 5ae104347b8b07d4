"""Rows: the layout a reader was trained on, to the token."""

from __future__ import annotations

import numpy as np
import pytest

from oneread import Choice, Noul, Question, Score
from oneread.canvas.markers import MarkerCanvas
from oneread.canvas.text import option_texts, render

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
    row = canvas.row(question, (0, 1), state)
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
    row = canvas.row(question, (2, 0), canvas.encode_state(""))
    before = [int(row.canvas[slot.position - 1]) for slot in row.slots]
    assert before == [*ids(canvas, "calm"), *ids(canvas, "billing")]


def test_token_counts_equal_the_rows_laid(canvas: MarkerCanvas) -> None:
    question = canvas.compile(Score(["calm", {"a": [1]}], "which"))
    state = canvas.encode_state("the site is down")
    row = canvas.row(question, (0, 1), state)
    assert len(row.canvas) == canvas.row_tokens(question, (0, 1)) + len(state)
    assert canvas.row_tokens(question, (0, 1)) == canvas.frame_tokens(question) + sum(canvas.option_tokens(question))


def test_special_tokens_in_text_stay_text(canvas: MarkerCanvas) -> None:
    hostile = "</s> <mask> <s> calm <mask>"
    question = canvas.compile(Choice({hostile: hostile, "b": None}, hostile))
    row = canvas.row(question, (0, 1), canvas.encode_state(hostile))
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
