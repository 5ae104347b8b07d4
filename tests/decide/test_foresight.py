"""What a request may cost is known before it is read: never less than it takes, and no more than its worst case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from oneread import Choice, Decider, InvalidRequest, Noul, Question, Request, Score
from oneread.answers import Answers
from oneread.controls import Asking, Controls
from oneread.engines.base import Reading

from ..fakes import FakeEngine, fake_reader, word_canvas

STATE = "the site is down since noon " * 10
QUESTIONS: dict[str, Question] = {
    "a": Noul("is it urgent", yes="so very much that it has to be answered at once", no="no"),
    "b": Choice({"billing": "money", "outage": "nothing works any more"}, "which team"),
    "c": Score(["calm", "annoyed", "furious"], "how angry"),
}
STAGED = {"b": Asking(depends_on=("a",)), "c": Asking(depends_on=("a", "b"))}


class Watcher:
    """Adds up what is planned."""

    def __init__(self) -> None:
        self.expected: list[int] = []
        self.rounds: list[int] = []

    def foreseen(self, tokens: int) -> None:
        assert not self.rounds
        self.expected.append(tokens)

    def planned(self, rows: int, tokens: int, queued: bool = True) -> None:
        assert self.expected
        self.rounds.append(tokens)

    def read(self, readings: Sequence[Reading]) -> None:
        pass

    def answered(self, answers: Answers) -> None:
        pass


async def watched(request: Request, window: int = 512, sure: bool = True, max_tokens: int = 10**6) -> tuple[int, list[int]]:
    """Tokens foreseen, and those of each round. A reader that is sure answers yes, or the first option."""
    engine = FakeEngine(lambda _, slot: 9.0 * (slot == 0) if sure else 0.0)
    reader = replace(fake_reader(engine), canvas=word_canvas("", window))
    watcher = Watcher()
    with Decider(reader, max_tokens) as decider:
        await decider.adecide(request, watcher)
    (expected,) = watcher.expected
    return expected, watcher.rounds


def request(asking: dict[str, Asking] | None = None, **controls: Any) -> Request:
    return Request(STATE, QUESTIONS, Controls(**controls), asking or {})


async def test_a_single_round_tells_its_cost_itself() -> None:
    expected, rounds = await watched(request())
    assert expected == 0
    assert len(rounds) == 1


async def test_all_stages_are_foreseen_with_the_longest_answers() -> None:
    expected, rounds = await watched(request(STAGED))
    assert len(rounds) == 3
    assert sum(rounds) <= expected <= 1.3 * sum(rounds)


async def test_stages_that_are_skipped_were_foreseen() -> None:
    expected, rounds = await watched(request({"b": Asking(ask_if={"a": (False,)})}))
    full, all_rounds = await watched(request({"b": Asking(ask_if={"a": (True,)})}))
    assert (len(rounds), len(all_rounds)) == (1, 2)
    assert sum(rounds) < sum(all_rounds) <= full == expected


@pytest.mark.parametrize(
    ("controls", "sure"),
    [
        ({"samples": 4, "rotations": 3}, True),
        ({"samples": "auto", "rotations": "auto", "auto_max": 5}, False),
        ({"rotations": 32}, True),
        ({"mode": "packed", "samples": 3}, True),
    ],
)
async def test_draws_and_orders_are_foreseen_as_far_as_there_are_any(controls: dict[str, Any], sure: bool) -> None:
    expected, rounds = await watched(request(**controls), sure=sure)
    assert expected == sum(rounds)


async def test_draws_that_may_be_made_are_foreseen_though_none_is() -> None:
    expected, rounds = await watched(request(samples="auto", auto_max=5))
    assert expected == 2 * sum(rounds)  # a noul, a choice of two and a score have two orders each


async def test_groups_read_one_after_another_are_foreseen() -> None:
    options: dict[str, Any] = {f"option number {i}": None for i in range(20)}
    questions: dict[str, Question] = {f"q{i}": Choice(options, "which") for i in range(6)}
    asked = Request("short", questions, Controls(mode="packed", sequential=True))
    expected, rounds = await watched(asked, window=256)
    assert len(rounds) > 1
    assert sum(rounds) <= expected <= 1.5 * sum(rounds)


async def test_windows_splits_and_their_second_round_are_foreseen() -> None:
    options: dict[str, Any] = {f"option {i}": "word " * 12 for i in range(30)}
    asked = Request("w " * 300, {"q": Choice(options, "which")})
    expected, rounds = await watched(asked, window=256)
    assert len(rounds) == 2
    assert sum(rounds) <= expected <= 2 * sum(rounds)


async def test_no_more_is_foreseen_than_a_request_may_read() -> None:
    expected, _ = await watched(request(samples="auto", auto_max=32), max_tokens=200 * 5)
    assert expected <= 1000


async def test_what_fits_no_row_is_refused_at_its_place() -> None:
    with pytest.raises(InvalidRequest) as raised:
        await watched(Request("x", {"a": Noul("word " * 400)}))
    assert raised.value.issues[0].loc == ("questions", "a", "noul", "instructions")


async def test_answers_too_long_to_stand_before_a_question_may_still_be_others() -> None:
    questions: dict[str, Question] = {"a": Noul("is it", yes="yes", no="word " * 300), "b": Noul("is it so")}
    expected, rounds = await watched(Request("x", questions, Controls(), {"b": Asking(depends_on=("a",))}))
    assert len(rounds) == 2
    assert expected >= rounds[0]
