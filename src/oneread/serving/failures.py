"""What a caller is told when a request is not answered. Neutral of any wire shape: a dialect draws the body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.exceptions import HTTPException

from ..errors import EngineError, InvalidRequest, Issue, UnknownModel

RETRY_AFTER_S = 1


@dataclass(frozen=True, slots=True)
class Failure:
    """A reply that is not an answer.

    Attributes:
        status: HTTP status.
        kind: a stable machine name, e.g. ``"authentication_error"``.
        message: one or two sentences for a person; never anything out of the body.
        issues: what is wrong with the request, place by place; only with status 422.
        headers: extra reply headers.
        about: the field it is about (``"model"``), where a dialect tells such failures apart.
    """

    status: int
    kind: str
    message: str
    issues: tuple[Issue, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    about: str = ""


class Refused(Exception):
    """Raised anywhere in serving to end a request with a failure."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.message)


INTERNAL = Failure(
    500, "internal_error", "The server failed while it answered. Nothing of the request was kept; it may be sent again."
)

_HTTP_KINDS = {
    404: ("not_found", "No such path here. The paths served are listed in /openapi.json."),
    405: ("method_not_allowed", "This path does not take that method; the allow header names those it takes."),
}


def failure_of(error: Exception) -> Failure:
    """The failure that an expected error stands for; anything else is `INTERNAL`."""
    match error:
        case Refused(failure=failure):
            return failure
        case InvalidRequest(issues=issues):
            return Failure(422, "invalid_request", "The request is not valid.", issues)
        case UnknownModel():
            return Failure(400, "api_usage_error", str(error), about="model")
        case EngineError():
            return unavailable("The engine failed while it read. The request may be sent again.")
        case HTTPException(status_code=status, headers=headers):
            kind, message = _HTTP_KINDS.get(status, ("api_usage_error", "The request was refused."))
            return Failure(status, kind, message, headers=headers or {})
        case _:
            return INTERNAL


def unavailable(message: str) -> Failure:
    """503 with the time after which to try again."""
    headers = {"retry-after": str(RETRY_AFTER_S), "retry-after-ms": str(RETRY_AFTER_S * 1000)}
    return Failure(503, "unavailable", message, headers=headers)
