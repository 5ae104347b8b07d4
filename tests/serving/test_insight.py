"""What an operator sees: metrics, headers, log lines, traces; and what none of them ever shows."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from oneread import Decider
from oneread.answers import Abstention, Answers, Diagnostics, NoulAnswer, QuestionDiagnostics, Usage
from oneread.cli.top import View, quantile, read_metrics, spark
from oneread.engines.base import Capabilities, Read, Reading, Slot
from oneread.engines.batcher import Batcher
from oneread.engines.load import Gauges
from oneread.errors import EngineError
from oneread.serving import app as app_module
from oneread.serving import logs
from oneread.serving.app import create_app
from oneread.serving.call import Call
from oneread.serving.metrics import Metrics
from oneread.serving.settings import Settings
from oneread.serving.tracing import Tracer
from tests.fakes import fake_reader

from .bad_bodies import NOUL, SECRET, one
from .fakes import FakeDecider, FakeReader


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """The log at its most talkative, as JSON."""
    stream = io.StringIO()
    logger = logging.getLogger("oneread")
    before = logger.handlers[:], logger.level, logger.propagate
    logs.set_up("json", "debug")
    logger.handlers[0].stream = stream  # type: ignore[attr-defined]
    yield stream
    logger.handlers[:], logger.level, logger.propagate = before


async def scraped(client: httpx.AsyncClient) -> Any:
    return read_metrics((await client.get("/metrics")).text)


async def test_requests_are_counted_by_dialect_status_and_reader(connect: Any, decider: FakeDecider) -> None:
    client = connect(decider)
    for body in (one(NOUL), one(NOUL), {}):
        await client.post("/v1/systemone", json=body)
    await client.get(f"/{SECRET}")
    got = await scraped(client)
    assert got.total("oneread_requests_total", dialect="systemone", status="200", reader="fake-1") == 2
    assert got.total("oneread_requests_total", dialect="systemone", status="422") == 1
    assert got.total("oneread_refusals_total", dialect="systemone", kind="invalid_request") == 1
    assert got.total("oneread_requests_total", dialect="other", status="404") == 1
    assert got.total("oneread_questions_total", type="noul") == 2
    assert got.total("oneread_request_seconds_count", dialect="systemone") == 3


async def test_a_served_reader_is_seen_from_the_queue_to_the_answer(connect: Any) -> None:
    with Decider(fake_reader()) as decider:
        client = connect(decider)
        got = await client.post("/v1/systemone", json=one(NOUL))
        assert got.status_code == 200, got.text
        names = [part.partition(";")[0] for part in got.headers["server-timing"].split(", ")]
        assert names == ["plan", "queue", "read", "answer", "total"]
        seen = await scraped(client)
        assert seen.total("oneread_draws_total") == 1
        assert seen.total("oneread_entropy_nats_count") == 1
        assert seen.total("oneread_request_tokens_sum") == got.json()["usage"]["input_tokens"]
        for stage in ("plan", "queue", "read", "answer"):
            assert seen.total("oneread_stage_seconds_count", stage=stage) == 1


class Remembering:
    """A model with labels that finds half of every prompt in its cache."""

    capabilities = Capabilities("label", 512)

    def bucket(self, read: Read) -> int:
        return 64

    def forward(self, reads: Sequence[Read]) -> list[Reading]:
        one = np.zeros(1, np.float32)
        return [Reading(one, one, tokens_reused=len(read.prompt) // 2) for read in reads]

    def gauges(self) -> Gauges:
        return Gauges(held=3000, kv=200, kv_room=1000)

    def close(self) -> None:
        pass


async def test_memory_and_the_prefix_cache_are_seen(connect: Any) -> None:
    batcher = Batcher(Remembering(), 128)
    client = connect(FakeDecider(FakeReader(engine=batcher)))
    ids = np.zeros(20, np.int32)
    batcher.read([Read(ids, (Slot(0, (1,)),), prompt=ids), Read(ids, (Slot(0, (1,)),))]).result(5)
    seen = await scraped(client)
    batcher.close()
    assert seen.total("oneread_device_bytes") == 3000
    assert (seen.total("oneread_kv_bytes"), seen.total("oneread_kv_capacity_bytes")) == (200, 1000)
    assert (seen.total("oneread_rows_read_total"), seen.total("oneread_prefix_hits_total")) == (2, 1)
    assert seen.total("oneread_tokens_reused_total") == 10


def test_what_is_told_of_answers_is_counted() -> None:
    told = QuestionDiagnostics(
        stage=0, probabilities=(0.6, 0.4), entropy=0.67, label_mass=0.9, draws=((0.6, 0.4),) * 3, stderr=0.0, agreement=1.0,
        orders=1, orders_agree=None, entropies=(0.67,) * 3, extended=True, windows=1, splits=1, second_round=False,
        temperature=1.0,
    )  # fmt: skip
    how = Diagnostics({"q": told}, (("q",),), ((("q",),),), "labels", "top", None, 3, (20,), 0, {})
    abstained = {"q": Abstention("top", 0.6, 0.9)}
    call = Call("id", 0.0, answers=Answers("m", {"q": NoulAnswer(0.6)}, Usage(1, 1), abstained=abstained, diagnostics=how))
    metrics = Metrics()
    metrics.replied("/v1/systemone", 200, "m", call, 0.1)
    seen = read_metrics(metrics.text(0, True).decode())
    expected = {"draws_total": 3, "rereads_total": 1, "abstentions_total": 1, "label_mass_sum": 0.9, "entropy_nats_sum": 0.67}
    assert {name: pytest.approx(seen.total(f"oneread_{name}")) for name in expected} == expected


async def test_every_reply_is_named_timed_and_closed_to_scripts(connect: Any, decider: FakeDecider) -> None:
    client = connect(decider, api_keys=("k",))
    ids = set()
    for path in ("/health", "/ready", "/docs", "/openapi.json", "/v1/models", "/nowhere", "/v1/systemone"):
        got = await client.get(path)
        ids.add(got.headers["x-request-id"])
        assert got.headers["x-typesafe-request-id"] == got.headers["x-request-id"]
        assert "total;dur=" in got.headers["server-timing"]
        assert got.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in got.headers["content-security-policy"]
        assert "unsafe" not in got.headers["content-security-policy"]
    assert len(ids) == 7


async def test_the_docs_page_needs_nothing_from_elsewhere(client: httpx.AsyncClient) -> None:
    page = (await client.get("/docs")).text
    assert "/v1/systemone" in page
    assert "SystemOneRequest" in page
    assert "<script" not in page
    assert not re.findall(r"(?:src|href)=[\"']?(?:https?:)?//", page)


async def test_log_lines_and_metrics_never_hold_evidence(connect: Any, decider: FakeDecider, lines: io.StringIO) -> None:
    client = connect(decider)
    for fault in (None, EngineError(SECRET), ValueError(SECRET)):
        decider.fault = fault
        for body in (one(NOUL), {"state": SECRET, "questions": {SECRET: {"type": SECRET}}}):
            await client.post("/v1/systemone", json=body, headers={"x-note": SECRET})
    await client.get(f"/{SECRET}?q={SECRET}")
    await client.request("PLANTED", f"/v1/systemone?{SECRET}")
    written = lines.getvalue()
    assert SECRET not in written
    assert SECRET not in (await client.get("/metrics")).text
    events = [json.loads(line) for line in written.splitlines()]
    assert {event["status"] for event in events if event["message"] == "request"} >= {200, 422, 503, 500, 404}
    assert any("ValueError" in event["message"] for event in events)


async def test_a_log_line_tells_who_asked_what_path_and_how_it_ended(
    connect: Any, decider: FakeDecider, lines: io.StringIO
) -> None:
    got = await connect(decider, api_keys=("k",)).post("/v1/systemone", json={}, headers={"authorization": "Bearer k"})
    (line,) = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert line["id"] == got.headers["x-request-id"]
    told = {key: line[key] for key in ("method", "path", "status", "kind", "key", "level")}
    assert told == {
        "method": "POST", "path": "/v1/systemone", "status": 422, "kind": "invalid_request", "key": "key-1", "level": "info",
    }  # fmt: skip


async def test_a_call_becomes_a_trace_under_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(app_module, "Tracer", lambda: Tracer(provider))
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    with Decider(fake_reader()) as decider:
        app = create_app(Settings(tracing=True), decider)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            await client.post("/v1/systemone", json=one(NOUL), headers={"traceparent": parent})
            await client.post("/v1/systemone", json={})
            await client.get("/health")
    *inner, root, refused = exporter.get_finished_spans()
    assert [span.name for span in inner] == ["plan", "queue", "read", "answer"]
    assert root.name == "POST /v1/systemone"
    assert root.parent is not None
    assert f"{root.parent.trace_id:032x}" in parent
    assert all(span.parent is not None and span.parent.span_id == root.context.span_id for span in inner)
    assert all(root.start_time <= span.start_time <= span.end_time <= root.end_time for span in inner)
    attributes = dict(root.attributes or {})
    assert attributes["http.response.status_code"] == 200
    assert attributes["gen_ai.usage.input_tokens"] > 0
    assert (refused.attributes or {})["error.type"] == "invalid_request"
    assert SECRET not in str([(span.name, span.attributes) for span in exporter.get_finished_spans()])


async def test_top_shows_what_metrics_say(connect: Any, decider: FakeDecider) -> None:
    from rich.console import Console

    client = connect(decider)
    before = await scraped(client)
    for _ in range(5):
        await client.post("/v1/systemone", json=one(NOUL))
    now = await scraped(client)
    assert quantile(before, before, "oneread_request_seconds", 0.5) is None
    median = quantile(before, now, "oneread_request_seconds", 0.5)
    assert median is not None
    assert 0 < median < 1
    console = Console(width=120, file=io.StringIO(), record=True)
    console.print(View().draw("http://x", before, now))
    shown = console.export_text()
    assert "status 200" in shown
    for name in ("kv cache", "model", "from cache", "label mass", "draws each", "read again", "abstained"):
        assert name in shown
    assert "requests/s" in shown


def test_a_line_of_bars() -> None:
    assert spark([0, 5, 10]) == "▁▄█"
    assert spark([]) == ""


async def test_the_dashboard_asks_for_metrics_that_exist(client: httpx.AsyncClient) -> None:
    dashboard = json.loads((Path(__file__).parents[2] / "deploy" / "grafana" / "oneread.json").read_text())
    text = (await client.get("/metrics")).text
    known = set(re.findall(r"^# TYPE (\S+)", text, re.M))
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            for name in re.findall(r"(?:oneread|process)_\w+", target["expr"]):
                assert {name, re.sub(r"_(bucket|sum|count|total)$", "", name)} & (
                    known | {n.removesuffix("_total") for n in known}
                ), name
