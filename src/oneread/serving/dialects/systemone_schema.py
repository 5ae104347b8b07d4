"""What stands where in System One's requests and replies, as pydantic models. Counts and content are the domain's to check."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from ... import controls
from ... import questions as domain

DEFAULT_MODEL = "jev-latest"

_TEXT_OR_JSON: list[dict[str, Any]] = [{"type": "string"}, {"type": "object"}, {"type": "array"}]
Content = Annotated[Any, WithJsonSchema({"anyOf": _TEXT_OR_JSON})]
OptionalContent = Annotated[Any, WithJsonSchema({"anyOf": [*_TEXT_OR_JSON, {"type": "null"}]})]


class _Part(BaseModel):
    """A part of a question: a field it does not know is refused, so that a misspelt one is never ignored."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NoulCriteria(_Part):
    true: OptionalContent = Field(None, description="What counts as a yes.")
    false: OptionalContent = Field(None, description="What counts as a no.")


class _Asked(_Part):
    """When a question is asked. All of it is optional and beyond TypeSafe's own."""

    depends_on: list[str] | None = Field(None, description="Ids that are answered in an earlier stage; this one is told.")
    ask_if: dict[str, list[Any]] | None = Field(
        None, description="By id, the answers under which this one is asked; else it is skipped. Implies depends_on."
    )
    alone: bool | None = Field(None, description="In packed mode, a row or canvas of its own.")
    abstain_below: float | None = Field(
        None,
        description="An answer of lower confidence is listed in x_abstained.",
        json_schema_extra={"minimum": 0, "maximum": 1},
    )


class NoulQuestion(_Asked):
    """A yes/no question. It needs instructions or at least one criterion."""

    type: Literal["noul"]
    instructions: OptionalContent = Field(None, description="The question, or the proposition to judge.")
    criteria: NoulCriteria | None = None


class ChoiceQuestion(_Asked):
    """One of a named set."""

    type: Literal["choice"]
    instructions: OptionalContent = Field(None, description="What is to be chosen.")
    criteria: dict[str, OptionalContent] = Field(
        description="Options, each with a description or null. Any string is a name.",
        json_schema_extra={"minProperties": domain.MIN_OPTIONS, "maxProperties": domain.MAX_OPTIONS},
    )


class ScoreQuestion(_Asked):
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


def _int(low: int, high: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high}


def _control(description: str, *forms: dict[str, Any]) -> Any:
    return Field(None, description=description, json_schema_extra={"anyOf": [*forms, {"type": "null"}]})


def _enum(names: Any) -> dict[str, Any]:
    return {"enum": [*get_args(names)]}


_AUTO: dict[str, Any] = {"const": "auto"}
_FLAG: dict[str, Any] = {"type": "boolean"}


class Controls(BaseModel):
    """How all questions are read. All of it is optional and beyond TypeSafe's own; null is the same as leaving it out."""

    model_config = ConfigDict(extra="ignore", strict=True)

    ask: list[str] | None = Field(None, description="Ids to answer, with what they depend on; left out, all.")
    mode: Any = _control(
        "Each question by itself (independent), or sharing rows and seeing one another (packed).", _enum(controls.Mode)
    )
    samples: Any = _control("Draws of each question; auto reads an uncertain question again.", _int(1, controls.MAX_DRAWS), _AUTO)
    auto_max: Any = _control("Draws of an uncertain question under auto.", _int(1, controls.MAX_DRAWS))
    auto_threshold: Any = _control(
        "Nats of entropy of the first draw, above which a question is uncertain.", {"type": "number", "minimum": 0}
    )
    rotations: Any = _control("Orders in which options are read.", _int(1, controls.MAX_DRAWS), _AUTO)
    seed: Any = _control("Of noise and of orders.", _int(0, controls.MAX_SEED))
    steps: Any = _control("Denoising steps.", _int(1, controls.MAX_STEPS))
    think: Any = _control("Most tokens of a thought before the answers.", _int(0, controls.MAX_THOUGHT))
    sequential: Any = _control("Packed groups one after another, each told the answers before it.", _FLAG)
    projection: Any = _control("What of the vocabulary is computed at a slot.", _enum(controls.Projection))
    canvas_length: Any = _control("Width of every canvas.", _int(controls.CANVAS_STEP, controls.MAX_CANVAS))
    chunk_rows: Any = _control("The most rows of a canvas that template and slots take.", _int(8, controls.MAX_CANVAS))
    image_tokens: Any = _control("The most tokens that an image is read as.", {"enum": [*controls.IMAGE_BUDGETS]})
    confidence: Any = _control("The formula behind every confidence.", _enum(controls.Confidence))
    diagnostics: Any = _control("Tell how it was read, in x_diagnostics.", _FLAG)


class Options(Controls):
    """The controls where jev-local has them."""

    model_config = ConfigDict(extra="forbid", strict=True)


Question = Annotated[NoulQuestion | ChoiceQuestion | ScoreQuestion | BoxQuestion, Field(discriminator="type")]


class SystemOneRequest(Controls):
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
    instructions: OptionalContent = Field(None, description="Context shared by all questions.")
    options: Options | None = Field(None, description="The controls once more, as jev-local has them; they win.")
    assets: dict[str, Any] | None = Field(
        None, description="Images by placeholder: {type, format, data_base64} or {type, part}. Refused by a reader of text."
    )
    images: list[Any] | None = Field(
        None, description="Images: data URLs or {content_type, base64}. Refused by a reader of text."
    )


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


class SkippedReply(BaseModel):
    because: str = Field(description="The question whose answer ruled this one out.")
    was: Any = Field(description="That answer; null when it was skipped itself.")
    wanted: list[Any]


class AbstainedReply(BaseModel):
    formula: str = Field(description="The confidence that was compared.")
    confidence: float
    threshold: float


class SystemOneReply(BaseModel):
    """What starts with x_ is there only where it was asked for or came about."""

    model: str = Field(description="The reader that answered.")
    answers: dict[str, Annotated[NoulReply | ChoiceReply | ScoreReply, Field(discriminator="type")]]
    usage: UsageReply
    x_skipped: dict[str, SkippedReply] | None = None
    x_abstained: dict[str, AbstainedReply] | None = None
    x_diagnostics: dict[str, Any] | None = None


class Model(BaseModel):
    name: str
    description: str
    release_date: str = Field(description="YYYY-MM-DD")


class ModelObject(BaseModel):
    id: str
    object: Literal["model"]
    created: int = Field(description="Unix seconds.")
    owned_by: str


class ModelList(BaseModel):
    """TypeSafe's list and OpenAI's, in one."""

    models: list[Model]
    object: Literal["list"]
    data: list[ModelObject]


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
