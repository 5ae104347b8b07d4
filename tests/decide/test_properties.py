"""What holds for every request: order, independence, sums, and the same answer to the same request."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oneread import Answer, Choice, ChoiceAnswer, Controls, Decider, Noul, NoulAnswer, Question, Request, Score

from .test_decider import decider

texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
questions = st.one_of(
    st.builds(Noul, texts),
    st.builds(Choice, st.dictionaries(texts, st.none() | texts, min_size=2, max_size=30), texts),
    st.builds(Score, st.lists(texts, min_size=2, max_size=10), texts),
)
requests = st.dictionaries(texts, questions, min_size=1, max_size=8)
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def shares(answer: Answer) -> list[float]:
    match answer:
        case NoulAnswer(noul):
            return [noul, 1 - noul]
        case ChoiceAnswer(probabilities=probabilities):
            return list(probabilities.values())
    return list(answer.probabilities)


@QUICK
@given(requests, st.randoms(use_true_random=False), st.sampled_from(["independent", "packed"]))
def test_ids_come_back_in_the_order_asked_however_questions_are_permuted(
    asked: dict[str, Question], chance: random.Random, mode: Any
) -> None:
    shuffled = list(asked)
    chance.shuffle(shuffled)
    reply = decider().decide(Request("the state", {key: asked[key] for key in shuffled}, Controls(mode=mode)))
    assert list(reply.answers) == shuffled
    for key, answer in reply.answers.items():
        question = asked[key]
        if isinstance(question, Choice) and isinstance(answer, ChoiceAnswer):
            assert list(answer.probabilities) == list(question.options)


@QUICK
@given(requests, st.sampled_from([{}, {"samples": 4}, {"rotations": "auto"}, {"samples": "auto", "auto_threshold": 0.0}]))
def test_an_independent_answer_is_that_of_the_question_asked_alone(asked: dict[str, Question], controls: dict[str, Any]) -> None:
    subject = decider()
    reply = subject.decide(Request("the state", asked, Controls(**controls)))
    for key, question in asked.items():
        single = subject.decide(Request("the state", {"only": question}, Controls(**controls))).answers["only"]
        assert reply.answers[key] == single


@QUICK
@given(
    requests,
    st.sampled_from(["independent", "packed"]),
    st.sampled_from([1, 3, "auto"]),
    st.sampled_from([1, 5, "auto"]),
    st.integers(0, 2**32 - 1),
)
def test_shares_sum_to_one_and_come_again(asked: dict[str, Question], mode: Any, samples: Any, rotations: Any, seed: int) -> None:
    request = Request("the state", asked, Controls(mode=mode, samples=samples, rotations=rotations, seed=seed))
    reply = decider().decide(request)
    assert all(abs(sum(shares(answer)) - 1) < 1e-6 for answer in reply.answers.values())
    assert decider().decide(request).answers == reply.answers


# the reader that is served


@pytest.fixture(scope="module")
def embedded() -> Iterator[Decider]:
    with Decider() as subject:
        yield subject


TICKET = "Everything is down and we have a demo at noon."
THREE: dict[str, Question] = {
    "urgent": Noul("Does the customer need a reply within the hour?"),
    "team": Choice({"billing": None, "outage": "service down", "feature": None}, "Which team owns this?"),
    "tone": Score(["calm", "annoyed", "furious"], "How angry is the customer?"),
}


@pytest.mark.parametrize("times", [1, 5, 15, 40])
def test_a_question_alone_or_among_others_gets_the_same_shares(embedded: Decider, times: int) -> None:
    state = f"{TICKET} {'Nobody picks up the phone, so I write again. ' * times}"
    asked = {
        **THREE,
        **{f"n{i}": Noul(f"Is this about {what}?") for i, what in enumerate(("money", "a demo", "a phone call at night"))},
    }
    together = embedded.ask(state, asked).answers
    backwards = embedded.ask(state, dict(reversed(asked.items()))).answers
    packed = embedded.ask(state, asked, Controls(mode="packed")).answers
    for key, question in asked.items():
        single = shares(embedded.ask(state, {"only": question}).answers["only"])
        assert shares(together[key]) == pytest.approx(single, abs=1e-6)
        assert shares(backwards[key]) == pytest.approx(single, abs=1e-6)
        assert shares(packed[key]) == pytest.approx(single, abs=0.02)  # the same up to roundings that int8 makes larger


async def test_the_same_request_and_seed_get_the_same_answer_whatever_else_is_asked(embedded: Decider) -> None:
    request = Request(TICKET, THREE, Controls(samples=3, rotations=2, seed=7))
    quiet = (await embedded.adecide(request)).answers
    others = [Request(f"{TICKET} {'More of it. ' * n}", THREE, Controls(seed=n)) for n in range(1, 13)]
    busy = await asyncio.gather(*(embedded.adecide(r) for pair in others for r in (pair, request)))
    for reply in busy[1::2]:
        for key in THREE:
            assert shares(reply.answers[key]) == pytest.approx(shares(quiet[key]), abs=1e-4)


def test_another_seed_reads_other_orders_where_order_counts(embedded: Decider) -> None:
    many = Choice(dict.fromkeys(("billing", "outage", "feature", "sales", "legal", "press", "hiring")), "Which team?")
    found = [shares(embedded.ask(TICKET, {"q": many}, Controls(rotations=3, seed=seed)).answers["q"]) for seed in (1, 2, 1)]
    assert found[0] == found[2]
    assert (found[0] != found[1]) is embedded.reader.canvas.ordered
