"""The official OpenAI client, as its users call it, against a real server."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from oneread import Decider

from ..fakes import FakeWriter, fake_reader
from .conftest import KEY, Live, running

TICKET = "The box arrived crushed and the screen is cracked."
QUESTIONS: list[Any] = [
    {"type": "predicate", "name": "damaged", "instructions": "The customer reports a damaged item."},
    {
        "type": "choice",
        "name": "dept",
        "instructions": "Who handles it?",
        "choices": [{"value": "returns", "description": "refunds"}, {"value": "billing"}, {"value": True}, {"value": "true"}],
    },
    {
        "type": "score",
        "instructions": "How severe?",
        "levels": [{"label": "cosmetic", "description": "looks"}, {"label": "broken"}],
    },
]


@pytest.fixture
def client(live: Live) -> openai.OpenAI:
    return openai.OpenAI(api_key="unused", base_url=f"{live.url}/v1", max_retries=0)


def check(decision: Any) -> None:
    damaged, dept, severe = decision.answers
    assert (damaged.type, damaged.name) == ("predicate", "damaged")
    assert 0 <= damaged.probability <= 1
    assert dept.name == "dept"
    values = [p.value for p in dept.probabilities]
    assert [(type(v), v) for v in values] == [(str, "returns"), (str, "billing"), (bool, True), (str, "true")]
    assert dept.choice == max(dept.probabilities, key=lambda p: p.probability).value
    assert abs(sum(p.probability for p in dept.probabilities) - 1) < 1e-6
    assert severe.name is None
    assert [(p.value, p.label) for p in severe.probabilities] == [(0, "cosmetic"), (1, "broken")]
    assert severe.score == pytest.approx(sum(p.value * p.probability for p in severe.probabilities))
    assert decision.model.startswith("oneread")
    assert decision.usage.total_tokens == decision.usage.input_tokens + decision.usage.output_tokens > 0
    assert decision.usage.input_tokens_details.cached_tokens == 0
    assert decision.usage.output_tokens_details.reasoning_tokens == 0


def test_a_decision_is_typed_and_in_order(client: openai.OpenAI) -> None:
    decision = client.decisions.create(model="gpt-6-luna", input=TICKET, questions=QUESTIONS, safety_identifier="user-1")
    check(decision)
    assert decision._request_id is not None


async def test_the_async_client_gets_the_same(live: Live, client: openai.OpenAI) -> None:
    async with openai.AsyncOpenAI(api_key="unused", base_url=f"{live.url}/v1") as slow:
        decision = await slow.decisions.create(model="jev-latest", input=TICKET, questions=QUESTIONS)
    check(decision)
    assert decision == client.decisions.create(model="gpt-6-luna", input=TICKET, questions=QUESTIONS)


def test_it_reads_conversations_calls_and_json(client: openai.OpenAI) -> None:
    items: list[Any] = [
        {"role": "developer", "content": "We sell glass."},
        {"role": "user", "content": [{"type": "input_text", "text": TICKET}, {"type": "input_json", "data": {"order": 7}}]},
        {"type": "function_call", "call_id": "c1", "name": "stock", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "none left"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "We are out of them."}]},
    ]
    check(client.decisions.create(model="gpt-6-luna", input=items, questions=QUESTIONS))


def test_one_user_message_reads_as_its_text(client: openai.OpenAI) -> None:
    message: list[Any] = [{"role": "user", "content": [{"type": "input_text", "text": TICKET}]}]
    plain = client.decisions.create(model="gpt-6-luna", input=TICKET, questions=QUESTIONS)
    assert client.decisions.create(model="gpt-6-luna", input=message, questions=QUESTIONS) == plain


def test_an_abstention_comes_back_as_a_refusal(client: openai.OpenAI) -> None:
    questions = [QUESTIONS[0], {**QUESTIONS[1], "abstain_below": 1}]
    damaged, dept = client.decisions.create(model="gpt-6-luna", input=TICKET, questions=questions).answers
    assert damaged.type == "predicate"
    assert (dept.type, dept.name) == ("refusal", "dept")


def test_our_controls_travel_as_extra_body(client: openai.OpenAI) -> None:
    body = {"mode": "packed", "diagnostics": True}
    got = client.decisions.create(model="gpt-6-luna", input=TICKET, questions=QUESTIONS, extra_body=body)
    check(got)
    assert got.to_dict()["x_diagnostics"]["chunks"] == [[["0", "1", "2"]]]  # type: ignore[index, call-overload]


LUNA: dict[str, Any] = {"model": "gpt-6-luna", "input": TICKET, "questions": QUESTIONS}
CHOICE = QUESTIONS[1]


@pytest.mark.parametrize(
    ("more", "param", "code"),
    [
        ({"questions": []}, "questions", "too_short"),
        ({"questions": QUESTIONS[:1] * 401}, "questions", "too_long"),
        ({"questions": [{"type": "box", "instructions": "x"}]}, "questions[0]", "union_tag_invalid"),
        ({"questions": [{"type": "predicate"}]}, "questions[0].instructions", "missing"),
        ({"questions": [{"type": "predicate", "instructions": 5}]}, "questions[0].instructions", "list_type"),
        ({"questions": [{**CHOICE, "choices": CHOICE["choices"][:1]}]}, "questions[0].choices", "too_short"),
        ({"questions": [{**CHOICE, "choices": [{"value": 1}, {"value": "a"}]}]}, "questions[0].choices[0].value", "bool_type"),
        ({"questions": [{**CHOICE, "choices": [{"value": "a"}] * 2}]}, "questions[0].choices[1].value", "repeated_choice"),
        ({"questions": [{**QUESTIONS[2], "levels": QUESTIONS[2]["levels"] * 6}]}, "questions[0].levels", "too_long"),
        ({"questions": [{**CHOICE, "abstain_below": 2}]}, "questions[0].abstain_below", "out_of_range"),
        ({"input": []}, "input", "too_short"),
        ({"input": 5}, "input", "list_type"),
        ({"input": [{"role": "tool", "content": "x"}]}, "input[0].role", "literal_error"),
        ({"input": [{"type": "reasoning"}]}, "input[0]", "union_tag_invalid"),
        ({"input": [{"role": "system", "content": [{"type": "input_json", "data": {}}]}]}, "input[0].content", "content_type"),
        ({"input": [{"type": "function_call_output", "call_id": "c", "output": "x"}]}, "input[0].call_id", "unknown_call"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]}]},
            "input[0].content[0].image_url",
            "images_unsupported",
        ),
        ({"temperature": 0}, "temperature", "extra_forbidden"),
        ({"stream": True}, "stream", "extra_forbidden"),
        ({"samples": 33}, "samples", "out_of_range"),
        ({"steps": 2}, "steps", "unsupported_by_reader"),
    ],
)
def test_a_bad_request_is_a_400_with_its_place(more: dict[str, Any], param: str, code: str, client: openai.OpenAI) -> None:
    body = LUNA | {k: v for k, v in more.items() if k in LUNA}
    extra = {k: v for k, v in more.items() if k not in LUNA}
    with pytest.raises(openai.BadRequestError) as caught:
        client.decisions.create(**body, extra_body=extra)
    assert (caught.value.param, caught.value.code, caught.value.type) == (param, code, "invalid_request_error")
    assert TICKET not in str(caught.value)


def test_an_unknown_model_is_a_404(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        client.decisions.create(**{**LUNA, "model": "gpt-2"})
    assert (caught.value.code, caught.value.param) == ("model_not_found", "model")


def test_a_wrong_or_missing_key_is_a_401(keyed: Live) -> None:
    for key in ("wrong", ""):
        client = openai.OpenAI(api_key=key or "x", base_url=f"{keyed.url}/v1", max_retries=0)
        headers = None if key else {"Authorization": openai.Omit()}
        with pytest.raises(openai.AuthenticationError) as caught:
            client.decisions.create(**LUNA, extra_headers=headers)
        assert caught.value.code == "invalid_api_key"
    check(openai.OpenAI(api_key=KEY, base_url=f"{keyed.url}/v1").decisions.create(**LUNA))


def test_models_are_listed(client: openai.OpenAI) -> None:
    models = client.models.list().data
    assert models[0].id.startswith("oneread")
    assert models[0].object == "model"
    assert "jev-latest" in {model.id for model in models}


# djev's rule: a schema in the first of two messages is a decision

SCHEMA = {
    "questions": {
        "damaged": {"type": "boolean", "instructions": "Is an item damaged?"},
        "dept": {"type": "choice", "instructions": "Who handles it?", "criteria": {"returns": "refunds", "billing": None}},
    }
}


def messages(schema: Any) -> list[Any]:
    return [{"role": "system", "content": json.dumps(schema)}, {"role": "user", "content": TICKET}]


def test_a_schema_in_a_chat_is_a_decision(client: openai.OpenAI) -> None:
    got = client.chat.completions.create(model="jev-latest", messages=messages(SCHEMA))
    content = json.loads(got.choices[0].message.content or "")
    assert list(content["answers"]) == ["damaged", "dept"]
    assert set(content["answers"]["dept"]) > {"choice", "probabilities", "entropy", "stderr", "agreement", "label_mass"}
    assert content["diagnostics"]["rows"] == 1
    assert got.choices[0].finish_reason == "stop"
    assert got.usage is not None
    assert got.usage.prompt_tokens > 0


def test_a_decision_streams_in_one_piece(client: openai.OpenAI) -> None:
    chunks = list(client.chat.completions.create(model="jev-latest", messages=messages(SCHEMA), stream=True))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert list(json.loads(text)["answers"]) == ["damaged", "dept"]
    assert chunks[-1].choices[0].finish_reason == "stop"


def test_a_bad_schema_is_a_400(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="jev-latest", messages=messages({"questions": {"q": {"type": "span"}}}))
    assert caught.value.type == "invalid_request_error"
    assert caught.value.param == "questions.q"


@pytest.mark.parametrize("path", ["/chat/completions", "/raw/chat/completions"])
def test_a_reader_that_only_reads_writes_no_text(client: openai.OpenAI, path: str) -> None:
    body = {"model": "jev-latest", "messages": [{"role": "user", "content": "hello"}]}
    with pytest.raises(openai.NotFoundError) as caught:
        client.post(path, body=body, cast_to=object)
    assert caught.value.code == "model_not_found"
    assert "writes no text" in str(caught.value)


# text, from a reader that writes


@pytest.fixture(scope="module")
def writer() -> FakeWriter:
    return FakeWriter("Grüße, 世界! END and more")


@pytest.fixture(scope="module")
def writing(writer: FakeWriter) -> Iterator[Live]:
    reader = dataclasses.replace(fake_reader(), writer=writer, script=writer)
    with Decider(reader) as decider, running(decider) as live:
        yield live


@pytest.fixture
def chat(writing: Live) -> openai.OpenAI:
    return openai.OpenAI(api_key="unused", base_url=f"{writing.url}/v1", max_retries=0)


HELLO: list[Any] = [
    {"role": "developer", "content": "Be kind."},
    {"role": "user", "content": [{"type": "text", "text": "hello"}]},
]


def test_text_is_written(chat: openai.OpenAI, writer: FakeWriter) -> None:
    got = chat.chat.completions.create(model="jev-latest", messages=HELLO, seed=7)
    assert got.choices[0].message.content == writer.text
    assert got.choices[0].finish_reason == "stop"
    assert got.usage is not None
    assert (got.usage.prompt_tokens, got.usage.completion_tokens) == (13, len(writer.text.encode()))
    assert [(m.role, m.text) for m in writer.messages] == [("system", "Be kind."), ("user", "hello")]
    assert writer.seeds[-1] == 7


def test_text_streams_in_pieces_without_broken_characters(chat: openai.OpenAI, writer: FakeWriter) -> None:
    chunks = list(
        chat.chat.completions.create(model="jev-latest", messages=HELLO, stream=True, stream_options={"include_usage": True})
    )
    pieces = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(pieces) == writer.text
    assert len([piece for piece in pieces if piece]) > 3
    assert not any("\ufffd" in piece for piece in pieces)
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == len(writer.text.encode())


@pytest.mark.parametrize("stream", [False, True])
def test_text_ends_at_a_stop_string_or_at_the_last_token(chat: openai.OpenAI, stream: bool) -> None:
    def text(**more: Any) -> tuple[str, str]:
        got: Any = chat.chat.completions.create(model="jev-latest", messages=HELLO, stream=stream, **more)
        if not stream:
            return got.choices[0].message.content, got.choices[0].finish_reason
        chunks = list(got)
        return "".join(c.choices[0].delta.content or "" for c in chunks), chunks[-1].choices[0].finish_reason

    assert text(stop="END") == ("Grüße, 世界! ", "stop")
    assert text(stop=["more", "ße"]) == ("Grü", "stop")
    assert text(max_tokens=7) == ("Grüße", "length")


def test_raw_chat_writes_whatever_the_first_message_is(chat: openai.OpenAI, writer: FakeWriter) -> None:
    body = {"model": "jev-latest", "messages": messages(SCHEMA)}
    got: Any = chat.post("/raw/chat/completions", body=body, cast_to=object)
    assert got["choices"][0]["message"]["content"] == writer.text


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"temperature": 0.2}, "temperature"),
        ({"n": 2}, "n"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"logprobs": True}, "logprobs"),
        ({"max_tokens": 9000}, "max_tokens"),
        ({"seed": -1}, "seed"),
        ({"stop": [""]}, "stop"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content"),
    ],
)
def test_what_the_writer_cannot_do_is_refused_by_name(chat: openai.OpenAI, more: dict[str, Any], param: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        chat.chat.completions.create(**{"model": "jev-latest", "messages": HELLO, **more})
    assert caught.value.param == param
