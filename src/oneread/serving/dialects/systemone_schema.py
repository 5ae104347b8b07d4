"""What stands where in System One's requests and replies, as pydantic models. Counts and content are the domain's to check."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

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
