"""How much one request may ask: every bound is known before the request is admitted, and each has a typed error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidRequest, Issue, Loc
from ..questions import Request, option_count, question_type


@dataclass(frozen=True, slots=True)
class Limits:
    """What an operator may set. Beyond a limit a request is refused whole, nothing is cut off.

    Attributes:
        questions: the most questions of a request.
        options: the most options of a question, 2 to 255.
        state_chars: the most characters in the strings of a state.
        question_chars: the most characters in the strings of one question.
        reads: the most questions times draws: what a request could make the engine read at least once.
        tokens: the most tokens over all rows of a request.
        requests: the most requests in the house: being read in, waiting, being answered.
        queue_tokens: the most tokens that wait for the engine, unless nothing else waits.
        header_bytes: the longest head of an HTTP request.
        header_s: how long a head may take to arrive.
        body_s: how long a body may take to arrive.
        timeout_s: a request's deadline where it names none, counted from its head's arrival.
        max_timeout_s: the longest deadline a request may name.
    """

    questions: int = 2048
    options: int = 255
    state_chars: int = 4_000_000
    question_chars: int = 200_000
    reads: int = 4096
    tokens: int = 2_000_000
    requests: int = 1024
    queue_tokens: int = 4_000_000
    header_bytes: int = 32 * 1024
    header_s: float = 10.0
    body_s: float = 10.0
    timeout_s: float = 10.0
    max_timeout_s: float = 300.0


def check(request: Request, limits: Limits) -> None:
    """Raise `InvalidRequest`, with an issue for each bound passed; messages hold counts only."""
    issues: list[Issue] = []
    if len(request.questions) > limits.questions:
        issues.append(_over(("questions",), "questions", len(request.questions), limits.questions, "too_many_questions"))
    reads = len(request.questions) * _draws(request)
    if reads > limits.reads:
        issues.append(_over(("questions",), "questions times draws", reads, limits.reads, "too_many_reads"))
    length = _chars(request.state, limits.state_chars)
    if length > limits.state_chars:
        issues.append(_over(("state",), "characters", None, limits.state_chars, "text_too_long"))
    for key, question in request.questions.items():
        loc: Loc = ("questions", key, question_type(question))
        if option_count(question) > limits.options:
            issues.append(_over((*loc, "criteria"), "options", option_count(question), limits.options, "too_long"))
        parts = [getattr(question, name) for name in type(question).__dataclass_fields__]
        if _chars(parts, limits.question_chars) > limits.question_chars:
            issues.append(_over(loc, "characters", None, limits.question_chars, "text_too_long"))
    if issues:
        raise InvalidRequest(issues)


def _draws(request: Request) -> int:
    """The most draws any question may get, on any reader."""
    c = request.controls
    samples, rotations = (c.auto_max if wanted == "auto" else int(wanted) for wanted in (c.samples, c.rotations))
    return samples * rotations


def _chars(value: Any, most: int) -> int:
    """Characters in all strings and keys inside; counting stops once there are too many."""
    total, todo = 0, [value]
    while todo and total <= most:
        item = todo.pop()
        if isinstance(item, str):
            total += len(item)
        elif isinstance(item, Mapping):
            todo += item.keys()
            todo += item.values()
        elif isinstance(item, list | tuple):
            todo += item
    return total


def _over(loc: Loc, what: str, found: int | None, most: int, kind: str) -> Issue:
    context = {"max_length": most} | ({} if found is None else {"actual_length": found})
    return Issue(loc, f"At most {most} {what} are taken" + ("" if found is None else f", found {found}"), kind, context)
