"""TypeSafe's System One: the wire shape of `POST /v1/systemone` and `GET /v1/models`.

`parse` turns a JSON value into a `Request`, `reply` turns `Answers` into a JSON value, `error_body` turns a failure into
one. Counts and content are checked by the domain; the models below say only what stands where.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from ... import questions as domain
from ...answers import Answer, Answers, ChoiceAnswer, NoulAnswer, ScoreAnswer
from ...errors import InvalidRequest, Issue, Loc, UnknownModel
from ..failures import Failure

DEFAULT_MODEL = "jev-latest"
ALIASES = (DEFAULT_MODEL, "jev-preview", "jev-1.13.0", "jev-1.14.0")
"""Names of the hosted service's models that any reader answers to, so that a client moves by changing a URL."""

MAX_ISSUES = 64
MAX_NAME = 64
"""Ids, option names and field names stand in ``loc`` as they were sent, up to this many characters."""

_TEXT_OR_JSON: list[dict[str, Any]] = [{"type": "string"}, {"type": "object"}, {"type": "array"}]
Content = Annotated[Any, WithJsonSchema({"anyOf": _TEXT_OR_JSON})]
OptionalContent = Annotated[Any, WithJsonSchema({"anyOf": [*_TEXT_OR_JSON, {"type": "null"}]})]


class _Part(BaseModel):
    """A part of a question: a field it does not know is refused, so that a misspelt one is never ignored."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NoulCriteria(_Part):
    true: OptionalContent = Field(None, description="What counts as a yes.")
    false: OptionalContent = Field(None, description="What counts as a no.")


class NoulQuestion(_Part):
    """A yes/no question. It needs instructions or at least one criterion."""

    type: Literal["noul"]
    instructions: OptionalContent = Field(None, description="The question, or the proposition to judge.")
    criteria: NoulCriteria | None = None


class ChoiceQuestion(_Part):
    """One of a named set."""

    type: Literal["choice"]
    instructions: OptionalContent = Field(None, description="What is to be chosen.")
    criteria: dict[str, OptionalContent] = Field(
        description="Options, each with a description or null. Any string is a name.",
        json_schema_extra={"minProperties": domain.MIN_OPTIONS, "maxProperties": domain.MAX_OPTIONS},
    )


class ScoreQuestion(_Part):
    """Ordered levels, the lowest first."""

    type: Literal["score"]
    instructions: OptionalContent = Field(None, description="What is to be rated.")
    criteria: list[Content] = Field(
        description="Descriptions of the levels, from level 0 upwards.",
        json_schema_extra={"minItems": domain.MIN_LEVELS, "maxItems": domain.MAX_LEVELS},
    )


class BoxQuestion(_Part):
    """Where something is in an image. Refused (422) by a reader that takes no images."""

    type: Literal["box"]
    instructions: OptionalContent = None


Question = Annotated[NoulQuestion | ChoiceQuestion | ScoreQuestion | BoxQuestion, Field(discriminator="type")]


class SystemOneRequest(BaseModel):
    """Typed questions about one piece of evidence. Unknown fields beside these are ignored."""

    model_config = ConfigDict(
        extra="ignore",
        strict=True,
        json_schema_extra={
            "example": {
                "model": DEFAULT_MODEL,
                "state": "My invoice is wrong and nobody answers the phone!",
                "questions": {
                    "urgent": {"type": "noul", "instructions": "Does this need a reply today?"},
                    "team": {"type": "choice", "criteria": {"billing": "invoices, refunds", "technical": None}},
                    "anger": {"type": "score", "instructions": "How angry?", "criteria": ["calm", "annoyed", "furious"]},
                },
            }
        },
    )

    model: str = Field(DEFAULT_MODEL, description="The reader's name, or an alias listed by GET /v1/models.")
    state: Content = Field(description="The evidence.")
    questions: dict[str, Question] = Field(
        description="Questions by id. Any string is an id; ids are never shown to the model.",
        json_schema_extra={"minProperties": 1},
    )
    assets: dict[str, Any] | None = Field(None, description="Images. Refused (422) by a reader that takes no images.")


class NoulReply(BaseModel):
    type: Literal["noul"]
    noul: float = Field(ge=0, le=1, description="P(yes).")


class ChoiceReply(BaseModel):
    type: Literal["choice"]
    choice: str = Field(description="The most probable option.")
    confidence: float = Field(ge=0, le=1, description="(max p - 1/n) / (1 - 1/n).")
    probabilities: dict[str, float] = Field(description="By option; sums to 1.")


class ScoreReply(BaseModel):
    type: Literal["score"]
    score: float = Field(ge=0, description="The expected level.")
    confidence: float = Field(ge=0, le=1, description="1 - E|level - mode| / D, D the mean distance of levels from their middle.")
    legend: dict[str, Content] = Field(description="The levels as sent, by number.")
    probabilities: dict[str, float] = Field(description="By level; sums to 1.")


class UsageReply(BaseModel):
    input_tokens: int = Field(ge=0, description="Every token read, once for each row it stood in.")
    output_tokens: int = Field(ge=0, description="Open slots read.")


class SystemOneReply(BaseModel):
    model: str = Field(description="The reader that answered.")
    answers: dict[str, Annotated[NoulReply | ChoiceReply | ScoreReply, Field(discriminator="type")]]
    usage: UsageReply


class Model(BaseModel):
    name: str
    description: str
    release_date: str = Field(description="YYYY-MM-DD")


class ModelList(BaseModel):
    models: list[Model]


class Invalid(BaseModel):
    loc: list[str | int] = Field(description="Where: `body`, then the path; for text that is not JSON its offset.")
    msg: str
    type: str
    ctx: dict[str, Any] | None = Field(None, description="The limits that msg speaks of.")


class InvalidReply(BaseModel):
    detail: list[Invalid]


class ErrorDetail(BaseModel):
    error_type: str
    message: str


class ErrorReply(BaseModel):
    detail: ErrorDetail


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
