"""Requests and answers as JSON values of the log's own, which is the domain's shape and no dialect's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..answers import Answer, Answers, ChoiceAnswer, NoulAnswer, ScoreAnswer
from ..controls import Asking, Controls
from ..questions import Choice, Noul, Question, Request, Score, question_type

_QUESTIONS: dict[str, type[Question]] = {"noul": Noul, "choice": Choice, "score": Score}


def digest(request: Request) -> str:
    """SHA-256 of state and questions, in hexadecimal: equal requests have equal digests."""
    value = [request.state, {key: [question_type(q), asdict(q)] for key, q in request.questions.items()}]
    images = [hashlib.sha256(image.data).hexdigest() for image in request.images]
    text = json.dumps([value, images], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def request_value(request: Request) -> dict[str, Any]:
    """A request without images as a JSON value."""
    return {
        "state": request.state,
        "questions": {key: {"type": question_type(q), **asdict(q)} for key, q in request.questions.items()},
        "controls": asdict(request.controls),
        "asking": {key: asdict(asking) for key, asking in request.asking.items()},
    }


def request_of(value: Mapping[str, Any]) -> Request:
    """The request of a JSON value."""
    questions = {key: _question(q) for key, q in value["questions"].items()}
    controls: dict[str, Any] = {n: tuple(v) if n == "ask" and v is not None else v for n, v in value["controls"].items()}
    asking = {
        key: Asking(
            depends_on=tuple(a["depends_on"]),
            ask_if={need: tuple(wanted) for need, wanted in a["ask_if"].items()},
            alone=a["alone"],
            abstain_below=a["abstain_below"],
        )
        for key, a in value["asking"].items()
    }
    return Request(value["state"], questions, Controls(**controls), asking)


def _question(value: Mapping[str, Any]) -> Question:
    kind = _QUESTIONS[value["type"]]
    return kind(**{name: v for name, v in value.items() if name != "type"})


def answers_value(answers: Answers) -> dict[str, list[float]]:
    """By question, the probability of each option in the question's order (yes, no for a noul)."""
    return {key: distribution(answer) for key, answer in answers.answers.items()}


def distribution(answer: Answer) -> list[float]:
    """The probabilities of an answer; they sum to 1."""
    match answer:
        case NoulAnswer(noul):
            return [noul, 1 - noul]
        case ChoiceAnswer(probabilities=by_name):
            return list(by_name.values())
        case ScoreAnswer(probabilities=probabilities):
            return list(probabilities)
