"""Fireworks' path to System One: `POST /inference/v1/systemone`. Bodies and replies are TypeSafe's, failures Fireworks'."""

from __future__ import annotations

from typing import Any

from ..failures import Failure
from . import openai_errors, systemone
from .base import Dialect


def refuse(failure: Failure) -> tuple[int, dict[str, Any]]:
    """The status and the body of a failure: OpenAI's error object, marked as one; an unknown model is a 400."""
    status, body = openai_errors.refuse(failure)
    return (400 if status == 404 and failure.about else status), {"error": {"object": "error", **body["error"]}}


DIALECT = Dialect(systemone.parse, refuse)
