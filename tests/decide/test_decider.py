"""The one path, with an engine that shows what it was given."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from oneread import Choice, ChoiceAnswer, Decider, InvalidRequest, Noul, NoulAnswer, Question, Request, Score, ScoreAnswer
from oneread.calibration.temperature import Temperatures
from oneread.canvas.markers import Layout
from oneread.engines.base import Read

from ..fakes import FakeEngine, fake_reader, word_canvas

MIXED: dict[str, Question] = {
    "urgent": Noul("is it urgent"),
    "team 🦊": Choice({"billing": "money", "outage": None, "": None}, "which team"),
    "anger": Score(["calm", {"level": "annoyed"}, "furious"], "how angry"),
}


def decider(
    engine: FakeEngine | None = None, words: str = "", layout: Layout = "full", window: int = 512, **temperatures: Any
) -> Decider:
    reader = replace(
        fake_reader(engine),
        canvas=word_canvas(words, window, layout),
        temperatures=Temperatures.parse({"noul": 1, "choice": 1, "score": 1, **temperatures}),
    )
    return Decider(reader)


def test_answers_come_back_typed_under_their_ids_in_request_order() -> None:
    reply = decider().ask("the site is down", MIXED)
    assert list(reply.answers) == list(MIXED)
    assert reply.model == "fake-1"
    noul, choice, score = reply.answers.values()
    assert isinstance(noul, NoulAnswer)
    assert isinstance(choice, ChoiceAnswer)
    assert list(choice.probabilities) == ["billing", "outage", ""]
    assert choice.choice == max(choice.probabilities, key=choice.probabilities.__getitem__)
    assert isinstance(score, ScoreAnswer)
    assert score.legend == ("calm", {"level": "annoyed"}, "furious")
    assert score.score == pytest.approx(sum(i * p for i, p in enumerate(score.probabilities)))


def test_noul_is_the_probability_of_yes() -> None:
    engine = FakeEngine(lambda read, slot: 2.0 if slot == 0 else 0.0)  # yes is laid first
    answer = decider(engine).ask("x", {"q": Noul("is it")}).answers["q"]
    assert isinstance(answer, NoulAnswer)
    assert answer.noul == pytest.approx(1 / (1 + np.exp(-2)))


def test_temperature_of_the_type_is_applied_once() -> None:
    engine = FakeEngine(lambda read, slot: 2.0 if slot == 0 else 0.0)
    answer = decider(engine, noul=4.0).ask("x", {"q": Noul("is it")}).answers["q"]
    assert isinstance(answer, NoulAnswer)
    assert answer.noul == pytest.approx(1 / (1 + np.exp(-0.5)))


def test_ids_never_reach_the_reader() -> None:
    engine = FakeEngine()
    subject = decider(engine, "zebra is it urgent")
    zebra = int(subject.reader.canvas.encode_state("zebra")[0])
    subject.ask("is it", {"zebra": Noul("urgent")})
    assert all(zebra not in read.canvas for read in engine.reads)


def test_other_questions_and_their_order_change_no_answer() -> None:
    subject = decider()
    together = subject.ask("the site is down", MIXED).answers
    backwards = subject.ask("the site is down", dict(reversed(MIXED.items()))).answers
    for key, question in MIXED.items():
        assert subject.ask("the site is down", {"other id": question}).answers["other id"] == together[key] == backwards[key]


def test_all_rows_of_a_request_are_handed_over_at_once() -> None:
    engine = FakeEngine()
    decider(engine).ask("x", MIXED)
    assert len(engine.reads) == len(MIXED)


def test_usage_counts_every_token_of_every_row_and_every_slot() -> None:
    engine = FakeEngine()
    reply = decider(engine).ask("word " * 3000, MIXED)
    assert reply.usage.input_tokens == sum(read.tokens for read in engine.reads) > 3 * 3000
    assert reply.usage.output_tokens == sum(len(read.slots) for read in engine.reads)


def test_a_long_state_is_read_whole() -> None:
    engine = FakeEngine()
    words = " ".join(f"w{i}" for i in range(3000))
    subject = decider(engine, words)
    subject.ask(words, {"q": Noul("is it")})
    seen = {int(token) for read in engine.reads for token in read.canvas}
    assert set(subject.reader.canvas.encode_state(words).tolist()) <= seen
    assert all(read.tokens <= 512 for read in engine.reads)


def test_many_long_options_are_spread_over_rows_and_none_is_lost() -> None:
    engine = FakeEngine(lambda read, slot: float(read.canvas[read.slots[slot].position - 1]))
    words = " ".join(f"o{i}" for i in range(255))
    subject = decider(engine, words)
    answer = subject.ask("x", {"q": Choice({f"filler words here o{i}": None for i in range(255)})}).answers["q"]
    assert isinstance(answer, ChoiceAnswer)
    assert len(engine.reads) > 1
    assert answer.choice == "filler words here o254"
    assert sum(answer.probabilities.values()) == pytest.approx(1, abs=1e-9)


def test_a_request_over_the_token_limit_is_refused_before_it_is_read() -> None:
    engine = FakeEngine()
    subject = decider(engine)
    subject.max_tokens = 1000
    with pytest.raises(InvalidRequest, match="more than 1000"):
        subject.ask("word " * 2000, {"q": Noul("is it")})
    assert engine.reads == []


@pytest.mark.parametrize(
    ("question", "loc"),
    [
        (Noul("w " * 300), ("questions", "q", "noul", "instructions")),
        (Noul("w", no="w " * 600), ("questions", "q", "noul", "criteria", "false")),
        (Choice({"a": None, "b": "w " * 600}), ("questions", "q", "choice", "criteria", "b")),
        (Score(["a", "w " * 600]), ("questions", "q", "score", "criteria", 1)),
    ],
)
def test_texts_that_fit_no_row_are_refused_at_their_place(question: Question, loc: tuple[Any, ...]) -> None:
    with pytest.raises(InvalidRequest) as caught:
        decider().ask("x", {"q": question})
    assert caught.value.issues[0].loc == loc


async def test_sync_and_async_give_the_same_answers() -> None:
    subject = decider()
    request = Request("the site is down", MIXED)
    assert await subject.adecide(request) == subject.decide(request)


async def test_cancelling_gives_up_the_reads() -> None:
    future: Future[Any] = Future()
    handed_over = asyncio.Event()

    class Stuck(FakeEngine):
        def read(self, reads: Any) -> Any:
            handed_over.set()
            return future

    task = asyncio.create_task(decider(Stuck()).adecide(Request("x", MIXED)))
    await handed_over.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert future.cancelled()


def test_a_decider_closes_its_engine() -> None:
    engine = FakeEngine()
    with decider(engine):
        pass
    assert engine.closed


def test_reads_hold_no_segments_when_everything_sees_everything() -> None:
    engine = FakeEngine()
    decider(engine).ask("x", MIXED)
    assert all(isinstance(read, Read) and read.segments is None for read in engine.reads)
