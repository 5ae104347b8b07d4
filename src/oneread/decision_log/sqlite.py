"""A decision log in one SQLite file, where each record is at once."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from .entry import FORMAT, LogError, Record

_TABLE = """
create table if not exists decisions (
  id text not null, at real not null, reader text not null, reader_digest text not null, calibration text,
  digest text not null, request text, answers text not null, input_tokens integer not null
);
create index if not exists decisions_at on decisions (at);
"""


class SqliteFile:
    """A `Sink`. The file is made, readable by its owner only, where it does not exist.

    Raises:
        LogError: it cannot be opened or is something else.
    """

    def __init__(self, file: Path) -> None:
        os.close(_made(file))
        self._connection = open_file(file)

    def put(self, record: Record) -> bool:
        """See `Sink`."""
        self._connection.execute("insert into decisions values (?, ?, ?, ?, ?, ?, ?, ?, ?)", record)
        return True

    def flush(self) -> None:
        """Nothing is held back."""

    def tidy(self, days: float | None, max_bytes: int) -> None:
        """See `Sink`."""
        connection = self._connection
        if days is not None:
            connection.execute("delete from decisions where at < ?", (time.time() - days * 86400,))
        size, pages, free = (
            connection.execute(f"pragma {p}").fetchone()[0] for p in ("page_size", "page_count", "freelist_count")
        )
        if (pages - free) * size > max_bytes:
            # freed pages are used again, so the file stops growing; it does not shrink
            connection.execute(
                "delete from decisions where rowid in (select rowid from decisions order by at limit "
                "(select 1 + count(*) / 4 from decisions))"
            )

    def close(self) -> None:
        """See `Sink`."""
        self._connection.close()


def records(file: Path) -> Iterator[Record]:
    """The records of a file, oldest first. Raises `LogError` where it is something else."""
    connection = open_file(file)
    try:
        for row in connection.execute(f"select {', '.join(Record._fields)} from decisions order by at, rowid"):  # noqa: S608
            yield Record(*row)
    finally:
        connection.close()


def open_file(file: Path) -> sqlite3.Connection:
    """A connection to a log, whose table is made where the file is empty."""
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
