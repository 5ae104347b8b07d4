"""Who is let in, who is told to come back and when, deadlines, and limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import httpx
import numpy as np
import pytest

from oneread import Decider
from oneread.controls import Controls
from oneread.engines.base import Capabilities, Read, Reading
from oneread.engines.batcher import Batcher
from oneread.engines.load import Load
from oneread.engines.turns import Errand, errand
from oneread.errors import InvalidRequest
from oneread.questions import Choice, Noul, Request
from oneread.serving.admission import Admission
from oneread.serving.call import Call, Follow
from oneread.serving.failures import Refused
from oneread.serving.limits import Limits, check
from tests.fakes import fake_reader

from .bad_bodies import NOUL, one
from .fakes import FakeDecider, FakeReader, Untold


class Engine(Untold):
    """An engine with a backlog of one call, all of it due before whatever comes."""

    def __init__(self, waiting: int = 0, rate: float | None = 1000.0) -> None:
        self.waiting, self.rate = waiting, rate

    def load(self) -> Load:
        return Load(int(self.waiting > 0), self.waiting // 10, self.waiting, self.rate, 0.0, 0)

    def excess(self, tokens: int, due: float, share: float, others: Iterable[Errand] = ()) -> float:
        if self.rate is None:
            return 0.0
        wanted = self.waiting + tokens + sum(other.later for other in others)
        return max(0.0, wanted - share * self.rate * max(0.0, due - time.monotonic()))


def soon() -> float:
    return time.monotonic() + 10


def admission(engine: Any, **limits: Any) -> Admission:
    made = Admission(Limits(**limits))
    made.serve(engine)
    return made


def admit(admission: Admission, tokens: int, seconds: float = 10.0) -> None:
    with admission.errand(time.monotonic() + seconds) as work:
        admission.admit(work, tokens)


def refusal(admission: Admission, tokens: int, seconds: float = 10.0) -> Refused:
    with pytest.raises(Refused) as raised:
        admit(admission, tokens, seconds)
    return raised.value


def test_work_that_can_be_done_in_time_is_let_in() -> None:
    admit(admission(Engine()), 4900)  # half of what 10 s hold
    admit(admission(Engine(waiting=2900)), 2000)  # three tenths wait
    admit(admission(Engine(waiting=1_000_000, rate=None)), 10**6)
    admit(admission(object()), 10**9, 0.0)


def test_work_that_waits_too_long_is_refused_with_the_time_to_wait() -> None:
    for waiting, tokens, over in ((8000, 1000, 5.0), (2900, 2600, 0.5)):
        failure = refusal(admission(Engine(waiting)), tokens).failure
        assert (failure.status, failure.kind) == (529, "overloaded")
        wait = int(failure.headers["retry-after-ms"])
        first = 1000 * (over + tokens / 1000)  # what is too much, and the caller's own turn
        assert first - 1 <= wait <= (first + 100) * 1.3
        assert int(failure.headers["retry-after"]) == -(-wait // 1000)


def test_callers_who_are_refused_together_come_back_one_after_the_other() -> None:
    house = admission(Engine(waiting=4000))
    waits = [int(refusal(house, 500).failure.headers["retry-after-ms"]) for _ in range(200)]
    assert waits[0] < 2200
    assert 5000 < waits[9] < 9000
    assert max(waits) < 25_000


def test_work_too_long_for_its_deadline_is_refused_whatever_waits() -> None:
    failure = refusal(admission(Engine(waiting=10)), 11_000).failure
    assert (failure.status, failure.kind) == (504, "timeout")
    assert "11.0 s" in failure.message
    assert "x-request-timeout-ms" in failure.message
    assert refusal(admission(Engine()), 5100).failure.status == 504  # alone, and yet not surely in time


def test_what_was_let_in_counts_until_it_is_answered_though_none_of_it_is_with_the_engine() -> None:
    house = admission(Engine())
    with house.errand(soon()) as staged:
        house.admit(staged, 4000)
        assert refusal(house, 500).failure.status == 529
        staged.queued(1500)
        admit(house, 500)
    admit(house, 4500)


def test_the_engine_is_told_what_its_reads_belong_to() -> None:
    house = admission(Engine())
    assert errand.get() is None
    with house.errand(soon()) as work:
        assert errand.get() is work
    assert errand.get() is None


def test_what_the_engine_does_not_see_counts_until_it_is_done() -> None:
    let_in: list[int] = []
    work = Errand()

    def admit(tokens: int) -> None:
        let_in.append(tokens)
        work.later = tokens

    follow = Follow(Call("id", 0.0), work, admit)
    follow.foreseen(1000)
    follow.planned(1, 600, queued=False)  # a thought
    assert (let_in, work.later) == ([1000], 1000)
    follow.read(())
    assert work.later == 400
    follow.planned(2, 300)
    assert work.later == 100
    follow.read(())
    assert work.later == 100


class Watched:
    """A model that looks, while it reads, at what its engine was told of the reads."""

    capabilities = Capabilities("marker", 512)

    def __init__(self) -> None:
        self.batcher = Batcher(self, 4096)
        self.seen: list[tuple[float, int]] = []

    def bucket(self, read: Read) -> int:
        return 64

    def forward(self, reads: Sequence[Read]) -> list[Reading]:
        self.seen += [(call.errand.due - time.monotonic(), call.errand.later) for call in self.batcher._turns.live()]
        return [Reading(np.zeros(len(read.slots), np.float32)) for read in reads]

    def close(self) -> None:
        pass


async def test_from_the_route_down_to_the_engine_it_is_known_what_is_due_when_and_what_is_to_come(connect: Any) -> None:
    model = Watched()
    reader = replace(fake_reader(), engine=model.batcher)
    body = {
        "state": "x",
        "questions": {"a": NOUL, "b": {**NOUL, "depends_on": ["a"]}},
    }
    with Decider(reader) as decider:
        got = await connect(decider).post("/v1/systemone", json=body, headers={"x-request-timeout-ms": "3000"})
        assert got.status_code == 200, got.text
        (first_due, to_come), (second_due, nothing) = model.seen
        assert 0 < second_due < first_due < 3
        assert to_come >= got.json()["usage"]["input_tokens"] // 3 > 0
        assert nothing <= 2
        assert model.batcher.excess(0, time.monotonic() + 1, 1.0) == 0


def test_the_time_answers_take_after_their_last_read_is_kept_free() -> None:
    house = admission(Engine())
    house.answered(4.0)
    assert refusal(house, 3500).failure.status == 504
    for _ in range(200):
        house.answered(0.0)
    admit(house, 4500)


def test_a_text_to_be_written_is_work_until_it_is_there() -> None:
    house = admission(Engine())
    with house.admit_generation(soon(), prompt=1000, most=100, passes=30.0) as work:
        assert work.later == 4000
        assert refusal(house, 500).failure.status == 529
        work.queued(3000)
        admit(house, 500)
    with pytest.raises(Refused) as raised, house.admit_generation(soon(), prompt=1000, most=1000, passes=30.0):
        pass
    assert raised.value.failure.status == 504


def test_a_full_queue_is_refused_unless_it_is_empty() -> None:
    assert refusal(admission(Engine(waiting=900), queue_tokens=1000), 200).failure.status == 529
    admit(admission(Engine(), queue_tokens=1000), 2000)


def test_nobody_is_told_to_wait_longer_than_clients_do() -> None:
    failure = refusal(admission(Engine(waiting=10**9), queue_tokens=10), 1, 1.0).failure
    assert int(failure.headers["retry-after"]) < 30
    failure = refusal(admission(Engine(waiting=5, rate=None), queue_tokens=5), 1, 1.0).failure
    assert int(failure.headers["retry-after"]) < 30


def test_places_are_given_back() -> None:
    house = admission(Engine(), requests=2)
    with house.place(soon()), house.place(soon()):
        with pytest.raises(Refused) as raised, house.place(soon()):
            pass
        assert raised.value.failure.status == 529
        assert house.full
    with house.place(soon()):
        assert house.inside == 1


async def test_beyond_the_last_place_requests_get_a_typed_529_and_all_get_one_reply(connect: Any) -> None:
    decider = FakeDecider(hold=asyncio.Event())
    client: httpx.AsyncClient = connect(decider, limits=Limits(requests=4))
    calls = [asyncio.create_task(client.post("/v1/systemone", json=one(NOUL))) for _ in range(10)]
    await asyncio.sleep(0.2)
    assert decider.hold is not None
    decider.hold.set()
    got = [(await call) for call in calls]
    assert sorted(g.status_code for g in got) == [200] * 4 + [529] * 6
    for refused in (g for g in got if g.status_code == 529):
        assert refused.json()["detail"]["error_type"] == "overloaded"
        assert 0 < int(refused.headers["retry-after"]) < 30
        assert int(refused.headers["retry-after-ms"]) <= 1000 * int(refused.headers["retry-after"])
    assert (await client.post("/v1/systemone", json=one(NOUL))).status_code == 200


async def test_a_hopeless_queue_is_told_before_the_body_is_looked_at(connect: Any) -> None:
    decider = FakeDecider(FakeReader(engine=Engine(waiting=10**6, rate=10.0)))
    got = await connect(decider).post("/v1/systemone", content=b"not json")
    assert (got.status_code, got.json()["detail"]["error_type"]) == (529, "overloaded")


async def test_a_backlog_is_refused_before_anything_is_read(connect: Any) -> None:
    decider = FakeDecider(FakeReader(engine=Engine(rate=1.0)))
    client = connect(decider)
    got = await client.post("/v1/systemone", json=one(NOUL), headers={"x-request-timeout-ms": "500"})
    assert got.status_code == 504  # 17 tokens at 1 a second
    assert not decider.asked
    assert (await connect(decider).get("/ready")).status_code == 200


async def test_a_full_queue_makes_the_server_not_ready(connect: Any) -> None:
    client = connect(FakeDecider(FakeReader(engine=Engine(waiting=100))), limits=Limits(queue_tokens=100))
    got = await client.get("/ready")
    assert (got.status_code, got.json()) == (503, {"status": "full"})


async def test_a_request_that_is_not_answered_in_time_gets_504_then(connect: Any) -> None:
    decider = FakeDecider(hold=asyncio.Event())
    start = time.monotonic()
    got = await connect(decider).post("/v1/systemone", json=one(NOUL), headers={"x-request-timeout-ms": "150"})
    assert (got.status_code, got.json()["detail"]["error_type"]) == (504, "timeout")
    assert 0.1 < time.monotonic() - start < 3
    await asyncio.sleep(0)
    assert decider.given_up == 1


@pytest.mark.parametrize("sent", ["", "0", "-5", "1.5", "soon", "9999999999", "٣"])
async def test_a_deadline_that_is_none_is_refused(client: httpx.AsyncClient, sent: str) -> None:
    got = await client.post("/v1/systemone", json=one(NOUL), headers={b"x-request-timeout-ms": sent.encode()})
    assert (got.status_code, got.json()["detail"]["error_type"]) == (400, "api_usage_error")


async def test_a_deadline_is_capped(connect: Any) -> None:
    decider = FakeDecider(hold=asyncio.Event())
    client = connect(decider, limits=Limits(max_timeout_s=0.1))
    assert (await client.post("/v1/systemone", json=one(NOUL), headers={"x-request-timeout-ms": "99999"})).status_code == 504


async def test_a_request_that_was_just_answered_proves_the_engine_without_a_canary(connect: Any, decider: FakeDecider) -> None:
    client = connect(decider, canary_age_s=60.0)
    await client.post("/v1/systemone", json=one(NOUL))
    assert (await client.get("/ready")).json() == {"status": "ready"}
    assert len(decider.asked) == 1


ASKED = Request("x" * 10, {"a": Noul("y" * 10), "b": Choice({"k" * 4: "v" * 4, "l": None})})


@pytest.mark.parametrize(
    ("limits", "places"),
    [
        ({}, []),
        ({"questions": 1}, [(("questions",), "too_many_questions")]),
        ({"reads": 1}, [(("questions",), "too_many_reads")]),
        ({"state_chars": 9}, [(("state",), "text_too_long")]),
        ({"question_chars": 9}, [(("questions", "a", "noul"), "text_too_long")]),
        ({"question_chars": 8}, [(("questions", "a", "noul"), "text_too_long"), (("questions", "b", "choice"), "text_too_long")]),
        (
            {"options": 1},
            [(("questions", "a", "noul", "criteria"), "too_long"), (("questions", "b", "choice", "criteria"), "too_long")],
        ),
        ({"state_chars": 10, "question_chars": 10, "questions": 2, "reads": 2, "options": 2}, []),
    ],
)
def test_each_limit_is_named_with_its_place(limits: dict[str, int], places: list[Any]) -> None:
    if not places:
        check(ASKED, Limits(**limits))
        return
    with pytest.raises(InvalidRequest) as raised:
        check(ASKED, Limits(**limits))
    assert [(issue.loc, issue.type) for issue in raised.value.issues] == places
    assert not any(text in str(raised.value) for text in ("xxx", "yyy", "kkk", "vvv"))


@pytest.mark.parametrize(
    ("controls", "draws"),
    [({}, 1), ({"samples": 8}, 8), ({"samples": 4, "rotations": 4}, 16), ({"samples": "auto", "auto_max": 7}, 7)],
)
def test_draws_count_before_they_are_made(controls: dict[str, Any], draws: int) -> None:
    request = Request("s", {"a": Noul("y"), "b": Noul("z")}, Controls(**controls))
    check(request, Limits(reads=2 * draws))
    with pytest.raises(InvalidRequest):
        check(request, Limits(reads=2 * draws - 1))


async def test_a_limit_is_told_in_the_shape_of_the_route(connect: Any, decider: FakeDecider) -> None:
    got = await connect(decider, limits=Limits(questions=1)).post(
        "/v1/systemone", json={"state": "planted-secret", "questions": {"a": NOUL, "b": NOUL}}
    )
    assert got.status_code == 422
    assert got.json()["detail"] == [
        {
            "loc": ["body", "questions"],
            "msg": "At most 1 questions are taken, found 2",
            "type": "too_many_questions",
            "ctx": {"max_length": 1, "actual_length": 2},
        }
    ]
