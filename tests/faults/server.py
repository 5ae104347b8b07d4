"""A server as its users start it, and callers that check each reply for what every reply must be."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

SECRET = "planted-secret-5ab1"
ONEREAD = [sys.executable, "-c", "from oneread.cli import app; app()"]
ERRORS = {400, 401, 403, 408, 413, 422, 429, 500, 503, 504, 529}


def body(questions: int = 2, words: int = 0) -> dict[str, Any]:
    """A request about a state of a sentence and so many words more: what it costs to read grows with both numbers."""
    return {
        "state": f"The site is down, says {SECRET}.{' down' * words}",
        "questions": {f"q{i}": {"type": "noul", "instructions": f"Is it urgent, {i}?"} for i in range(questions)},
    }


@dataclass
class Running:
    """A server process."""

    process: subprocess.Popen[str]
    url: str
    log: Path

    @property
    def engine(self) -> int:
        """The pid of the engine's process."""
        pid = self.process.pid
        children = (Path(f"/proc/{pid}/task/{task}/children") for task in os.listdir(f"/proc/{pid}/task"))
        found = [int(child) for file in children for child in file.read_text().split()]
        return next(child for child in found if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text())

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def metric(self, name: str, **headers: str) -> float:
        text = httpx.get(f"{self.url}/metrics", headers=headers, timeout=30).text
        return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if re.match(rf"{name}(?:\{{|\s)", line))

    def wait_ready(self, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if httpx.get(f"{self.url}/ready", timeout=30).status_code == 200:
                return
            time.sleep(0.1)
        raise AssertionError(httpx.get(f"{self.url}/ready", timeout=30).text)


@contextmanager
def serve(directory: Path, *flags: str, environ: dict[str, str] | None = None, **popen: Any) -> Iterator[Running]:
    log = directory / "server.log"
    command = [*ONEREAD, "serve", "--port", "0", "--log-format", "json", "--log-level", "debug", "--threads", "2", *flags]
    own = {name: value for name, value in os.environ.items() if not name.startswith("ONEREAD_")}
    with log.open("w") as err:
        process = subprocess.Popen(
            command, env={**own, "COLUMNS": "200", **(environ or {})}, stdout=subprocess.PIPE, stderr=err, text=True, **popen
        )
    try:
        assert process.stdout is not None
        url = None
        for line in process.stdout:
            url = url or re.search(r"https?://127\.0\.0\.1:\d+", line)
            if line.strip().startswith("curl"):
                break
        assert url is not None, log.read_text()
        yield Running(process, url[0], log)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        process.wait()
    assert SECRET not in log.read_text()


def checked(got: httpx.Response) -> int:
    """The status of a reply that is well-formed: an answer, or a typed error that says when to come back where it should."""
    value = json.loads(got.content)
    assert SECRET not in got.text
    assert got.headers["x-typesafe-request-id"].startswith("req_")
    if got.status_code == 200:
        assert set(value) >= {"model", "answers", "usage"}
    else:
        assert got.status_code in ERRORS, got.text
        assert got.status_code == 422 or set(value["detail"]) == {"error_type", "message"}
        if got.status_code in (429, 503, 529):
            assert 0 < int(got.headers["retry-after"]) < 30
            assert int(got.headers["retry-after-ms"]) > 0
    return got.status_code


async def ask_many(url: str, count: int, at_once: int, questions: int = 2, words: int = 0, **headers: str) -> list[int]:
    """The statuses of so many requests, all of them replied to."""
    gate = asyncio.Semaphore(at_once)

    async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=at_once)) as client:

        async def ask() -> int:
            async with gate:
                return checked(await client.post(f"{url}/v1/systemone", json=body(questions, words), headers=headers))

        return await asyncio.gather(*(ask() for _ in range(count)))
