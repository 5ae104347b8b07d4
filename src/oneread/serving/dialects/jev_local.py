"""What clients of jev-local saw on `/v1/systemone`: its usage, and failures of a few words."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from ...answers import Answers
from ..failures import Failure
from . import systemone
from .base import ALIASES, Ask, Dialect, Terms

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

NAMES = ("diffusiongemma-local", *ALIASES)

_UNPROCESSABLE = ("too_many_tokens", "unsupported_by_reader", "images_unsupported")
_DETAILS = {
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Request too large",
    500: "Inference failed",
    503: "Model is not ready",
    529: "Inference queue is full",
}


def parse(value: Any, terms: Terms) -> Ask:
    """As System One's. Raises as `systemone.parse` does."""
    ask = systemone.parse(value, terms)
    shown = isinstance(value, dict) and value.get("diagnostics") is True
    return replace(ask, reply=lambda answers: _reply(answers, shown))


def refuse(failure: Failure) -> tuple[int, dict[str, Any]]:
    """The status and the body of a failure: a few words, and our own list of places beside them."""
    if failure.issues:
        processed = all(issue.type in _UNPROCESSABLE for issue in failure.issues)
        detail = "Request cannot be processed" if processed else "Invalid request"
        return 422, {"detail": detail, "x_errors": systemone.error_body(failure)["detail"]}
    if failure.about == "model" and failure.status == 400:
        return 400, {"detail": "Unknown model"}
    status = 503 if failure.status == 529 else failure.status
    return status, {"detail": _DETAILS.get(failure.status, failure.message)}


def _reply(answers: Answers, shown: bool) -> dict[str, Any]:
    body = systemone.reply(answers if shown else replace(answers, diagnostics=None))
    told, usage = answers.diagnostics, answers.usage
    if told is not None:
        body["usage"] |= {
            "prompt_tokens": usage.input_tokens,
            "questions": len(told.questions),
            "decoder_passes": told.rows,
            "canvas_tokens": usage.output_tokens,
            "prefill_ms": told.timing_ms["plan"],
            "decode_ms": told.timing_ms["read"],
            "total_ms": told.timing_ms["total"],
            "peak_memory_gb": _peak_memory_gb(),
        }
    return body


def _peak_memory_gb() -> float | None:
    """The most resident memory that this process has had, in decimal gigabytes; None where the system does not tell."""
    if resource is None:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e9


DIALECT = Dialect(parse, refuse, NAMES)
