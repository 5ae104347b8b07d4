"""``oneread top``"""

from __future__ import annotations

import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated

import typer
from prometheus_client.parser import text_string_to_metric_families
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table

from ..serving.settings import API_KEY
from .console import err, fail, out

URL = "http://127.0.0.1:8080"
HISTORY = 40
_BARS = "▁▂▃▄▅▆▇█"


def top(
    url: Annotated[str, typer.Option(envvar="ONEREAD_URL", help="The server; its key is taken from ONEREAD_API_KEY.")] = URL,
    every: Annotated[float, typer.Option("--every", min=0.2, help="Seconds between two looks.")] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Look twice, print once, and end.")] = False,
) -> None:
    """Watch a running server: requests, refusals, latency, queue, engine, memory. Reads its /metrics."""
    view, before = View(), _look(url)
    if once:
        time.sleep(every)
        out.print(view.draw(url, before, _look(url)))
        return
    try:
        with Live(console=out, auto_refresh=False, screen=out.is_terminal) as live:
            while True:
                time.sleep(every)
                now = _look(url)
                live.update(view.draw(url, before, now), refresh=True)
                before = now
    except KeyboardInterrupt:
        err.print("stopped")


@dataclass(frozen=True, slots=True)
class Sample:
    """The values of one look, by series name; each with its labels."""

    at: float
    series: dict[str, list[tuple[dict[str, str], float]]]

    def total(self, name: str, **labels: str) -> float:
        """The sum over all series of a name with these labels."""
        found = self.series.get(name, ())
        return sum(value for own, value in found if all(own.get(key) == wanted for key, wanted in labels.items()))

    def by(self, name: str, label: str) -> dict[str, float]:
        """Sums by the value of one label."""
        found: dict[str, float] = {}
        for own, value in self.series.get(name, ()):
            found[own.get(label, "")] = found.get(own.get(label, ""), 0.0) + value
        return found


def read_metrics(text: str) -> Sample:
    """A Prometheus exposition as a sample taken now."""
    series: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            series.setdefault(sample.name, []).append((dict(sample.labels), sample.value))
    return Sample(time.monotonic(), series)


def quantile(before: Sample, now: Sample, name: str, q: float) -> float | None:
    """A quantile of a histogram's observations between two looks, interpolated within its bucket; None without any."""
    grown = {
        float("inf") if bound == "+Inf" else float(bound): count - before.by(f"{name}_bucket", "le").get(bound, 0.0)
        for bound, count in now.by(f"{name}_bucket", "le").items()
    }
    bounds = sorted(grown)
    if not bounds or grown[bounds[-1]] <= 0:
        return None
    wanted, low, below = q * grown[bounds[-1]], 0.0, 0.0
    for bound in bounds:
        if grown[bound] >= wanted:
            if bound == float("inf"):
                return low
            share = (wanted - below) / (grown[bound] - below) if grown[bound] > below else 1.0
            return low + share * (bound - low)
        low, below = bound, grown[bound]
    return low


@dataclass(slots=True)
class View:
    """What is drawn, with the throughput of the last looks."""

    rates: list[float] = field(default_factory=list)

    def draw(self, url: str, before: Sample, now: Sample) -> RenderableType:
        """The whole screen."""
        seconds = max(1e-6, now.at - before.at)

        def rate(name: str, **labels: str) -> float:
            return (now.total(name, **labels) - before.total(name, **labels)) / seconds

        self.rates = [*self.rates, rate("oneread_requests_total")][-HISTORY:]
        ready = "[green]ready[/]" if now.total("oneread_ready") else "[red]not ready[/]"
        requests = _grid(
            ("requests/s", f"{self.rates[-1]:.1f} {spark(self.rates)}"),
            ("inside", f"{now.total('oneread_requests_inside'):.0f}"),
            *((f"p{round(q * 100)}", _ms(quantile(before, now, "oneread_request_seconds", q))) for q in (0.5, 0.95, 0.99)),
            *(
                (f"status {status}", f"{value:.0f}")
                for status, value in sorted(now.by("oneread_requests_total", "status").items())
            ),
        )
        engine = _grid(
            ("waiting", f"{now.total('oneread_queue_rows'):.0f} rows, {now.total('oneread_queue_tokens'):.0f} tokens"),
            ("wait p95", _ms(quantile(before, now, "oneread_queue_wait_seconds", 0.95))),
            ("read", f"{rate('oneread_tokens_read_total'):.0f} tokens/s"),
            ("drain", f"{now.total('oneread_drain_tokens_per_second'):.0f} tokens/s while reading"),
            ("pass p50", _ms(quantile(before, now, "oneread_pass_seconds", 0.5))),
            ("rows/pass", f"{_mean(before, now, 'oneread_pass_rows'):.1f}"),
            ("running", _ms(now.total("oneread_running_pass_seconds"))),
            ("from cache", _share(rate("oneread_tokens_reused_total"), rate("oneread_tokens_read_total"))),
            ("restarts", f"{now.total('oneread_engine_restarts'):.0f}"),
        )
        answers = _grid(
            ("questions/s", f"{rate('oneread_questions_total'):.1f}"),
            ("entropy", f"{_mean(before, now, 'oneread_entropy_nats'):.3f} nats"),
            ("label mass", f"{_mean(before, now, 'oneread_label_mass'):.3f}"),
            ("draws each", f"{_per(rate('oneread_draws_total'), rate('oneread_questions_total')):.2f}"),
            ("read again", _share(rate("oneread_rereads_total"), rate("oneread_questions_total"))),
            ("abstained", _share(rate("oneread_abstentions_total"), rate("oneread_questions_total"))),
            ("logged", f"{now.total('oneread_decisions_logged_total', outcome='written'):.0f}"),
            ("memory", f"{now.total('process_resident_memory_bytes') / 2**20:.0f} MiB"),
            ("engine memory", f"{now.total('oneread_engine_resident_bytes') / 2**20:.0f} MiB"),
            ("model", f"{now.total('oneread_device_bytes') / 2**20:.0f} MiB"),
            (
                "kv cache",
                f"{now.total('oneread_kv_bytes') / 2**20:.0f} of {now.total('oneread_kv_capacity_bytes') / 2**20:.0f} MiB",
            ),
        )
        boxes = (Panel(requests, title="requests"), Panel(engine, title="engine"), Panel(answers, title="answers"))
        return Group(f"[bold]oneread[/] {url} {ready}", Columns(boxes))


def spark(values: Iterable[float]) -> str:
    """Values as a line of small bars."""
    shown = list(values)
    most = max(shown, default=0.0) or 1.0
    return "".join(_BARS[min(len(_BARS) - 1, int(value / most * (len(_BARS) - 1)))] for value in shown)


def _look(url: str) -> Sample:
    request = urllib.request.Request(f"{url.rstrip('/')}/metrics")  # noqa: S310, the operator's own URL
    if API_KEY in os.environ:
        request.add_header("Authorization", f"Bearer {os.environ[API_KEY]}")
    if not url.startswith(("http://", "https://")):
        fail(f"{url} is not an http URL.", f"Write --url {URL}", 2)
    try:
        with urllib.request.urlopen(request, timeout=10) as got:  # noqa: S310
            return read_metrics(got.read().decode())
    except urllib.error.HTTPError as error:
        todo = f"Set {API_KEY} to a key of that server." if error.code in (401, 403) else "Check --url."
        fail(f"{url}/metrics answered {error.code}.", todo)
    except (OSError, ValueError):
        fail(f"No answer from {url}.", "Start a server with 'oneread serve', or give its address with --url.")


def _grid(*rows: tuple[str, str]) -> Table:
    table = Table.grid(padding=(0, 2))
    for name, value in rows:
        table.add_row(f"[dim]{name}[/]", value)
    return table


def _ms(seconds: float | None) -> str:
    return "–" if seconds is None else f"{1000 * seconds:.0f} ms"


def _per(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _share(part: float, whole: float) -> str:
    return f"{100 * _per(part, whole):.1f} %"


def _mean(before: Sample, now: Sample, name: str) -> float:
    count = now.total(f"{name}_count") - before.total(f"{name}_count")
    return (now.total(f"{name}_sum") - before.total(f"{name}_sum")) / count if count else 0.0
