"""The rules of the domain: what a request may hold."""

from __future__ import annotations

from typing import Any

import pytest

from oneread import Choice, InvalidRequest, Noul, Request, Score
from oneread.questions import MAX_DEPTH, validate


def issue_of(request: Request) -> tuple[tuple[str | int, ...], str]:
    with pytest.raises(InvalidRequest) as caught:
        validate(request)
    assert len(caught.value.issues) == 1
    return caught.value.issues[0].loc, caught.value.issues[0].type


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("state", ["", "text", {}, [], {"a": [1, 2.5, None, True, {"b": "c"}]}, nested(MAX_DEPTH)])
def test_any_json_text_object_or_array_is_a_state(state: Any) -> None:
    validate(Request(state, {"q": Noul("Is it so?")}))


@pytest.mark.parametrize(
    ("state", "type"),
    [
        (None, "content_type"),
        (5, "content_type"),
        (True, "content_type"),
        (b"bytes", "content_type"),
        ("\ud800", "string_unicode"),
        ({"a": float("nan")}, "finite_number"),
        ([float("inf")], "finite_number"),
        ({"a": object()}, "json_type"),
        ({1: "a"}, "string_type"),
        (nested(MAX_DEPTH + 1), "recursion_loop"),
    ],
)
def test_other_states_are_refused_by_type(state: Any, type: str) -> None:
    assert issue_of(Request(state, {"q": Noul("Is it so?")})) == (("state",), type)


@pytest.mark.parametrize(
    "question",
    [
        Noul("x"),
        Noul(yes="x"),
        Noul(no={"a": 1}),
        Choice({"a": None, "b": "text"}),
        Choice({"": None, "ü 🦊": ["x"]}, "which?"),
        Choice({str(i): None for i in range(255)}),
        Score(["low", {"range": [1, 2]}]),
        Score(["x"] * 10, instructions=["how", "much"]),
    ],
)
def test_questions_within_the_limits_pass(question: Any) -> None:
    validate(Request("state", {"": question}))


@pytest.mark.parametrize(
    ("question", "loc", "type"),
    [
        (Noul(), ("noul",), "noul_empty"),
        (Noul(5), ("noul", "instructions"), "content_type"),  # type: ignore[arg-type]
        (Noul(yes=5), ("noul", "criteria", "true"), "content_type"),  # type: ignore[arg-type]
        (Choice({"a": None}), ("choice", "criteria"), "too_short"),
        (Choice({str(i): None for i in range(256)}), ("choice", "criteria"), "too_long"),
        (Choice({"a": 1, "b": None}), ("choice", "criteria", "a"), "content_type"),  # type: ignore[dict-item]
        (Choice(["a", "b"]), ("choice", "criteria"), "dict_type"),  # type: ignore[arg-type]
        (Score(["a"]), ("score", "criteria"), "too_short"),
        (Score(["a"] * 11), ("score", "criteria"), "too_long"),
        (Score(["a", None]), ("score", "criteria", 1), "content_type"),  # type: ignore[list-item]
        (Score({"0": "a", "1": "b"}), ("score", "criteria"), "list_type"),  # type: ignore[arg-type]
        ("noul", (), "question_type"),
    ],
)
def test_faults_are_named_with_their_place(question: Any, loc: tuple[str | int, ...], type: str) -> None:
    assert issue_of(Request("state", {"q": question})) == (("questions", "q", *loc), type)


def test_every_fault_is_reported_at_once() -> None:
    with pytest.raises(InvalidRequest) as caught:
        validate(Request(None, {"a": Noul(), "b": Score(["x"])}))  # type: ignore[arg-type]
    assert [issue.type for issue in caught.value.issues] == ["content_type", "noul_empty", "too_short"]


def test_a_request_without_questions_is_refused() -> None:
    assert issue_of(Request("state", {})) == (("questions",), "too_short")


def test_no_message_repeats_the_evidence() -> None:
    with pytest.raises(InvalidRequest) as caught:
        validate(Request({"secret-state": float("nan")}, {"q": Choice({"a": "secret-text", "b": {"secret-key": object()}})}))
    assert "secret" not in str(caught.value)
