"""Load on a served reader: how fast it answers, how much it answers, what it refuses, and whether it loses anything.

    python bench/load.py                      closed loop, 1 4 16 64 256 clients; then open loop, at 0.5 0.8 1 1.5 2 of the best
    python bench/load.py --rates 2 5 10       open loop only, so many requests a second arrive whatever happens
    python bench/load.py --soak 10            16 clients for so many minutes; the slopes of memory

Starts a server of its own unless --url is given, with the threads and the deadline given here. Every request is written once
and must get exactly one reply that is an answer or a typed error; anything else is counted as lost, and ends the run with 1.
Late are those that were let in and then answered with a 504. Latencies are of answers, to the last byte received: in the closed
loop from the first byte sent, in the open loop from the moment at which the request was to arrive. Client and server share the
machine's cores. --json writes all figures, with what the machine and the server were.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import platform
import random
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

WORDS = str.split(
    "the site is down since noon and customers cannot pay their invoices please help us quickly our team lost access to the "
    "dashboard after the update refund charged twice card declined thank you everything works fine now great service"
)
OPTIONS = ("billing", "outage", "sales", "praise", "account access", "something else")


def make_body(dice: random.Random) -> bytes:
    """A ticket of 20 to 80 words and one to four questions about it."""
    questions: dict[str, object] = {}
    for i in range(dice.randint(1, 4)):
        match dice.randrange(3):
            case 0:
                questions[f"q{i}"] = {"type": "noul", "instructions": "Does this need a reply within the hour?"}
            case 1:
                questions[f"q{i}"] = {
                    "type": "choice",
                    "instructions": "Which team should answer?",
                    "criteria": dict.fromkeys(OPTIONS[: dice.randint(2, 6)]),
                }
            case _:
                questions[f"q{i}"] = {"type": "score", "instructions": "How upset?", "criteria": ["calm", "annoyed", "furious"]}
    state = " ".join(dice.choices(WORDS, k=dice.randint(20, 80)))
    return json.dumps({"state": state, "questions": questions}).encode()


MALFORMED = "malformed reply"
LATE = "The answer was not there in time"
"""How the message of a 504 begins that a request got after it was let in."""


@dataclass
class Outcome:
    """Replies of one run."""

    sent: int = 0
    answered_s: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    late: int = 0
    questions: int = 0
    seconds: float = 0.0

    def row(self, name: str) -> dict[str, object]:
        """What is reported of it."""
        assert self.sent == self.statuses.total() + sum(n for what, n in self.lost.items() if what != MALFORMED), "miscounted"
        times = sorted(self.answered_s)

        def ms(q: float) -> float | None:
            return round(1000 * times[min(len(times) - 1, int(q * len(times)))], 1) if times else None

        refused = {str(status): count for status, count in sorted(self.statuses.items()) if status != 200}
        return {
            "load": name,
            "sent": self.sent,
            "answered": len(times),
            "refused": refused,
            "late": self.late,
            "lost": dict(self.lost),
            "p50_ms": ms(0.5),
            "p95_ms": ms(0.95),
            "p99_ms": ms(0.99),
            "answers_per_s": round(len(times) / self.seconds, 2),
            "questions_per_s": round(self.questions / self.seconds, 2),
        }


class Client:
    """One connection, opened again when the server closed it."""

    def __init__(self, host: str, port: int, key: str | None) -> None:
        self._address = host, port
        self._head = f"POST /v1/systemone HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
        if key is not None:
            self._head += f"authorization: Bearer {key}\r\n"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, body: bytes, outcome: Outcome, since: float | None = None) -> float:
        """Send one request and note its reply; seconds to wait before the next, as a refusal asked for.

        Args:
            since: from when its latency counts; None for when it is sent.
        """
        outcome.sent += 1
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection(*self._address)
            reader, writer = self._streams
            start = time.perf_counter() if since is None else since
            writer.write(f"{self._head}content-length: {len(body)}\r\n\r\n".encode() + body)
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 120)
            length = int(re.search(rb"content-length: (\d+)", head)[1])  # type: ignore[index]
            content = await asyncio.wait_for(reader.readexactly(length), 120)
            spent = time.perf_counter() - start
            status, value = int(head.split(b" ", 2)[1]), json.loads(content)
        except (OSError, asyncio.IncompleteReadError, TimeoutError, ValueError, TypeError) as error:
            outcome.lost[type(error).__name__] += 1
            self.close()
            return 0.0
        if b"connection: close" in head.lower():
            self.close()
        outcome.statuses[status] += 1
        if status == 200 and set(value) >= {"model", "answers", "usage"}:
            outcome.answered_s.append(spent)
            outcome.questions += len(value["answers"])
            return 0.0
        if status == 200 or "error_type" not in str(value):
            outcome.lost[MALFORMED] += 1
        outcome.late += status == 504 and LATE in str(value)
        wait = re.search(rb"retry-after-ms: (\d+)", head)
        return int(wait[1]) / 1000 if wait else 0.0

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def closed(address: tuple[str, int], key: str | None, clients: int, seconds: float, seed: int) -> Outcome:
    """So many clients, each of which asks again as soon as it was answered; a refused one waits as it was told to."""
    outcome, end = Outcome(), time.perf_counter() + seconds

    async def one(number: int) -> None:
        client, dice = Client(*address, key), random.Random(seed * 1000 + number)
        while time.perf_counter() < end:
            wait = await client.ask(make_body(dice), outcome)
            await asyncio.sleep(min(wait, max(0.0, end - time.perf_counter())))
        client.close()

    start = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(clients)))
    outcome.seconds = time.perf_counter() - start
    return outcome


async def opened(address: tuple[str, int], key: str | None, rate: float, seconds: float, seed: int) -> Outcome:
    """Requests that arrive at random, so many a second on average, however long the server takes. Refused ones do not return."""
    outcome, dice, idle = Outcome(), random.Random(seed), list[Client]()

    async def one(body: bytes, arrived: float) -> None:
        client = idle.pop() if idle else Client(*address, key)
        await client.ask(body, outcome, arrived)
        idle.append(client)

    start = time.perf_counter()
    calls = []
    at = start
    while (at := at + dice.expovariate(rate)) < start + seconds:
        await asyncio.sleep(max(0.0, at - time.perf_counter()))
        calls.append(asyncio.create_task(one(make_body(dice), at)))
    await asyncio.gather(*calls)
    outcome.seconds = time.perf_counter() - start
    for client in idle:
        client.close()
    return outcome


def memory(url: str, key: str | None) -> tuple[float, float]:
    """MiB of the server and of its engine's process."""
    request = urllib.request.Request(f"{url}/metrics", headers={} if key is None else {"authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request, timeout=60) as got:
        text = got.read().decode()
    names = ("process_resident_memory_bytes", "oneread_engine_resident_bytes")
    server, engine = (float(re.search(rf"^{name} (\S+)", text, re.M)[1]) / 2**20 for name in names)  # type: ignore[index]
    return server, engine


async def soak(address: tuple[str, int], url: str, key: str | None, seconds: float) -> dict[str, object]:
    """16 clients for so long, and the slopes of memory over the second half of it."""
    samples: list[tuple[float, float, float]] = []
    load = asyncio.create_task(closed(address, key, 16, seconds, 7))
    start = time.perf_counter()
    while not load.done():
        samples.append((time.perf_counter() - start, *await asyncio.to_thread(memory, url, key)))
        await asyncio.wait({load}, timeout=2)
    row = (await load).row(f"soak {seconds / 60:g} min, 16 clients")
    late = [sample for sample in samples if sample[0] > seconds / 2] or samples
    for column, name in ((1, "server"), (2, "engine")):
        rate, error = slope([s[0] for s in late], [s[column] for s in late])
        row[f"{name}_mib"] = {
            "first": round(samples[0][column], 1),
            "half": round(late[0][column], 1),
            "last": round(samples[-1][column], 1),
            "most": round(max(s[column] for s in samples), 1),
        }
        row[f"{name}_slope_mib_per_hour"] = round(3600 * rate, 2)
        row[f"{name}_slope_error_mib_per_hour"] = round(3600 * error, 2)
    row["samples"] = [[round(value, 2) for value in sample] for sample in samples]
    return row


def slope(times: list[float], values: list[float]) -> tuple[float, float]:
    """Least squares: the slope and its standard error (infinite for fewer than three samples)."""
    n, mean_t, mean_v = len(times), sum(times) / len(times), sum(values) / len(values)
    spread = sum((t - mean_t) ** 2 for t in times)
    if n < 3 or spread == 0:
        return 0.0, math.inf
    rate = sum((t - mean_t) * (v - mean_v) for t, v in zip(times, values, strict=True)) / spread
    rest = sum((v - mean_v - rate * (t - mean_t)) ** 2 for t, v in zip(times, values, strict=True))
    return rate, math.sqrt(rest / (n - 2) / spread)


@contextmanager
def served(url: str | None, threads: int, timeout_ms: int, flags: list[str]) -> Iterator[str]:
    """The URL of a server that is ready: the one given, or one that lives as long as this."""
    if url is not None:
        yield url.rstrip("/")
        return
    command = [sys.executable, "-c", "from oneread.cli import app; app()", "serve", "--port", "0", "--threads", str(threads)]
    command += ["--timeout-ms", str(timeout_ms), *flags]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "200"})
    try:
        assert process.stdout is not None
        found = None
        for line in process.stdout:
            found = found or re.search(r"http://127\.0\.0\.1:\d+", line)
            if line.strip().startswith("curl"):
                break
        assert found is not None
        yield found[0]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def run_loops(args: argparse.Namespace, address: tuple[str, int], key: str | None) -> list[dict[str, object]]:
    """The closed loop, and the open one at shares of its best; or the open loop alone at given rates."""
    rows: list[dict[str, object]] = []

    def open_loop(rate: float, name: str) -> None:
        rows.append(asyncio.run(opened(address, key, rate, args.seconds, round(rate * 100))).row(name))

    if args.rates:
        for rate in args.rates:
            open_loop(rate, f"open, {rate:g}/s")
        return rows
    found: dict[int, float] = {}
    for clients in args.clients:
        outcome = asyncio.run(closed(address, key, clients, args.seconds, clients))
        found[clients] = len(outcome.answered_s) / outcome.seconds
        rows.append(outcome.row(f"{clients} clients"))
    best = max(found.values())
    for row, rate in zip(rows, found.values(), strict=True):
        row["of_best"] = round(rate / best, 3) if best else None
    for share in args.shares if best else ():
        open_loop(share * best, f"open, {share:g} of the best: {share * best:.1f}/s")
    return rows


def served_about(url: str, key: str | None) -> dict[str, object]:
    """The reader served."""
    request = urllib.request.Request(f"{url}/v1/models", headers={} if key is None else {"authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request, timeout=60) as got:
        return {"reader": json.load(got)["data"][0]["id"]}


def show(rows: list[dict[str, object]]) -> None:
    """Print the table, and what a soak found of memory."""
    names = ["load", "answers_per_s", "of_best", "questions_per_s", "p50_ms", "p95_ms", "p99_ms"]
    names += ["sent", "answered", "refused", "late", "lost"]
    print("| " + " | ".join(name.replace("_per_s", "/s").replace("_", " ") for name in names) + " |")
    print("|" + "---|" * len(names))
    for row in rows:
        print("| " + " | ".join(str(row.get(name, "")) for name in names) + " |")
    for row in rows:
        for name in ("server", "engine"):
            if f"{name}_mib" in row:
                error = row[f"{name}_slope_error_mib_per_hour"]
                print(f"\n{name} {row[f'{name}_mib']} MiB, slope {row[f'{name}_slope_mib_per_hour']} ± {error} MiB/hour")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 4, 16, 64, 256])
    parser.add_argument("--shares", type=float, nargs="*", default=[0.5, 0.8, 1, 1.5, 2], help="of the best, for the open loop")
    parser.add_argument("--rates", type=float, nargs="+", default=[], metavar="RATE", help="open loop at these rates instead")
    parser.add_argument("--soak", type=float, metavar="MINUTES", help="soak instead")
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--timeout-ms", type=int, default=10_000)
    parser.add_argument(
        "--serve", nargs="+", default=[], metavar="FLAG", help="more flags of oneread serve, without their dashes"
    )
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    key = os.environ.get("ONEREAD_API_KEY")
    flags = [part for flag in args.serve for part in (f"--{flag}").split("=")]
    with served(args.url, args.threads, args.timeout_ms, flags) as url:
        host, port = url.removeprefix("http://").split(":")
        address = host, int(port)
        asyncio.run(closed(address, key, 2, 3.0, 99))  # so that nothing is measured cold
        soaked = args.soak is not None
        rows = [asyncio.run(soak(address, url, key, args.soak * 60))] if soaked else run_loops(args, address, key)
        about = served_about(url, key)
    show(rows)
    if args.json is not None:
        machine = {"cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}
        value = {**about, **machine, "load_average": os.getloadavg(), "threads": args.threads, "flags": flags, "rows": rows}
        args.json.write_text(json.dumps(value, indent=1) + "\n")
    if any(row["lost"] for row in rows):
        raise SystemExit("requests were lost")


if __name__ == "__main__":
    main()
