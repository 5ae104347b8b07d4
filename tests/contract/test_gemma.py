"""A DiffusionGemma folder behind HTTP: decisions with images and thoughts, text from its own sampler, to real clients."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from typesafe_sdk import TypeSafeClient

from oneread import Decider

from .conftest import Live, running

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from ..readers.asking import png  # noqa: E402
from ..readers.gemma import NAME, open_checkpoint, write_checkpoint  # noqa: E402

QUESTIONS: dict[str, Any] = {
    "urgent": {"type": "noul", "instructions": "Is it urgent?"},
    "team": {"type": "choice", "instructions": "Which team?", "criteria": {"billing": None, "outage": "it is down"}},
    "anger": {"type": "score", "instructions": "How angry?", "criteria": ["calm", "annoyed", "furious"]},
}
BODY: dict[str, Any] = {"state": "the site is down", "questions": QUESTIONS, "diagnostics": True}


@pytest.fixture(scope="module")
def decider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Decider]:
    before = torch.get_num_threads()
    with Decider(open_checkpoint(write_checkpoint(tmp_path_factory.mktemp("gemma")))) as decider:
        yield decider
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def gemma(decider: Decider) -> Iterator[Live]:
    with running(decider) as live:
        yield live


@pytest.fixture
def http(gemma: Live) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=gemma.url, timeout=60) as client:
        yield client


@pytest.fixture
def chat(gemma: Live) -> openai.OpenAI:
    return openai.OpenAI(api_key="unused", base_url=f"{gemma.url}/v1", max_retries=0)


def ask(http: httpx.Client, **more: Any) -> Any:
    got = http.post("/v1/systemone", json=BODY | more)
    assert got.status_code == 200, got.text
    return got.json()


def close(one: Any, other: Any) -> bool:
    pairs = [(one["x_diagnostics"]["questions"][k], other["x_diagnostics"]["questions"][k]) for k in QUESTIONS]
    return all(a["probabilities"] == pytest.approx(b["probabilities"], abs=1e-5) for a, b in pairs)


def test_three_questions_are_answered_with_a_label_mass(http: httpx.Client) -> None:
    reply = ask(http)
    assert reply["model"] == NAME
    assert list(reply["answers"]) == list(QUESTIONS)
    told = reply["x_diagnostics"]
    assert told["method"] == "labels"
    assert all(0 < told["questions"][key]["label_mass"] < 1 for key in QUESTIONS)
    assert sum(reply["answers"]["team"]["probabilities"].values()) == pytest.approx(1, abs=1e-6)
    assert reply["usage"]["output_tokens"] == 3


def test_seeds_repeat_and_orders_of_questions_change_nothing(http: httpx.Client) -> None:
    assert close(ask(http, seed=7), ask(http, seed=7))
    assert not close(ask(http, seed=7), ask(http, seed=8))
    turned = ask(http, questions=dict(reversed(QUESTIONS.items())))
    assert list(turned["answers"]) == list(reversed(QUESTIONS))
    assert close(turned, ask(http))


def test_packed_is_one_row_and_another_reading(http: httpx.Client) -> None:
    packed, alone = ask(http, mode="packed"), ask(http)
    assert (packed["x_diagnostics"]["rows"], alone["x_diagnostics"]["rows"]) == (1, 3)
    assert not close(packed, alone)


def test_a_repeated_request_reuses_its_prompt(http: httpx.Client, gemma: Live) -> None:
    state = "a long state that was not read before, " * 5
    ask(http, state=state)
    again = ask(http, state=state)
    assert again["x_diagnostics"]["tokens_reused"] > 100
    metrics = http.get("/metrics").text
    reused = next(line for line in metrics.splitlines() if line.startswith("oneread_tokens_reused_total"))
    assert float(reused.split()[-1]) >= again["x_diagnostics"]["tokens_reused"]


def test_every_control_reaches_the_reader(http: httpx.Client) -> None:
    plain = ask(http)
    thought = ask(http, think=30)
    assert all(len(q["thoughts"]) == 1 for q in thought["x_diagnostics"]["questions"].values())
    assert not close(thought, plain)
    assert not close(ask(http, steps=2), plain)
    full = ask(http, projection="full")
    assert close(full, plain)
    assert all(isinstance(q["argmax_is_label"], bool) for q in full["x_diagnostics"]["questions"].values())
    assert ask(http, canvas_length=32)["usage"]["input_tokens"] == plain["usage"]["input_tokens"] + 3 * 16
    assert ask(http, mode="packed", chunk_rows=8)["x_diagnostics"]["rows"] == 3


def test_images_in_every_form_are_read(http: httpx.Client) -> None:
    data = png(0).data
    text = base64.b64encode(data).decode()
    by_url = ask(http, images=[f"data:image/png;base64,{text}"])
    by_object = ask(http, images=[{"content_type": "image/png", "base64": text}])
    asset = {"type": "image", "format": "png", "data_base64": text}
    by_asset = ask(http, assets={"PHOTO": asset}, state="the site is down PHOTO")
    parts = {"request": (None, json.dumps(BODY), "application/json"), "photo": ("p.png", data, "image/png")}
    by_part = http.post("/v1/systemone", files=parts).json()
    assert close(by_url, by_object)
    assert close(by_url, by_part)
    assert not close(by_url, ask(http))
    assert by_asset["usage"]["input_tokens"] > by_url["usage"]["input_tokens"]
    more = ask(http, images=[f"data:image/png;base64,{text}"], image_tokens=560)
    assert more["usage"]["input_tokens"] >= by_url["usage"]["input_tokens"]
    cut = http.post("/v1/systemone", json=BODY | {"images": [{"base64": base64.b64encode(data[:-40]).decode()}]})
    assert cut.status_code == 422
    assert cut.json()["detail"][0]["loc"][:3] == ["body", "images", 0]


def test_the_official_sdk_is_answered(gemma: Live) -> None:
    with TypeSafeClient(api_key="unused", base_url=gemma.url) as client:
        reply = client.system_one(state="the site is down", questions={"urgent": QUESTIONS["urgent"]})
    assert 0 <= reply.answers["urgent"].noul <= 1


def test_in_the_place_of_other_systems_the_label_mass_is_theirs(decider: Decider) -> None:
    with running(decider, profile="vllm") as live:
        reply = httpx.post(f"{live.url}/v1/systemone", json=BODY | {"projection": "full"}).json()
    assert reply["x_confidence"] == "mass"
    for key in QUESTIONS:
        told = reply["diagnostics"][key]
        assert isinstance(told["argmax_is_label"], bool)
        top = max(reply["answers"][key]["probabilities"].values())
        assert reply["answers"][key]["confidence"] == pytest.approx(top * told["label_mass"])
    with running(decider, profile="djev") as live:
        reply = httpx.post(f"{live.url}/v1/systemone", json=BODY | {"think": 20, "samples": 2}).json()
    assert set(reply["diagnostics"]["thought"]) == {"text"}
    assert len(reply["diagnostics"]["samples"]["tops"]) == 2
    assert all(0 < reply["diagnostics"]["questions"][key]["label_mass"] < 1 for key in QUESTIONS)


HELLO: list[Any] = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hello"}]


def test_text_is_written_block_by_block(chat: openai.OpenAI) -> None:
    def text(**more: Any) -> Any:
        return chat.chat.completions.create(model=NAME, messages=HELLO, max_tokens=80, **more)

    whole = text(seed=3)
    assert whole.usage.prompt_tokens > 10
    assert 0 < whole.usage.completion_tokens <= 80
    assert text(seed=3).choices[0].message.content == whole.choices[0].message.content
    assert text(seed=4).choices[0].message.content != whole.choices[0].message.content
    chunks = list(text(seed=3, stream=True, stream_options={"include_usage": True}))
    pieces = [c.choices[0].delta.content for c in chunks if c.choices and c.choices[0].delta.content]
    assert "".join(pieces) == whole.choices[0].message.content
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == whole.choices[0].finish_reason
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens
    if whole.usage.completion_tokens == 80:
        assert whole.choices[0].finish_reason == "length"
        assert len(pieces) >= 3, "one piece for each block of 32"


def test_raw_chat_writes_and_a_schema_decides(chat: openai.OpenAI) -> None:
    schema: list[Any] = [
        {"role": "system", "content": json.dumps({"questions": {"urgent": QUESTIONS["urgent"]}})},
        {"role": "user", "content": "the site is down"},
    ]
    decided = json.loads(chat.chat.completions.create(model=NAME, messages=schema).choices[0].message.content or "")
    assert 0 < decided["answers"]["urgent"]["label_mass"] < 1
    raw: Any = chat.post("/raw/chat/completions", body={"messages": schema, "max_tokens": 8, "seed": 1}, cast_to=object)
    assert raw["usage"]["completion_tokens"] <= 8
    assert not raw["choices"][0]["message"]["content"].startswith('{"answers"')


def test_a_conversation_too_long_for_the_reader_is_refused(chat: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        chat.chat.completions.create(model=NAME, messages=[{"role": "user", "content": "x y " * 4000}])
    assert caught.value.param == "messages"
