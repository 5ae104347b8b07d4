"""The official SDK, as its users call it, against a real server."""

from __future__ import annotations

from typing import Any

import pytest
from typesafe_sdk import (
    AsyncTypeSafeClient,
    Box,
    Choice,
    Image,
    Noul,
    Score,
    TypeSafeAuthenticationError,
    TypeSafeBadRequestError,
    TypeSafeClient,
    TypeSafeUnprocessableEntityError,
)

from ..serving.fakes import FakeDecider
from ..serving.test_images import SeeingReader, picture
from .conftest import KEY, Live, running

STATE = {
    "subject": "Charged twice",
    "body": "My card shows two payments for March. Please return one.",
    "tags": [None, 1.5, {"a": []}],
}
LEVELS: list[Any] = ["calm", {"level": "annoyed", "signs": ["caps", None]}, ["furious"]]
QUESTIONS: dict[str, Any] = {
    "refund": {"type": "noul", "instructions": "Does the customer ask for money back?"},
    "one-sided": {"type": "noul", "criteria": {"true": "asks for a refund"}},
    "팀 🙂": {
        "type": "choice",
        "instructions": {"task": "Which team?"},
        "criteria": {"청구": "결제", "기술": None, "": ["other"]},
    },
    "anger": {"type": "score", "instructions": "How angry is the customer?", "criteria": LEVELS},
}


def check(reply: Any) -> None:
    assert reply.request_id.startswith("req_")
    assert reply.model.startswith("oneread")
    assert set(reply.answers) == set(QUESTIONS)
    assert 0 <= reply.nouls["refund"].noul <= 1
    choice = reply.choices["팀 🙂"]
    assert set(choice.probabilities) == {"청구", "기술", ""}
    assert choice.choice == max(choice.probabilities, key=choice.probabilities.__getitem__)
    assert abs(sum(choice.probabilities.values()) - 1) < 1e-9
    score = reply.scores["anger"]
    assert dict(score.legend) == dict(enumerate(LEVELS))
    assert abs(score.score - sum(level * p for level, p in score.probabilities.items())) < 1e-9
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0


def test_the_sync_client_gets_typed_answers(live: Live) -> None:
    with TypeSafeClient(api_key="unused", base_url=live.url) as client:
        check(client.system_one(state=STATE, questions=QUESTIONS))


async def test_the_async_client_gets_typed_answers(live: Live) -> None:
    async with AsyncTypeSafeClient(api_key="unused", base_url=live.url) as client:
        check(await client.system_one(state=STATE, questions=QUESTIONS))


def test_the_sdk_s_own_question_types_are_answered(live: Live) -> None:
    questions = {
        "refund": Noul(instructions="Does the customer ask for money back?", criteria={"false": "no refund is asked for"}),
        "team": Choice(instructions="Which team?", criteria={"billing": "invoices", "outage": None}),
        "anger": Score(instructions="How angry?", criteria=["calm", "furious"]),
    }
    with TypeSafeClient(api_key="unused", base_url=live.url) as client:
        reply = client.system_one(state=STATE, questions=questions)
    assert (set(reply.nouls), set(reply.choices), set(reply.scores)) == ({"refund"}, {"team"}, {"anger"})


@pytest.mark.parametrize("compression", [None, "zstd"])
def test_a_long_body_arrives_compressed_by_the_sdk_and_is_answered_the_same(live: Live, compression: Any) -> None:
    state = "The customer wrote: please refund the second payment of March. " * 40
    with (
        TypeSafeClient(api_key="unused", base_url=live.url, compression=compression) as client,
        TypeSafeClient(api_key="unused", base_url=live.url, compression=False) as plain,
    ):
        packed = client.system_one(state=state, questions=QUESTIONS)
        assert live.headers[-1]["content-encoding"] == "zstd"
        assert int(live.headers[-1]["content-length"]) < len(state)
        unpacked = plain.system_one(state=state, questions=QUESTIONS)
        assert "content-encoding" not in live.headers[-1]
    assert packed.nouls["refund"].noul == pytest.approx(unpacked.nouls["refund"].noul, abs=1e-3)


def test_the_sdk_lists_models_it_can_then_ask(live: Live) -> None:
    with TypeSafeClient(api_key="unused", base_url=live.url) as client:
        models = client.models.list().models
        assert {"jev-latest", "jev-preview", "jev-1.13.0", "jev-1.14.0"} < {m.name for m in models}
        for model in models:
            reply = client.system_one(state="x", questions={"a": {"type": "noul", "instructions": "y"}}, model=model.name)
            assert reply.model == models[0].name


def test_one_client_survives_bad_requests(live: Live) -> None:
    with TypeSafeClient(api_key="unused", base_url=live.url) as client:
        for _ in range(3):
            check(client.system_one(state=STATE, questions=QUESTIONS))
            with pytest.raises(TypeSafeUnprocessableEntityError) as caught:
                client.system_one(state=STATE, questions={"q": {"type": "weird"}})  # type: ignore[dict-item]
            assert "questions.q" in str(caught.value)
            assert "weird" not in str(caught.value)


def test_a_keyed_server_takes_the_sdk_s_key(keyed: Live) -> None:
    with TypeSafeClient(api_key=KEY, base_url=keyed.url) as client:
        check(client.system_one(state=STATE, questions=QUESTIONS))
    with TypeSafeClient(api_key="wrong", base_url=keyed.url) as client, pytest.raises(TypeSafeAuthenticationError):
        client.system_one(state=STATE, questions=QUESTIONS)


def test_an_unknown_model_is_a_bad_request(live: Live) -> None:
    with TypeSafeClient(api_key="unused", base_url=live.url) as client, pytest.raises(TypeSafeBadRequestError) as caught:
        client.system_one(state="x", questions={"a": {"type": "noul", "instructions": "y"}}, model="no-such")
    assert "jev-latest" in str(caught.value)


def test_images_and_boxes_of_the_sdk_are_refused_by_name(live: Live) -> None:
    photo = Image(b"\x89PNG\r\n\x1a\n" + bytes(64))
    with TypeSafeClient(api_key="unused", base_url=live.url) as client:
        with client.attach_assets(photo), pytest.raises(TypeSafeUnprocessableEntityError, match="Images need a reader"):
            client.system_one(state=f"Product: {photo}", questions={"a": Noul(instructions="Is it damaged?")})
        assert live.headers[-1]["content-type"].startswith("multipart/form-data")
        with pytest.raises(TypeSafeUnprocessableEntityError, match="Box questions need a reader"):
            client.system_one(state="x", questions={"a": Box(instructions="Where?")})


def test_a_reader_that_sees_gets_the_photo_and_its_number() -> None:
    decider, photo = FakeDecider(SeeingReader()), Image(picture("JPEG"))
    with (
        running(decider) as live,  # type: ignore[arg-type]
        TypeSafeClient(api_key="unused", base_url=live.url) as client,
        client.attach_assets(photo),
    ):
        reply = client.system_one(state=f"Product: {photo}", questions={"red": Noul(instructions=f"Is {photo} red?")})
    assert 0 <= reply.nouls["red"].noul <= 1
    asked = decider.asked[0]
    assert [(image.data, image.width, image.height) for image in asked.images] == [(picture("JPEG"), 7, 5)]
    assert asked.state == "Product: [image 1]"
