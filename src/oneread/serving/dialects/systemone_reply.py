"""What System One replies: answers, models, failures, as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from ...answers import Answer, Answers, ChoiceAnswer, NoulAnswer, ScoreAnswer, Skipped
from ...errors import Issue
from ..failures import Failure
from .base import ALIASES

MAX_ISSUES = 64
MAX_NAME = 64
"""Ids, option names and field names stand in ``loc`` as they were sent, up to this many characters."""


def reply(answers: Answers) -> dict[str, Any]:
    """The body of a 200."""
    body: dict[str, Any] = {
        "model": answers.model,
        "answers": {key: answer_body(answer) for key, answer in answers.answers.items()},
        "usage": {"input_tokens": answers.usage.input_tokens, "output_tokens": answers.usage.output_tokens},
    }
    if answers.skipped:
        body["x_skipped"] = {key: skipped_body(why) for key, why in answers.skipped.items()}
    if answers.abstained:
        body["x_abstained"] = {key: asdict(why) for key, why in answers.abstained.items()}
    if answers.diagnostics is not None:
        body["x_diagnostics"] = asdict(answers.diagnostics)
    return body


def models(name: str, description: str, release_date: str, aliases: Sequence[str] = ALIASES) -> dict[str, Any]:
    """The body of `GET /v1/models`: the reader under its own name, then under each alias; in TypeSafe's and OpenAI's shape."""
    own = {"name": name, "description": description, "release_date": release_date}
    others = [a for a in aliases if a != name]
    created = int(datetime.fromisoformat(release_date).replace(tzinfo=UTC).timestamp())
    return {
        "models": [own, *({**own, "name": alias, "description": f"Answered by {name}. {description}"} for alias in others)],
        "object": "list",
        "data": [{"id": n, "object": "model", "created": created, "owned_by": "oneread"} for n in (name, *others)],
    }


def refuse(failure: Failure) -> tuple[int, dict[str, Any]]:
    """The status and the body of a failure."""
    return failure.status, error_body(failure)


def error_body(failure: Failure) -> dict[str, Any]:
    """The body of a failure: a list of places for an invalid request, else an error type and a message."""
    if failure.issues:
        return {"detail": _detail(failure.issues)}
    return {"detail": {"error_type": failure.kind, "message": failure.message}}


def skipped_body(why: Skipped) -> dict[str, Any]:
    """Why a question was not asked."""
    return {"because": why.because, "was": why.was, "wanted": list(why.wanted)}


def answer_body(answer: Answer) -> dict[str, Any]:
    """One answer."""
    match answer:
        case NoulAnswer(noul):
            return {"type": "noul", "noul": noul}
        case ChoiceAnswer(choice, confidence, probabilities):
            return {"type": "choice", "choice": choice, "confidence": confidence, "probabilities": dict(probabilities)}
        case ScoreAnswer(score, confidence, legend, probabilities):
            return {
                "type": "score",
                "score": score,
                "confidence": confidence,
                "legend": {str(level): text for level, text in enumerate(legend)},
                "probabilities": {str(level): p for level, p in enumerate(probabilities)},
            }


def _detail(issues: Sequence[Issue]) -> list[dict[str, Any]]:
    shown = [
        {"loc": ["body", *map(short, i.loc)], "msg": i.message, "type": i.type} | ({"ctx": dict(i.context)} if i.context else {})
        for i in issues[:MAX_ISSUES]
    ]
    if len(issues) > MAX_ISSUES:
        message = f"{len(issues) - MAX_ISSUES} more errors are not shown"
        shown.append({"loc": ["body"], "msg": message, "type": "too_many_errors"})
    return shown


def short(part: str | int) -> str | int:
    """A part of a place, cut to `MAX_NAME`."""
    if isinstance(part, int) or len(part) <= MAX_NAME:
        return part
    return part[: MAX_NAME - 1] + "…"
