"""What stands where in a request of OpenAI's Decisions API, as pydantic models. Fields that are not known are refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ... import questions as domain
from .systemone_schema import Controls

MAX_QUESTIONS = 400


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Part(_Strict):
    prompt_cache_breakpoint: dict[str, Any] | None = None


class TextPart(_Part):
    type: Literal["input_text"]
    text: str


class ImagePart(_Part):
    """A data URL; nothing is fetched from elsewhere."""

    type: Literal["input_image"]
    image_url: str
    detail: Literal["low", "high", "auto", "original"] | None = None


class JsonPart(_Part):
    type: Literal["input_json"]
    data: dict[str, Any] | list[dict[str, Any]]


Part = Annotated[TextPart | ImagePart | JsonPart, Field(discriminator="type")]


class OutputText(_Strict):
    type: Literal["output_text"]
    text: str


class Refusal(_Strict):
    type: Literal["refusal"]
    refusal: str


class Message(_Strict):
    type: Literal["message"] = "message"
    role: Literal["user", "developer", "system"]
    content: str | list[Part]


class AssistantMessage(_Strict):
    type: Literal["message"] = "message"
    role: Literal["assistant"]
    content: str | list[Annotated[OutputText | Refusal, Field(discriminator="type")]]
    phase: Literal["commentary", "final_answer"] | None = None


class _Call(_Strict):
    call_id: str
    id: str | None = None
    status: Literal["in_progress", "completed", "incomplete"] | None = None


class FunctionCall(_Call):
    type: Literal["function_call"]
    name: str
    arguments: str
    namespace: str | None = None


class CustomCall(_Call):
    type: Literal["custom_tool_call"]
    name: str
    input: str
    namespace: str | None = None


class CallOutput(_Call):
    type: Literal["function_call_output", "custom_tool_call_output"]
    output: str | list[Annotated[TextPart | ImagePart, Field(discriminator="type")]]


def item_kind(value: Any) -> str | None:
    """Which model an input item is; messages may leave their type out."""
    if not isinstance(value, dict):
        return None
    kind = value.get("type", "message")
    if kind == "message":
        return "assistant" if value.get("role") == "assistant" else "message"
    return kind if isinstance(kind, str) else None


ITEMS: dict[str | None, type[BaseModel]] = {
    "message": Message,
    "assistant": AssistantMessage,
    "function_call": FunctionCall,
    "custom_tool_call": CustomCall,
    "function_call_output": CallOutput,
    "custom_tool_call_output": CallOutput,
}


class _Question(_Strict):
    name: str | None = Field(None, description="Comes back with the answer.")
    instructions: str | list[Part]
    abstain_below: float | None = Field(None, description="Ours: an answer of lower confidence comes back as a refusal.")


class Predicate(_Question):
    """How likely a statement about the input is true."""

    type: Literal["predicate"]


class Option(_Strict):
    value: str | bool
    description: str | None = None


class Choice(_Question):
    type: Literal["choice"]
    choices: list[Option] = Field(json_schema_extra={"minItems": domain.MIN_OPTIONS, "maxItems": domain.MAX_OPTIONS})


class Level(_Strict):
    label: str
    description: str | None = None


class Score(_Question):
    type: Literal["score"]
    levels: list[Level] = Field(json_schema_extra={"minItems": domain.MIN_LEVELS, "maxItems": domain.MAX_LEVELS})


class DecisionRequest(Controls):
    """OpenAI's request, and our controls beside it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    model: str
    input: str | list[Any] = Field(description="A text, or messages, calls and their outputs.")
    questions: list[Annotated[Predicate | Choice | Score, Field(discriminator="type")]] = Field(
        json_schema_extra={"minItems": 1, "maxItems": MAX_QUESTIONS}
    )
    safety_identifier: str | None = Field(None, description="Taken and not kept.")
    prompt_cache_key: str | None = Field(None, description="Taken; caches here go by content.")
    prompt_cache_options: dict[str, Any] | None = Field(None, description="Taken; caches here go by content.")
