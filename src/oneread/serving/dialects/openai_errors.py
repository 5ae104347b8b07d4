"""Failures in OpenAI's shape: one error object, with the first place that is wrong as `param`."""

from __future__ import annotations

from typing import Any

from ...errors import Loc
from ..failures import Failure
from .systemone_reply import short


def refuse(failure: Failure) -> tuple[int, dict[str, Any]]:
    """The status and the body of a failure: an invalid request is a 400, a missing key a 401, an unknown model a 404."""
    status, kind, code = failure.status, "invalid_request_error", failure.kind
    param, message = None, failure.message
    if failure.issues:
        first = failure.issues[0]
        status, code = 400, first.type
        param = path(first.loc) or None
        more = len(failure.issues) - 1
        message = f"{param}: {first.message}" if param else first.message
        message += f" (and {more} more)" if more else ""
    elif failure.about == "model" and status == 400:
        status, code, param = 404, "model_not_found", "model"
    elif failure.kind == "authentication_error":
        status, code = 401, "invalid_api_key"
    elif status == 429:
        kind, code = "rate_limit_error", "rate_limit_exceeded"
    elif status >= 500:
        kind = "server_error"
    return status, {"error": {"message": message, "type": kind, "param": param, "code": code}}


def path(loc: Loc) -> str:
    """A place as OpenAI writes it: ``questions[0].choices[2].value``; ``offset 7`` in a text that is no JSON."""
    if len(loc) == 1 and isinstance(loc[0], int):
        return f"offset {loc[0]}"
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{short(part)}" if text else str(short(part))
    return text
