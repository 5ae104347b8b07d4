"""Counters, gauges and histograms for Prometheus. None holds an id, a text or a key; every label has few values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from ..engines.load import Monitored, Pass
from ..version import __version__
from .call import Call

if TYPE_CHECKING:
    from ..answers import Answers

CONTENT_TYPE = CONTENT_TYPE_LATEST

DIALECTS = {
    "/v1/systemone": "systemone",
    "/v1/decisions": "openai_decisions",
    "/api/alpha/decisions": "openrouter",
    "/v1/chat/completions": "chat",
    "/v1/completions": "completions",
    "/v1/models": "models",
}
"""The label of each path that is counted; all others are ``other``."""

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_ROWS = (1, 2, 4, 8, 16, 32, 64, 128)
_TOKENS = (32, 64, 128, 256, 512, 1024, 2048, 4096, 16384, 65536, 262144)
_NATS = (0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_SHARE = (0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)


def _gauges(registry: CollectorRegistry, texts: dict[str, str]) -> dict[str, Gauge]:
    return {name: Gauge(f"oneread_{name}", text, registry=registry) for name, text in texts.items()}


class Metrics:
    """What one server counts. Its registry is its own, so that several apps may live in one process."""

    def __init__(self) -> None:
        self.registry = r = CollectorRegistry()
        ProcessCollector(registry=r)
        Gauge("oneread_info", "1, with the version.", ["version"], registry=r).labels(__version__).set(1)
        asked = ["dialect", "status", "reader"]
        self.requests = Counter("oneread_requests", "Replies.", asked, registry=r)
        self.refusals = Counter("oneread_refusals", "Replies that are no answer, by kind.", ["dialect", "kind"], registry=r)
        self.seconds = Histogram(
            "oneread_request_seconds", "From a head's arrival to the reply's end.", ["dialect"], buckets=_SECONDS, registry=r
        )  # fmt: skip
        self.stage_seconds = Histogram(
            "oneread_stage_seconds", "A request's time in plan, queue, read and answer.", ["stage"], buckets=_SECONDS, registry=r
        )
        self.request_tokens = Histogram("oneread_request_tokens", "Tokens read for a request.", buckets=_TOKENS, registry=r)
        self.questions = Counter("oneread_questions", "Questions answered.", ["type"], registry=r)
        self.draws = Counter("oneread_draws", "Draws over all questions answered.", registry=r)
        self.rereads = Counter("oneread_rereads", "Questions read again because the first draw was uncertain.", registry=r)
        self.abstentions = Counter("oneread_abstentions", "Questions abstained from.", registry=r)
        self.skips = Counter("oneread_skipped_questions", "Questions that an earlier answer made needless.", registry=r)
        self.label_mass = Histogram("oneread_label_mass", "Label mass of a question.", buckets=_SHARE, registry=r)
        self.entropy = Histogram("oneread_entropy_nats", "Entropy over a question's answers.", buckets=_NATS, registry=r)
        self.pass_seconds = Histogram("oneread_pass_seconds", "One pass of the engine.", buckets=_SECONDS, registry=r)
        self.pass_rows = Histogram("oneread_pass_rows", "Reads that shared a pass.", buckets=_ROWS, registry=r)
        self.wait_seconds = Histogram("oneread_queue_wait_seconds", "A read's wait for its pass.", buckets=_SECONDS, registry=r)
        self.tokens = Counter("oneread_tokens_read", "Tokens read, without padding.", registry=r)
        self.reused = Counter("oneread_tokens_reused", "Prompt tokens served from a prefix cache.", registry=r)
        self.hits = Counter("oneread_prefix_hits", "Reads that found some of their prompt in the cache.", registry=r)
        self.rows = Counter("oneread_rows_read", "Reads.", registry=r)
        self.faults = Counter("oneread_pass_faults", "Passes that failed.", ["type"], registry=r)
        self.logged = Counter("oneread_decisions_logged", "Decisions by what became of their log entry.", ["outcome"], registry=r)
        self._load_gauges = _gauges(
            r,
            {
                "queue_requests": "Requests with reads waiting or running.",
                "queue_rows": "Reads waiting or running.",
                "queue_tokens": "Tokens of those reads.",
                "drain_tokens_per_second": "Measured while reading; 0 until then.",
                "running_pass_seconds": "Age of the pass that runs; 0 when idle.",
                "engine_restarts": "Starts of the engine's process after its first.",
            },
        )
        self._inside = Gauge("oneread_requests_inside", "Requests being read in, waiting or answered.", registry=r)
        self._ready = Gauge("oneread_ready", "1 while /ready says ready.", registry=r)
        self._memory = Gauge("oneread_engine_resident_bytes", "Memory of the engine's own process; 0 without one.", registry=r)
        self._gauges = _gauges(
            r,
            {
                "device_bytes": "Memory that the model holds on its device, weights included; 0 where it does not tell.",
                "kv_bytes": "Of that, keys and values that later prompts may find again.",
                "kv_capacity_bytes": "The most that those may be.",
            },
        )
        self._engine: Monitored | None = None

    def follow(self, engine: object) -> None:
        """Count an engine's passes from now on, where it tells of them."""
        if isinstance(engine, Monitored) and self._engine is not engine:
            self._engine = engine
            engine.observe(self._passed)

    def text(self, inside: int, ready: bool) -> bytes:
        """The exposition, with gauges as they stand now."""
        self._inside.set(inside)
        self._ready.set(ready)
        if self._engine is not None:
            load = self._engine.load()
            values = (load.requests, load.rows, load.tokens, load.tokens_per_s or 0.0, load.pass_s, load.restarts)
            for gauge, value in zip(self._load_gauges.values(), values, strict=True):
                gauge.set(value)
            self._memory.set(self._engine.memory())
            told = self._engine.gauges()
            for gauge, held in zip(self._gauges.values(), (told.held, told.kv, told.kv_room), strict=True):
                gauge.set(held)
        return generate_latest(self.registry)

    def replied(self, path: str, status: int, reader: str, call: Call, seconds: float) -> None:
        """Count one reply."""
        dialect = DIALECTS.get(path, "other")
        self.requests.labels(dialect, str(status), reader).inc()
        self.seconds.labels(dialect).observe(seconds)
        if call.kind is not None:
            self.refusals.labels(dialect, call.kind).inc()
        for stage in ("plan", "queue", "read", "answer"):
            spent = call.seconds(stage)
            if spent is not None:
                self.stage_seconds.labels(stage).observe(spent)
        if call.tokens:
            self.request_tokens.observe(call.tokens)
        if call.answers is not None:
            self._answered(call.answers)

    def _answered(self, answers: Answers) -> None:
        for answer in answers.answers.values():
            self.questions.labels(type(answer).__name__.removesuffix("Answer").lower()).inc()
        self.abstentions.inc(len(answers.abstained))
        self.skips.inc(len(answers.skipped))
        if answers.diagnostics is None:
            return
        for told in answers.diagnostics.questions.values():
            self.draws.inc(len(told.draws))
            self.rereads.inc(told.extended)
            self.entropy.observe(told.entropy)
            if told.label_mass is not None:
                self.label_mass.observe(told.label_mass)

    def _passed(self, told: Pass) -> None:
        if told.fault is not None:
            self.faults.labels(told.fault).inc()
            return
        self.pass_seconds.observe(told.seconds)
        self.pass_rows.observe(told.rows)
        self.rows.inc(told.rows)
        self.hits.inc(told.hits)
        self.tokens.inc(told.tokens)
        self.reused.inc(told.tokens_reused)
        for wait in told.waits_s:
            self.wait_seconds.observe(wait)
