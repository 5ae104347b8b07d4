"""Stages, packed rows, draws, abstention and diagnostics, with an engine that shows what it was given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from oneread import Asking, Choice, ChoiceAnswer, Controls, InvalidRequest, Noul, NoulAnswer, Question, Request, Score
from oneread.answers import Abstention, Skipped
from oneread.engines.base import Read

from ..fakes import MASK, SEP, FakeEngine
from .test_decider import MIXED, decider

YES = FakeEngine(lambda read, slot: 3.0 if slot == 0 else 0.0)


def request(questions: dict[str, Question], asking: dict[str, Asking] | None = None, **controls: Any) -> Request:
    return Request("the site is down", questions, Controls(**controls), asking or {})


def test_a_later_stage_sees_the_earlier_answer() -> None:
    engine = FakeEngine(lambda read, slot: 3.0 if slot == 0 else 0.0)
    subject = decider(engine, "Known : is it down yes no which team")
    questions: dict[str, Question] = {"team": Choice({"a": None, "b": None}, "which team"), "down": Noul("is it down")}
    reply = subject.decide(request(questions, {"team": Asking(depends_on=("down",))}))
    assert list(reply.answers) == ["team", "down"]
    first, second = engine.reads
    told = subject.reader.canvas.encode_state("Known: is it down yes which team").tolist()
    assert second.canvas.tolist()[1 : 1 + len(told)] == told
    assert first.canvas.tolist()[1:4] == subject.reader.canvas.encode_state("is it down").tolist()


def test_a_question_is_asked_or_skipped_by_an_earlier_answer() -> None:
    questions: dict[str, Question] = {"a": Noul("is it"), "b": Noul("and"), "c": Noul("then"), "d": Noul("last")}
    asking = {"b": Asking(ask_if={"a": (True,)}), "c": Asking(ask_if={"a": (False,)}), "d": Asking(ask_if={"c": (True,)})}
    reply = decider(YES).decide(request(questions, asking))
    assert list(reply.answers) == ["a", "b"]
    assert reply.skipped == {"c": Skipped("a", True, (False,)), "d": Skipped("c", None, (True,))}


def test_only_what_is_asked_for_is_answered() -> None:
    engine = FakeEngine()
    reply = decider(engine).decide(request(MIXED, {"anger": Asking(depends_on=("urgent",))}, ask=("anger",)))
    assert list(reply.answers) == ["urgent", "anger"]
    assert len(engine.reads) == 2


def test_packed_questions_share_a_row() -> None:
    engine = FakeEngine()
    reply = decider(engine).decide(request(MIXED, mode="packed", diagnostics=True))
    assert len(engine.reads) == 1
    assert len(engine.reads[0].slots) == 2 + 3 + 3
    assert reply.diagnostics is not None
    assert reply.diagnostics.chunks == ((tuple(MIXED),),)
    assert set(reply.answers) == set(MIXED)


def test_packed_scores_reach_their_own_questions() -> None:
    engine = FakeEngine(lambda read, slot: [3, 0, 0, 5, 0, 0, 0, 7][slot])
    reply = decider(engine).decide(request(MIXED, mode="packed"))
    assert reply.answers["urgent"].noul > 0.9  # type: ignore[union-attr]
    assert reply.answers["team 🦊"].choice == "outage"  # type: ignore[union-attr]
    assert reply.answers["anger"].score > 1.9  # type: ignore[union-attr]


def test_a_question_alone_gets_its_own_row_in_packed_mode() -> None:
    engine = FakeEngine()
    decider(engine).decide(request(MIXED, {"team 🦊": Asking(alone=True)}, mode="packed"))
    assert sorted(len(read.slots) for read in engine.reads) == [3, 5]


def test_sequential_groups_see_the_answers_before_them() -> None:
    engine = FakeEngine()
    questions: dict[str, Question] = {"a": Noul("is it"), "b": Noul("is it down"), "c": Noul("and then")}
    subject = decider(engine, "Known : is it yes no down and then")
    subject.decide(request(questions, {key: Asking(alone=True) for key in questions}, mode="packed", sequential=True))
    heads = [read.canvas[1 : read.canvas.tolist().index(SEP)].tolist() for read in engine.reads]
    known = subject.reader.canvas.encode_state("Known:").tolist()
    assert heads[0] == subject.reader.canvas.encode_state("is it").tolist()
    assert heads[1][:2] == heads[2][:2] == known
    assert [heads[i].count(known[0]) for i in range(3)] == [0, 1, 2]


def test_more_draws_read_the_options_in_other_orders_and_average() -> None:
    engine = FakeEngine(lambda read, slot: 2.0 if slot == 0 else 0.0)  # prefers whatever comes first
    question = Choice({"a": None, "b": None, "c": None}, "which")
    subject = decider(engine, "a b c which")
    once = subject.decide(request({"q": question})).answers["q"]
    reply = subject.decide(request({"q": question}, samples=3, diagnostics=True))
    averaged = reply.answers["q"]
    assert isinstance(once, ChoiceAnswer)
    assert isinstance(averaged, ChoiceAnswer)
    assert once.probabilities["a"] > 0.7
    assert list(averaged.probabilities.values()) == pytest.approx([1 / 3] * 3)
    assert reply.diagnostics is not None
    told = reply.diagnostics.questions["q"]
    assert (len(told.draws), told.orders, told.agreement) == (3, 3, pytest.approx(1 / 3))
    assert told.stderr == pytest.approx(np.std([d[0] for d in told.draws], ddof=1) / np.sqrt(3))


def test_draws_stop_where_orders_repeat() -> None:
    engine = FakeEngine()
    decider(engine).decide(request({"n": Noul("is it"), "s": Score(["a", "b", "c"])}, samples=32))
    assert len(engine.reads) == 4


def test_an_order_that_cannot_matter_is_not_read_again() -> None:
    engine = FakeEngine()
    reply = decider(engine, layout="apart").decide(request(MIXED, samples=8, rotations=4, diagnostics=True))
    assert len(engine.reads) == len(MIXED)
    assert reply.diagnostics is not None
    assert all(told.orders == 1 for told in reply.diagnostics.questions.values())


def test_only_uncertain_questions_are_read_again() -> None:
    def sure_of_two_options(read: Read, slot: int) -> float:
        return 9.0 if slot == 0 and len(read.slots) == 2 else 0.0

    engine = FakeEngine(sure_of_two_options)
    reply = decider(engine).decide(request(MIXED, samples="auto", auto_max=3, diagnostics=True))
    assert reply.diagnostics is not None
    draws = {key: (len(told.draws), told.extended) for key, told in reply.diagnostics.questions.items()}
    assert draws == {"urgent": (1, False), "team 🦊": (3, True), "anger": (2, True)}
    assert len(engine.reads) == 3 + 2 + 1


def test_rotations_follow_uncertainty_or_many_options() -> None:
    engine = FakeEngine(lambda read, slot: 30.0 if slot == 0 else 0.0)
    many = Choice({str(i): None for i in range(25)})
    few = Choice({"a": None, "b": None})
    decider(engine).decide(request({"many": many, "few": few}, rotations="auto"))
    assert sorted(len(read.slots) for read in engine.reads) == [2, 25, 25, 25, 25]


def test_the_same_seed_gives_the_same_answer_and_another_seed_other_orders() -> None:
    question: dict[str, Question] = {"q": Choice({str(i): None for i in range(30)})}
    words = " ".join(map(str, range(30)))

    def ask(seed: int) -> Any:
        return decider(words=words).decide(request(question, samples=3, seed=seed)).answers["q"]

    assert ask(1) == ask(1) != ask(2)


def test_split_options_meet_again_in_a_second_round() -> None:
    engine = FakeEngine(lambda read, slot: float(read.canvas[read.slots[slot].position - 1]) / 10)
    words = " ".join(f"o{i}" for i in range(255))
    reply = decider(engine, words).decide(
        request({"q": Choice({f"filler words here o{i}": None for i in range(255)})}, diagnostics=True)
    )
    answer = reply.answers["q"]
    assert isinstance(answer, ChoiceAnswer)
    assert answer.choice == "filler words here o254"
    assert sum(answer.probabilities.values()) == pytest.approx(1, abs=1e-9)
    assert len(engine.reads[-1].slots) == 8
    assert reply.diagnostics is not None
    told = reply.diagnostics.questions["q"]
    assert told.second_round
    assert told.splits == len(engine.reads) - 1


def test_a_low_confidence_is_an_abstention_beside_the_answer() -> None:
    engine = FakeEngine(lambda read, slot: 1.0 if slot == 0 else 0.0)
    asking = {"a": Asking(abstain_below=0.6), "b": Asking(abstain_below=0.4)}
    reply = decider(engine).decide(request({"a": Noul("is it"), "b": Noul("and")}, asking, confidence="typesafe"))
    p = 1 / (1 + np.exp(-1))
    assert reply.abstained == {"a": Abstention("typesafe", pytest.approx(2 * p - 1), 0.6)}
    assert isinstance(reply.answers["a"], NoulAnswer)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("typesafe", (0.7 - 1 / 3) * 1.5),
        ("top", 0.7),
        ("margin", 0.5),
        ("entropy", 1 + (0.7 * np.log(0.7) + 0.2 * np.log(0.2) + 0.1 * np.log(0.1)) / np.log(3)),
    ],
)
def test_confidence_is_the_formula_asked_for(name: Any, expected: float) -> None:
    engine = FakeEngine(lambda read, slot: float(np.log([0.7, 0.2, 0.1][slot])))
    question = Choice({"a": None, "b": None, "c": None})
    answer = decider(engine).decide(request({"q": question}, confidence=name)).answers["q"]
    assert answer.confidence == pytest.approx(expected)  # type: ignore[union-attr]


def test_diagnostics_tell_how_it_was_read() -> None:
    subject = decider(temperature_noul := FakeEngine(), noul=2.0)
    reply = subject.decide(request(MIXED, {"anger": Asking(depends_on=("urgent",))}, diagnostics=True))
    told = reply.diagnostics
    assert told is not None
    assert told.stages == (("urgent", "team 🦊"), ("anger",))
    assert (told.method, told.confidence, told.calibration) == ("markers", "typesafe", None)
    assert told.rows == len(temperature_noul.reads) == 3
    assert told.tokens_reused == 0
    assert set(told.timing_ms) == {"plan", "read", "total"}
    assert told.timing_ms["total"] >= told.timing_ms["read"] >= 0
    urgent = told.questions["urgent"]
    assert (urgent.temperature, urgent.windows, urgent.splits, urgent.label_mass) == (2.0, 1, 1, None)
    p = reply.answers["urgent"].noul  # type: ignore[union-attr]
    assert urgent.entropy == pytest.approx(-p * np.log(p) - (1 - p) * np.log(1 - p))


def test_diagnostics_are_off_unless_asked_for() -> None:
    assert decider().decide(request(MIXED)).diagnostics is None


def test_shared_instructions_stand_before_each_question() -> None:
    engine = FakeEngine()
    subject = decider(engine, "mind the rules is it urgent")
    subject.decide(request({"a": Noul("is it urgent")}, instructions="mind the rules"))
    told = subject.reader.canvas.encode_state("mind the rules is it urgent").tolist()
    assert engine.reads[0].canvas.tolist()[1 : 1 + len(told)] == told


@pytest.mark.parametrize(
    ("controls", "name"),
    [
        ({"think": 5}, "think"),
        ({"steps": 2}, "steps"),
        ({"confidence": "mass"}, "confidence"),
        ({"projection": "full"}, "projection"),
        ({"canvas_length": 32}, "canvas_length"),
        ({"chunk_rows": 8}, "chunk_rows"),
        ({"image_tokens": 560}, "image_tokens"),
    ],
)
def test_what_the_reader_cannot_do_is_refused_by_name(controls: dict[str, Any], name: str) -> None:
    engine = FakeEngine()
    with pytest.raises(InvalidRequest) as caught:
        decider(engine).decide(request(MIXED, **controls))
    assert [(issue.loc, issue.type) for issue in caught.value.issues] == [((name,), "unsupported_by_reader")]
    assert engine.reads == []


@pytest.mark.parametrize(
    ("controls", "name", "type"),
    [
        ({"samples": 0}, "samples", "out_of_range"),
        ({"samples": 33}, "samples", "out_of_range"),
        ({"samples": True}, "samples", "out_of_range"),
        ({"samples": "many"}, "samples", "out_of_range"),
        ({"rotations": 33}, "rotations", "out_of_range"),
        ({"auto_max": 33}, "auto_max", "out_of_range"),
        ({"auto_threshold": -1}, "auto_threshold", "out_of_range"),
        ({"auto_threshold": float("nan")}, "auto_threshold", "out_of_range"),
        ({"seed": -1}, "seed", "out_of_range"),
        ({"seed": 2**32}, "seed", "out_of_range"),
        ({"steps": 9}, "steps", "out_of_range"),
        ({"think": 4097}, "think", "out_of_range"),
        ({"mode": "fast"}, "mode", "literal_error"),
        ({"projection": "half"}, "projection", "literal_error"),
        ({"confidence": "high"}, "confidence", "literal_error"),
        ({"canvas_length": 20}, "canvas_length", "multiple_of"),
        ({"canvas_length": 512}, "canvas_length", "out_of_range"),
        ({"chunk_rows": 7}, "chunk_rows", "out_of_range"),
        ({"image_tokens": 100}, "image_tokens", "literal_error"),
        ({"image_tokens": 280.0}, "image_tokens", "literal_error"),
        ({"ask": ()}, "ask", "too_short"),
        ({"instructions": 5}, "instructions", "content_type"),
    ],
)
def test_controls_outside_their_range_are_refused(controls: dict[str, Any], name: str, type: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        decider().decide(request(MIXED, **controls))
    assert [(issue.loc, issue.type) for issue in caught.value.issues] == [((name,), type)]


def test_every_marker_of_a_packed_row_is_a_slot() -> None:
    engine = FakeEngine()
    decider(engine, layout="apart").decide(request(MIXED, mode="packed"))
    (read,) = engine.reads
    assert [slot.position for slot in read.slots] == np.flatnonzero(read.canvas == MASK).tolist()


def test_orders_that_disagree_on_the_winner_are_told() -> None:
    """Where the first place wins, each order of two options has another winner."""
    asked: dict[str, Question] = {"q": Choice({"a": None, "b": None}, "which")}
    told = decider(YES).decide(request(asked, rotations=2, diagnostics=True)).diagnostics
    assert told is not None
    assert told.questions["q"].orders_agree is False
    assert told.questions["q"].agreement == 0.5
    plain = decider(YES).decide(request(asked, diagnostics=True)).diagnostics
    assert plain is not None
    assert plain.questions["q"].orders_agree is None


def test_the_widths_of_rows_are_told() -> None:
    engine = FakeEngine()
    told = decider(engine).decide(request(MIXED, diagnostics=True)).diagnostics
    assert told is not None
    assert told.widths == tuple(sorted({len(read.canvas) for read in engine.reads}))


def test_a_question_with_a_row_to_itself_is_read_as_by_itself() -> None:
    engine = FakeEngine()
    subject = decider(engine, layout="apart")
    subject.decide(request({"a": Noul("is it")}, mode="packed"))
    subject.decide(
        request({"a": Noul("is it"), "b": Noul("and")}, {"a": Asking(alone=True), "b": Asking(alone=True)}, mode="packed")
    )
    subject.decide(request({"a": Noul("is it")}))
    seen = [read.sees for read in engine.reads]
    assert all(sees is not None and seen[-1] is not None and np.array_equal(sees, seen[-1]) for sees in seen)
