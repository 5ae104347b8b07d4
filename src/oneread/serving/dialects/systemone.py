"""TypeSafe's System One: the wire shape of `POST /v1/systemone` and `GET /v1/models`.

`parse` turns a JSON value into a `Request`, `reply` turns `Answers` into a JSON value, `error_body` turns a failure into
one. Counts and content are checked by the domain, what stands where by the models of `systemone_schema`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from ... import questions as domain
from ...answers import Answer, Answers, ChoiceAnswer, NoulAnswer, ScoreAnswer
from ...errors import InvalidRequest, Issue, Loc, UnknownModel
from ..failures import Failure
from .systemone_schema import (
    DEFAULT_MODEL,
    BoxQuestion,
    ChoiceQuestion,
    NoulCriteria,
    NoulQuestion,
    ScoreQuestion,
    SystemOneRequest,
)

ALIASES = (DEFAULT_MODEL, "jev-preview", "jev-1.13.0", "jev-1.14.0")
"""Names of the hosted service's models that any reader answers to, so that a client moves by changing a URL."""

MAX_ISSUES = 64
MAX_NAME = 64
"""Ids, option names and field names stand in ``loc`` as they were sent, up to this many characters."""


def parse(value: Any) -> tuple[str, domain.Request]:
    """The model's name and the request of a JSON body.

    Raises:
        InvalidRequest: with one issue for each fault; ``loc`` starts at the body's root, and a question's type stands
            after its id.
    """
    try:
        wire = SystemOneRequest.model_validate(value)
    except ValidationError as error:
        raise InvalidRequest([_issue(e["loc"], e["type"], e["msg"]) for e in error.errors(**_BARE)]) from None
    issues = [
        Issue(
            ("questions", key, "box"),
            "Box questions need a reader that takes images; this one reads text only",
            "images_unsupported",
        )
        for key, question in wire.questions.items()
        if isinstance(question, BoxQuestion)
    ]
    if wire.assets:
        issues.append(no_images(("assets",)))
    if issues:
        raise InvalidRequest(issues)
    request = domain.Request(
        wire.state, {key: _question(q) for key, q in wire.questions.items() if not isinstance(q, BoxQuestion)}
    )
    domain.validate(request)
    return wire.model, request


def check_model(model: str, reader: str) -> None:
    """Raise `UnknownModel` unless a request for this model is one for the reader of that name."""
    served = dict.fromkeys((reader, *ALIASES))
    if model not in served:
        raise UnknownModel(f"The model is not served here. Served: {', '.join(served)}.")


def reply(answers: Answers) -> dict[str, Any]:
    """The body of a 200."""
    return {
        "model": answers.model,
        "answers": {key: _answer(answer) for key, answer in answers.answers.items()},
        "usage": {"input_tokens": answers.usage.input_tokens, "output_tokens": answers.usage.output_tokens},
    }


def models(name: str, description: str, release_date: str) -> dict[str, Any]:
    """The body of `GET /v1/models`: the reader under its own name, then under each alias."""
    own = {"name": name, "description": description, "release_date": release_date}
    aliases = (a for a in ALIASES if a != name)
    return {"models": [own, *({**own, "name": alias, "description": f"Answered by {name}. {description}"} for alias in aliases)]}


def error_body(failure: Failure) -> dict[str, Any]:
    """The body of a failure: a list of places for an invalid request, else an error type and a message."""
    if failure.issues:
        return {"detail": _detail(failure.issues)}
    return {"detail": {"error_type": failure.kind, "message": failure.message}}


def no_images(loc: Loc) -> Issue:
    """The issue of a request that brings images."""
    return Issue(loc, "Images need a reader that takes them; this one reads text only", "images_unsupported")


_BARE: Any = {"include_url": False, "include_input": False, "include_context": False}

_MESSAGES = {
    # pydantic's own messages for these repeat what was sent
    "union_tag_invalid": "The question's type should be 'noul', 'choice' or 'score'",
    "union_tag_not_found": "A question needs a 'type': 'noul', 'choice' or 'score'",
    # and these speak of Python
    "model_attributes_type": "Input should be an object",
    "model_type": "Input should be an object",
    "dict_type": "Input should be an object",
    "list_type": "Input should be an array",
    "string_type": "Input should be a string",
    "extra_forbidden": "This field is not known here; a question has type, instructions and criteria",
    "missing": "Field required",
}


def _issue(loc: Loc, kind: str, message: str) -> Issue:
    if kind == "extra_forbidden" and loc[-2] == "criteria":
        return Issue(loc, "The criteria of a noul are 'true' and 'false'", kind)
    return Issue(loc, _MESSAGES.get(kind, message), kind)


def _question(question: NoulQuestion | ChoiceQuestion | ScoreQuestion) -> domain.Question:
    match question:
        case NoulQuestion(instructions=instructions, criteria=None):
            return domain.Noul(instructions)
        case NoulQuestion(instructions=instructions, criteria=NoulCriteria(true=yes, false=no)):
            return domain.Noul(instructions, yes, no)
        case ChoiceQuestion(instructions=instructions, criteria=options):
            return domain.Choice(options, instructions)
        case ScoreQuestion(instructions=instructions, criteria=levels):
            return domain.Score(levels, instructions)
    raise AssertionError(question.type)


def _answer(answer: Answer) -> dict[str, Any]:
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
        {"loc": ["body", *map(_short, i.loc)], "msg": i.message, "type": i.type} | ({"ctx": dict(i.context)} if i.context else {})
        for i in issues[:MAX_ISSUES]
    ]
    if len(issues) > MAX_ISSUES:
        message = f"{len(issues) - MAX_ISSUES} more errors are not shown"
        shown.append({"loc": ["body"], "msg": message, "type": "too_many_errors"})
    return shown


def _short(part: str | int) -> str | int:
    if isinstance(part, int) or len(part) <= MAX_NAME:
        return part
    return part[: MAX_NAME - 1] + "…"
