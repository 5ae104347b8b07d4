"""The log's SQLite file. Writing happens in a thread of its own and never holds up, or fails, a reply."""

from __future__ import annotations

import json
import logging
import os
import queue
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..answers import Answers
from ..errors import OnereadError
from ..questions import Request
from .codec import answers_value, digest, request_value

log = logging.getLogger("oneread.decision_log")

FORMAT = 1
MAX_WAITING_TOKENS = 10_000_000
"""Entries are dropped while those that wait to be written hold more input tokens than this: it bounds their memory."""

TIDY_S = 60.0
COMPLAIN_S = 60.0

_TABLE = """
create table if not exists decisions (
  id text not null, at real not null, reader text not null, reader_digest text not null, calibration text,
  digest text not null, request text, answers text not null, input_tokens integer not null
);
create index if not exists decisions_at on decisions (at);
"""


class LogError(OnereadError):
    """The file is not a decision log, or cannot be opened."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision as it was logged. ``request`` is None where only its digest was kept."""

    id: str
    at: float
    reader: str
    reader_digest: str
    calibration: str | None
    digest: str
    request: dict[str, Any] | None
    answers: dict[str, list[float]]


class DecisionLog:
    """Writes decisions to a SQLite file. Safe to call from any thread; no call blocks or raises, but the first.

    Args:
        file: made, readable by its owner only, where it does not exist.
        full: keep requests; otherwise only the SHA-256 of state and questions.
        sample: the share of decisions that is kept.
        days: entries older than this are deleted; None keeps them.
        max_bytes: beyond this size the oldest entries are deleted.
        counted: called with ``"written"``, ``"left_out"`` (by the sampling), ``"dropped"`` (too many waited) or
            ``"failed"`` (the file could not take it) for each decision.

    Raises:
        LogError: the file cannot be opened or is something else.
    """

    def __init__(
        self,
        file: Path,
        full: bool = False,
        sample: float = 1.0,
        days: float | None = None,
        max_bytes: int = 1 << 30,
        counted: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._file, self._full, self._sample, self._days, self._max_bytes = file, full, sample, days, max_bytes
        self._counted = counted
        self._waiting: queue.SimpleQueue[tuple[Any, ...] | None] = queue.SimpleQueue()
        self._waiting_tokens = 0
        self._lock = threading.Lock()
        self._complained_at = -COMPLAIN_S
        os.close(_made(file))
        _open(file).close()
        self._thread = threading.Thread(target=self._write, name="oneread-decision-log", daemon=True)
        self._thread.start()

    def note(self, id: str, request: Request, answers: Answers, reader_digest: str, calibration: str | None) -> None:
        """Keep a decision."""
        if random.random() >= self._sample:
            self._counted("left_out")
            return
        tokens = answers.usage.input_tokens
        with self._lock:
            fits = self._waiting_tokens + tokens <= MAX_WAITING_TOKENS
            if fits:
                self._waiting_tokens += tokens
        if fits:
            self._waiting.put((id, time.time(), request, answers, reader_digest, calibration))
        else:
            self._counted("dropped")

    def close(self) -> None:
        """Write what waits."""
        self._waiting.put(None)
        self._thread.join()

    def _write(self) -> None:
        connection: sqlite3.Connection | None = None
        tidied = -TIDY_S
        while (noted := self._waiting.get()) is not None:
            try:
                if connection is None:
                    connection = _open(self._file)
                self._insert(connection, *noted)
                if time.monotonic() - tidied > TIDY_S:
                    self._tidy(connection)
                    tidied = time.monotonic()
                outcome = "written"
            except Exception as error:  # a full disk, a file that was moved: the reply is long gone and must not suffer
                outcome = "failed"
                self._complain(error)
                _give_up(connection)
                connection = None
            with self._lock:
                self._waiting_tokens -= noted[3].usage.input_tokens
            self._counted(outcome)
        if connection is not None:
            connection.close()

    def _insert(
        self,
        connection: sqlite3.Connection,
        id: str,
        at: float,
        request: Request,
        answers: Answers,
        reader_digest: str,
        calibration: str | None,
    ) -> None:
        kept = json.dumps(request_value(request), ensure_ascii=False) if self._full and not request.images else None
        row = (
            id, at, answers.model, reader_digest, calibration, digest(request), kept,
            json.dumps(answers_value(answers)), answers.usage.input_tokens,
        )  # fmt: skip
        connection.execute("insert into decisions values (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def _tidy(self, connection: sqlite3.Connection) -> None:
        if self._days is not None:
            connection.execute("delete from decisions where at < ?", (time.time() - self._days * 86400,))
        size, pages, free = (
            connection.execute(f"pragma {p}").fetchone()[0] for p in ("page_size", "page_count", "freelist_count")
        )
        if (pages - free) * size > self._max_bytes:
            # freed pages are used again, so the file stops growing; it does not shrink
            connection.execute(
                "delete from decisions where rowid in (select rowid from decisions order by at limit "
                "(select 1 + count(*) / 4 from decisions))"
            )

    def _complain(self, error: Exception) -> None:
        now = time.monotonic()
        if now - self._complained_at >= COMPLAIN_S:
            self._complained_at = now
            # sqlite3's own errors speak of the file; what else is raised may hold evidence
            what = str(error) if isinstance(error, sqlite3.Error | LogError | OSError) else type(error).__name__
            log.error("the decision log could not be written: %s", what)


def entries(file: Path) -> Iterator[Entry]:
    """The entries of a log, oldest first.

    Raises:
        LogError: there is no such file, or it is something else.
    """
    if not file.is_file():
        raise LogError(f"{file} is not there")
    connection = _open(file)
    try:
        rows = connection.execute(
            "select id, at, reader, reader_digest, calibration, digest, request, answers from decisions order by at, rowid"
        )
        for id, at, reader, reader_digest, calibration, hashed, request, answers in rows:
            kept = None if request is None else json.loads(request)
            yield Entry(id, at, reader, reader_digest, calibration, hashed, kept, json.loads(answers))
    finally:
        connection.close()


def _open(file: Path) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(file, timeout=5, isolation_level=None)
        try:
            version = connection.execute("pragma user_version").fetchone()[0]
            empty = not connection.execute("select 1 from sqlite_master limit 1").fetchone()
            if version != FORMAT and not empty:
                raise LogError(f"{file} is a database, but not a decision log of this version")
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = normal")
            if empty:
                connection.executescript(_TABLE)
                connection.execute(f"pragma user_version = {FORMAT}")
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise LogError(f"{file} cannot be used as a decision log: {error}") from None
    return connection


def _made(file: Path) -> int:
    try:
        return os.open(file, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise LogError(f"{file} cannot be written: {error.strerror}") from None


def _give_up(connection: sqlite3.Connection | None) -> None:
    """Close a connection whose file failed; the next entry opens another."""
    if connection is not None:
        try:
            connection.close()
        except sqlite3.Error as error:
            log.debug("closing failed: %s", error)
