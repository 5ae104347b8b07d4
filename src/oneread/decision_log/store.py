"""The decision log. Writing happens in a thread of its own and never holds up, or fails, a reply."""

from __future__ import annotations

import json
import logging
import queue
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..answers import Answers
from ..questions import Request
from . import parquet, sqlite
from .codec import answers_value, digest, request_value
from .entry import Entry, LogError, Record, Sink

log = logging.getLogger("oneread.decision_log")

MAX_WAITING_TOKENS = 10_000_000
"""Entries are dropped while those that wait to be written hold more input tokens than this: it bounds their memory."""

TIDY_S = 60.0
COMPLAIN_S = 60.0
FLUSH_S = 60.0
"""Entries are held back for at most so long, where each is not written at once."""


class DecisionLog:
    """Writes decisions to a file. Safe to call from any thread; no call blocks or raises, but the first.

    Args:
        file: a SQLite file, or where its name ends in ``.parquet`` a folder of Parquet files; made, for its owner only, where
            it does not exist.
        full: keep requests; otherwise only the SHA-256 of state and questions.
        sample: the share of decisions that is kept.
        days: entries older than this are deleted; None keeps them.
        max_bytes: beyond this size the oldest entries are deleted.
        counted: called with ``"written"``, ``"left_out"`` (by the sampling), ``"dropped"`` (too many waited) or
            ``"failed"`` (the file could not take it) for each decision.

    Raises:
        LogError: the file cannot be opened or is something else.
        MissingExtra: a folder of Parquet files needs pyarrow, which is not installed.
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
        sink: Sink | None = None
        held: list[int] = []  # the tokens of entries that the sink has taken and not written
        flushed = tidied = -TIDY_S
        ended = False
        while not ended:
            try:
                noted = self._waiting.get(timeout=max(0.0, flushed + FLUSH_S - time.monotonic()) if held else None)
            except queue.Empty:
                noted = _FLUSH
            ended = noted is None
            try:
                written = False
                if noted is not None and noted is not _FLUSH:
                    if not held:
                        flushed = time.monotonic()
                    held.append(noted[3].usage.input_tokens)
                    sink = sink or _open(self._file)
                    written = sink.put(self._record(*noted))
                elif sink is not None:
                    sink.flush()
                    written = True
                if written:
                    self._settle(held, "written")
                if sink is not None and written and time.monotonic() - tidied > TIDY_S:
                    sink.tidy(self._days, self._max_bytes)
                    tidied = time.monotonic()
            except Exception as error:  # a full disk, a file that was moved: the reply is long gone and must not suffer
                self._settle(held, "failed")
                self._complain(error)
                _give_up(sink)
                sink = None
        if sink is not None:
            sink.close()

    def _settle(self, held: list[int], outcome: str) -> None:
        with self._lock:
            self._waiting_tokens -= sum(held)
        for _ in held:
            self._counted(outcome)
        held.clear()

    def _record(
        self, id: str, at: float, request: Request, answers: Answers, reader_digest: str, calibration: str | None
    ) -> Record:
        kept = json.dumps(request_value(request), ensure_ascii=False) if self._full and not request.images else None
        told, tokens = json.dumps(answers_value(answers)), answers.usage.input_tokens
        return Record(id, at, answers.model, reader_digest, calibration, digest(request), kept, told, tokens)

    def _complain(self, error: Exception) -> None:
        now = time.monotonic()
        if now - self._complained_at >= COMPLAIN_S:
            self._complained_at = now
            # sqlite3's own errors speak of the file; what else is raised may hold evidence
            what = str(error) if isinstance(error, sqlite3.Error | LogError | OSError) else type(error).__name__
            log.error("the decision log could not be written: %s", what)


_FLUSH: Any = object()


def entries(file: Path) -> Iterator[Entry]:
    """The entries of a log, oldest first: of a SQLite file, of a folder of Parquet files, or of one of those.

    Raises:
        LogError: there is no such file, or it is something else.
        MissingExtra: Parquet needs pyarrow, which is not installed.
    """
    if not file.exists():
        raise LogError(f"{file} is not there")
    kind = parquet if parquet.is_parquet(file) else sqlite
    for record in kind.records(file):
        yield record.entry


def _open(file: Path) -> Sink:
    return parquet.ParquetFolder(file) if parquet.is_parquet(file) else sqlite.SqliteFile(file)


def _give_up(sink: Sink | None) -> None:
    """Close a file that failed; the next entry opens another."""
    if sink is not None:
        try:
            sink.close()
        except sqlite3.Error as error:
            log.debug("closing failed: %s", error)
