"""What clients of djev saw on `/v1/systemone`: null for a skipped question, `diagnostics`, its failures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ... import questions as domain
from ...answers import Answers, Diagnostics, QuestionDiagnostics
from ..failures import Failure
from . import systemone
from .base import Ask, Dialect, Terms
from .openai_errors import path
from .systemone_reply import skipped_body


def parse(value: Any, terms: Terms) -> Ask:
    """As System One's; any model is let in. Raises as `systemone.parse` does."""
    ask = systemone.parse(value, terms)
    return replace(ask, reply=lambda answers: _reply(answers, ask.request))


def refuse(failure: Failure) -> tuple[int, dict[str, Any]]:
    """The status and the body of a failure: an error object with a message; 400 for what is no JSON."""
    status, kind, message = failure.status, failure.kind, failure.message
    if failure.issues:
        first = failure.issues[0]
        unreadable = first.type.startswith(("json_", "multipart", "content_encoding")) and first.type != "json_repeated_key"
        status, kind = (400 if unreadable else 422), "validation_error"
        message = f"{path(first.loc)}: {first.message}" if first.loc else first.message
    elif kind == "authentication_error":
        status = 401
    elif kind == "not_found":
        return status, {"error": {"message": "unknown route"}}
    elif status >= 500:
        kind = "server_error"
    return status, {"error": {"message": message, "type": kind}}


def _reply(answers: Answers, request: domain.Request) -> dict[str, Any]:
    plain = systemone.reply(replace(answers, skipped={}, diagnostics=None))
    order = [key for key in request.questions if key in answers.answers or key in answers.skipped]
    plain["answers"] = {key: plain["answers"].get(key) for key in order}
    if answers.diagnostics is not None:
        plain["diagnostics"] = _diagnostics(answers, answers.diagnostics, request)
    return plain


def _diagnostics(answers: Answers, told: Diagnostics, request: domain.Request) -> dict[str, Any]:
    chunks = [list(chunk) for stage in told.chunks for chunk in stage]
    samples = [_samples(chunk, told, request) for chunk in chunks]
    thoughts = list(dict.fromkeys(text for q in told.questions.values() for text in q.thoughts))
    shown = [{"text": text} for text in thoughts]
    thought: dict[str, Any] = {"thought": shown[0] if len(shown) == 1 else shown} if shown else {}
    return thought | {
        "steps": request.controls.steps,
        "stages": [list(stage) for stage in told.stages],
        "skipped": {key: skipped_body(why) for key, why in answers.skipped.items()},
        "chunks": chunks,
        "sequential": request.controls.sequential,
        "conditioning": "restated" if len(told.stages) > 1 else None,
        "samples": samples[0] if len(samples) == 1 else samples,
        "timing": {"total_ms": told.timing_ms["total"], "reads": told.rows},
        "prompt_tokens": answers.usage.input_tokens,
        "questions": {key: _question(question) for key, question in told.questions.items()},
        "engine": "oneread",
    }


def _samples(chunk: list[str], told: Diagnostics, request: domain.Request) -> dict[str, Any]:
    """The draws of one read's questions, and by which rule there are so many."""
    controls = request.controls
    count = max(len(told.questions[key].draws) for key in chunk)
    tops: list[dict[str, list[Any]]] = []
    for draw in range(count):
        tops.append({})
        for key in chunk:
            draws = told.questions[key].draws
            if draw < len(draws):
                top = max(range(len(draws[draw])), key=draws[draw].__getitem__)
                label = _labels(request.questions[key])[top]
                tops[-1][key] = [label, draws[draw][top], told.questions[key].entropies[draw]]
    if controls.samples == "auto":
        policy: dict[str, Any] = {
            "mode": "auto",
            "max": controls.auto_max,
            "threshold": controls.auto_threshold,
            "extended": any(told.questions[key].extended for key in chunk),
            "first_read_entropy": max(told.questions[key].first_entropy for key in chunk),
        }
    else:
        policy = {"mode": "fixed", "n": controls.samples}
    return {"n": count, "tops": tops, "policy": policy}


def _question(told: QuestionDiagnostics) -> dict[str, Any]:
    """Readers without labels have no label mass, and their argmax is an answer by their nature."""
    return {"entropy": list(told.entropies), "label_mass": told.label_mass, "argmax_is_label": told.argmax_is_label}


def _labels(question: domain.Question) -> list[str]:
    match question:
        case domain.Noul():
            return ["yes", "no"]
        case domain.Choice(options):
            return list(options)
        case domain.Score(levels):
            return [str(level) for level in range(len(levels))]


DIALECT = Dialect(parse, refuse, aliases=None)
