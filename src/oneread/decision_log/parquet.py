"""A decision log as a folder of Parquet files, each of up to a minute, for whoever reads logs by columns. Needs pyarrow."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import MissingExtra
from .entry import FORMAT, LogError, Record

SUFFIX = ".parquet"
MOST_RECORDS = 10_000
MOST_CHARS = 16_000_000
"""A part is written once so many records, or characters of them, are held back."""

_MARK = b"oneread.decision_log"
_PART = re.compile(r"decisions-\d{20}-\d+\.parquet")
_UNFINISHED = ".unfinished"


class ParquetFolder:
    """A `Sink`. Each flush writes one part, which appears whole or not at all; parts are deleted whole.

    The folder is made, for its owner only, where it does not exist.

    Raises:
        LogError: it cannot be written, or holds something else.
        MissingExtra: pyarrow is not installed.
    """

    def __init__(self, folder: Path) -> None:
        _pyarrow()
        try:
            folder.mkdir(0o700, exist_ok=True)
            strangers = sorted(name for name in os.listdir(folder) if not _PART.fullmatch(name.removesuffix(_UNFINISHED)))
        except OSError as error:
            raise LogError(f"{folder} cannot be written: {error.strerror}") from None
        if strangers:
            raise LogError(f"{folder} holds other files than a decision log's")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise LogError(f"{folder} cannot be written: Permission denied")
        self._folder = folder
        self._held: list[Record] = []
        self._chars = 0

    def put(self, record: Record) -> bool:
        """See `Sink`."""
        self._held.append(record)
        self._chars += len(record.request or "") + len(record.answers)
        if len(self._held) < MOST_RECORDS and self._chars < MOST_CHARS:
            return False
        self.flush()
        return True

    def flush(self) -> None:
        """See `Sink`."""
        held, self._held, self._chars = self._held, [], 0
        if not held:
            return
        pa, pq = _pyarrow()
        table = pa.Table.from_arrays(
            [pa.array(column, field.type) for column, field in zip(zip(*held, strict=True), _schema(pa), strict=True)],
            schema=_schema(pa),
        )
        part = self._folder / f"decisions-{time.time_ns():020d}-{os.getpid()}{SUFFIX}"
        unfinished = part.with_name(part.name + _UNFINISHED)
        try:
            with open(os.open(unfinished, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "wb") as out:
                pq.write_table(table, out, compression="zstd")
            unfinished.rename(part)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise

    def tidy(self, days: float | None, max_bytes: int) -> None:
        """See `Sink`. A part is as old as its newest record."""
        kept = [(part, part.stat().st_size) for part in _parts(self._folder)]
        oldest = 0.0 if days is None else time.time() - days * 86400
        total = sum(size for _, size in kept)
        for part, size in kept:
            if int(part.name.split("-")[1]) / 1e9 >= oldest and total <= max_bytes:
                break
            part.unlink(missing_ok=True)
            total -= size

    def close(self) -> None:
        """See `Sink`."""
        self._held.clear()


def is_parquet(file: Path) -> bool:
    """Whether a log of this name is, or would be, a folder of Parquet files or one of them."""
    return file.suffix == SUFFIX or file.is_dir()


def records(file: Path) -> Iterator[Record]:
    """The records of a folder, or of one part, oldest first.

    Raises:
        LogError: it is something else.
        MissingExtra: pyarrow is not installed.
    """
    pa, pq = _pyarrow()
    for part in _parts(file) if file.is_dir() else [file]:
        try:
            with pq.ParquetFile(part) as opened:
                if (opened.schema_arrow.metadata or {}).get(_MARK) != str(FORMAT).encode():
                    raise LogError(f"{part} is a Parquet file, but not of a decision log of this version")
                for batch in opened.iter_batches(columns=list(Record._fields)):
                    yield from (Record(**row) for row in batch.to_pylist())
        except (pa.ArrowException, OSError) as error:
            raise LogError(f"{part} cannot be read as a decision log: {type(error).__name__}") from None


def _parts(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if _PART.fullmatch(path.name))


def _schema(pa: Any) -> Any:
    types = {"at": pa.float64(), "input_tokens": pa.int64()}
    optional = ("calibration", "request")
    fields = [pa.field(name, types.get(name, pa.string()), nullable=name in optional) for name in Record._fields]
    return pa.schema(fields, {_MARK: str(FORMAT).encode()})


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("A decision log in Parquet needs pyarrow: pip install 'oneread[parquet]'") from None
    return pyarrow, pyarrow.parquet
