"""The server's log: one line for each event, as text or as JSON, never anything out of a request's body."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any, Literal

LogFormat = Literal["text", "json"]

FIELDS = "oneread_fields"
"""Attribute of a log record that holds its fields."""


def set_up(form: LogFormat, level: str) -> None:
    """Send the logs of oneread and uvicorn to stderr in this form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if form == "json" else _Text())
    for name in ("oneread", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False


def event(logger: logging.Logger, level: int, message: str, **fields: Any) -> None:
    """Log an event with its fields."""
    if logger.isEnabledFor(level):
        logger.log(level, message, extra={FIELDS: fields})


def _time(record: logging.LogRecord) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, FIELDS, {}),
        }
        # an exception's own words may hold evidence, so only its type is written
        if record.exc_info and record.exc_info[0]:
            line["exception"] = record.exc_info[0].__name__
        return json.dumps(line, default=str)


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{key}={value}" for key, value in getattr(record, FIELDS, {}).items())
        exception = f" {record.exc_info[0].__name__}" if record.exc_info and record.exc_info[0] else ""
        return f"{_time(record)} {record.levelname.lower()} {record.getMessage()}{exception}{' ' if fields else ''}{fields}"
