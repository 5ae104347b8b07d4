"""OpenAI's Decisions API: `POST /v1/decisions` and `/decisions`, questions and answers in lists.

A body whose `questions` are an object is System One's and is answered as such.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ... import questions as domain
from ...answers import Answers, ChoiceAnswer, NoulAnswer, ScoreAnswer
from ...controls import Asking
from ...errors import InvalidRequest, Issue, Loc
from ..images import Album
from . import openai_schema as wire
from . import systemone
from .base import ALIASES, Ask, Dialect, Terms
from .openai_errors import refuse

M = TypeVar("M", bound=BaseModel)

NAMES = ("gpt-6-luna", *ALIASES)


def parse(value: Any, terms: Terms) -> Ask:
    """What a JSON body asks, list-shaped or System One's.

    Raises:
        InvalidRequest: ``loc`` as in the body, e.g. ``("questions", 0, "choices", 1, "value")``.
    """
    if isinstance(value, dict) and isinstance(value.get("questions"), dict):
        return systemone.parse(value, terms)
    body = _checked(wire.DecisionRequest, value, ())
    album = Album(terms.images)
    state, instructions = _input(body.input, album)
    asked = list(body.questions)
    if not 1 <= len(asked) <= wire.MAX_QUESTIONS:
        message = f"From 1 to {wire.MAX_QUESTIONS} questions are allowed, found {len(asked)}"
        raise InvalidRequest.at(("questions",), message, "too_long" if asked else "too_short")
    values = [_values(q, ("questions", i)) if isinstance(q, wire.Choice) else {} for i, q in enumerate(asked)]
    questions = {str(i): _question(q, values[i], album, ("questions", i)) for i, q in enumerate(asked)}
    asking = {str(i): Asking(abstain_below=q.abstain_below) for i, q in enumerate(asked) if q.abstain_below is not None}
    controls = systemone.controls_of(body, terms, instructions)
    request = domain.Request(state, questions, controls, asking, album.close())

    def place(issue: Issue) -> Issue:
        return replace(issue, loc=_placed(issue.loc, questions))

    def reply(answers: Answers) -> dict[str, Any]:
        return _reply(answers, asked, values)

    try:
        domain.validate(request)
    except InvalidRequest as error:
        raise InvalidRequest([place(issue) for issue in error.issues]) from None
    return Ask(body.model, request, reply, place)


def _reply(answers: Answers, asked: Sequence[Any], values: Sequence[dict[str, str | bool]]) -> dict[str, Any]:
    usage = answers.usage
    return {
        "model": answers.model,
        "answers": [_answer(answers, str(i), q, values[i]) for i, q in enumerate(asked)],
        "usage": {
            "input_tokens": usage.input_tokens,
            "input_tokens_details": {"cached_tokens": usage.tokens_reused, "cache_write_tokens": 0},
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.input_tokens + usage.output_tokens,
        },
    } | ({} if answers.diagnostics is None else {"x_diagnostics": asdict(answers.diagnostics)})


def _answer(answers: Answers, key: str, question: Any, values: dict[str, str | bool]) -> dict[str, Any]:
    if key in answers.abstained or key not in answers.answers:
        return {"type": "refusal", "name": question.name}
    match answers.answers[key]:
        case NoulAnswer(noul):
            return {"type": "predicate", "name": question.name, "probability": noul}
        case ChoiceAnswer(choice, confidence, probabilities):
            return {
                "type": "choice",
                "name": question.name,
                "choice": values[choice],
                "confidence": confidence,
                "probabilities": [{"value": values[name], "probability": p} for name, p in probabilities.items()],
            }
        case ScoreAnswer(score, confidence, _, levels):
            return {
                "type": "score",
                "name": question.name,
                "score": score,
                "confidence": confidence,
                "probabilities": [
                    {"value": i, "label": level.label, "probability": p}
                    for i, (level, p) in enumerate(zip(question.levels, levels, strict=True))
                ],
            }


def _values(question: wire.Choice, loc: Loc) -> dict[str, str | bool]:
    """The value behind the name of each option. A boolean is named by its word, unless a string has it already."""
    texts = {option.value for option in question.choices if isinstance(option.value, str)}
    names: dict[str, str | bool] = {}
    for index, option in enumerate(question.choices):
        value = option.value
        name = value if isinstance(value, str) else str(value).lower()
        while isinstance(value, bool) and name in texts:
            name += " (boolean)"
        if name in names:
            message = "Choices should differ from one another"
            raise InvalidRequest.at((*loc, "choices", index, "value"), message, "repeated_choice")
        names[name] = value
    return names


def _question(question: Any, names: dict[str, str | bool], album: Album, loc: Loc) -> domain.Question:
    instructions = _parts(question.instructions, album, (*loc, "instructions"))
    match question:
        case wire.Predicate():
            return domain.Noul(instructions)
        case wire.Choice(choices=choices):
            described = {name: option.description for name, option in zip(names, choices, strict=True)}
            return domain.Choice(described, instructions)
        case wire.Score(levels=levels):
            texts = [level.label + ("" if level.description is None else f": {level.description}") for level in levels]
            return domain.Score(texts, instructions)
    raise AssertionError(question.type)


def _input(value: str | list[Any], album: Album) -> tuple[Any, str | None]:
    """The state, and what developer and system messages say, which all questions are told.

    A single user message is its text, a JSON part alone the value itself; a conversation is an array of its items.
    """
    if isinstance(value, str):
        return value, None
    if not value:
        raise InvalidRequest.at(("input",), "At least 1 item is needed", "too_short")
    rules: list[str] = []
    items: list[Any] = []
    calls: dict[str, str] = {}
    for index, raw in enumerate(value):
        loc: Loc = ("input", index)
        model = wire.ITEMS.get(wire.item_kind(raw))
        if model is None:
            kinds = "a message, function_call, custom_tool_call or the output of one"
            raise InvalidRequest.at(loc, f"An item should be {kinds}", "union_tag_invalid")
        match _checked(model, raw, loc):
            case wire.Message(role="user", content=content):
                items.append({"role": "user", "content": _parts(content, album, (*loc, "content"))})
            case wire.Message(content=content):
                if not isinstance(content, str) and any(not isinstance(part, wire.TextPart) for part in content):
                    raise InvalidRequest.at((*loc, "content"), "These messages hold text only", "content_type")
                rules.append(str(_parts(content, album, loc)))
            case wire.AssistantMessage(content=content):
                said = content if isinstance(content, str) else "\n".join(_said(part) for part in content)
                items.append({"role": "assistant", "content": said})
            case (
                wire.FunctionCall(call_id=key, name=name, arguments=given) | wire.CustomCall(call_id=key, name=name, input=given)
            ):
                calls[key] = name
                items.append({"call": name, "arguments": given})
            case wire.CallOutput(call_id=key, output=output):
                if key not in calls:
                    message = "There is no call with this id before it"
                    raise InvalidRequest.at((*loc, "call_id"), message, "unknown_call")
                items.append({"output of": calls[key], "content": _parts(output, album, (*loc, "output"))})
    shared = "\n".join(rules) or None
    if len(items) == 1 and items[0].get("role") == "user":
        return items[0]["content"], shared
    return items, shared


def _said(part: wire.OutputText | wire.Refusal) -> str:
    return part.text if isinstance(part, wire.OutputText) else part.refusal


def _parts(content: str | Sequence[Any], album: Album, loc: Loc) -> Any:
    """Text parts as one text; with JSON among them an array, or the JSON itself where it stands alone."""
    if isinstance(content, str):
        return content
    found: list[Any] = []
    for index, part in enumerate(content):
        match part:
            case wire.TextPart(text=text):
                found.append(text)
            case wire.JsonPart(data=data):
                found.append(data)
            case wire.ImagePart(image_url=url):
                found.append(album.add_url(url, (*loc, index, "image_url")))
    if all(isinstance(piece, str) for piece in found):
        return "\n".join(found)
    return found[0] if len(found) == 1 else found


def _checked(model: type[M], value: Any, loc: Loc) -> M:
    """The value as this model, or `InvalidRequest` at its place."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
    # Of a union of text and something else, the something else tells more.
    kept = [e for e in found if e["loc"][-1:] != ("str",)] or found
    raise InvalidRequest([_issue((*loc, *e["loc"]), e["type"], e["msg"]) for e in kept])


_TAGS = {"predicate", "choice", "score", "str", "bool", *("input_text", "input_image", "input_json", "output_text", "refusal")}
_EITHER = {
    "bool_type": "Input should be a string or a boolean",
    "list_type": "Input should be a string or an array",
    "union_tag_invalid": "This type is not known here",
    "union_tag_not_found": "A type is needed",
    "model_type": "Input should be an object",
    "model_attributes_type": "Input should be an object",
    "extra_forbidden": "This field is not known here",
}


def _issue(loc: Loc, kind: str, message: str) -> Issue:
    # pydantic puts the names of union members into the place
    clean = tuple(part for part in loc if isinstance(part, int) or not (part in _TAGS or "[" in part))
    either = "[" in str(loc[-1:]) or loc[-1:] in (("bool",),)
    if kind == "list_type" and not any("[" in part for part in loc if isinstance(part, str)):
        return Issue(clean, "Input should be an array", kind)
    return Issue(clean, _EITHER.get(kind, message) if either or kind in _EITHER else message, kind)


def _placed(loc: Loc, questions: dict[str, domain.Question]) -> Loc:
    """A place of the domain in the list-shaped body."""
    if loc[:1] == ("state",):
        return ("input", *loc[1:])
    if loc[:1] != ("questions",) or len(loc) < 2:
        return loc
    key, rest = str(loc[1]), loc[3:]
    if rest[:1] == ("criteria",):
        question = questions[key]
        if isinstance(question, domain.Choice):
            where = (list(question.options).index(str(rest[1])),) if len(rest) > 1 else ()
            rest = ("choices", *where)
        else:
            rest = ("levels", *rest[1:2])
    return ("questions", int(key), *rest)


DIALECT = Dialect(parse, refuse, NAMES)
