"""The domain's input: what is asked, about what evidence. No HTTP, no tokens, no tensors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .controls import Asking, Content, Controls, check_controls
from .errors import InvalidRequest, Issue, Loc

MIN_OPTIONS, MAX_OPTIONS = 2, 255
MIN_LEVELS, MAX_LEVELS = 2, 10
MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Noul:
    """A yes/no question.

    Attributes:
        instructions: the question or proposition; may be left out when a criterion is given.
        yes: what counts as yes (``criteria.true`` on the wire).
        no: what counts as no (``criteria.false`` on the wire).
    """

    instructions: Content | None = None
    yes: Content | None = None
    no: Content | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a named set.

    Attributes:
        options: 2 to 255 names, each with a description or None; the order is kept.
        instructions: what is to be chosen; may be left out.
    """

    options: Mapping[str, Content | None]
    instructions: Content | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """Ordered levels, the lowest first.

    Attributes:
        levels: 2 to 10 descriptions, from level 0 upwards.
        instructions: what is to be rated; may be left out.
    """

    levels: Sequence[Content]
    instructions: Content | None = None


Question: TypeAlias = Noul | Choice | Score


@dataclass(frozen=True, slots=True)
class Image:
    """A picture that belongs to the state and stands before it.

    Attributes:
        data: the file as sent: PNG, JPEG, WebP or GIF (its first frame counts).
        width, height: in pixels, as the file's header has them.
        loc: where the request brought it, for errors.
    """

    data: bytes = field(repr=False)
    width: int
    height: int
    loc: Loc = ("images",)


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation that a reader is to continue: its role (``system``, ``user``, ``assistant``) and text."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    """Typed questions about one piece of evidence.

    Attributes:
        state: the evidence.
        questions: at least one question under an id of the caller's; ids are never shown to the model.
        controls: how all of them are read; the defaults answer as TypeSafe does.
        asking: by id, when and how single questions are asked.
        images: in the order in which the state and the questions count them, from 1.
    """

    state: Content
    questions: Mapping[str, Question]
    controls: Controls = field(default_factory=Controls)
    asking: Mapping[str, Asking] = field(default_factory=dict)
    images: tuple[Image, ...] = ()


def question_type(question: Question) -> str:
    """The wire name of a question's type: ``"noul"``, ``"choice"`` or ``"score"``."""
    match question:
        case Noul():
            return "noul"
        case Choice():
            return "choice"
        case Score():
            return "score"


def option_count(question: Question) -> int:
    """How many answers the question allows: 2 for a noul, else its options or levels."""
    match question:
        case Noul():
            return 2
        case Choice():
            return len(question.options)
        case Score():
            return len(question.levels)


def validate(request: Request) -> None:
    """Check every rule of the domain.

    Raises:
        InvalidRequest: with one issue for each fault; ``loc`` starts at the request's root.
    """
    issues: list[Issue] = []
    _check_content(request.state, ("state",), issues)
    if not isinstance(request.questions, Mapping):
        issues.append(Issue(("questions",), "Input should be an object of questions by id", "dict_type"))
    elif not request.questions:
        issues.append(Issue(("questions",), "At least 1 question is needed", "too_short", {"min_length": 1}))
    else:
        for key, question in request.questions.items():
            if not _is_text(key):
                issues.append(Issue(("questions",), "A question id should be a string of Unicode characters", "string_type"))
            else:
                _check_question(question, ("questions", key), issues)
        for key, asked in request.asking.items():
            if key not in request.questions:
                issues.append(Issue(("asking", key), "There is no question with this id", "unknown_question"))
            elif asked.abstain_below is not None and not 0 <= asked.abstain_below <= 1:
                issues.append(
                    Issue(
                        ("questions", key, question_type(request.questions[key]), "abstain_below"),
                        "Input should be from 0 to 1",
                        "out_of_range",
                        {"ge": 0, "le": 1},
                    )
                )
    issues += check_controls(request.controls)
    if request.controls.instructions is not None:
        _check_content(request.controls.instructions, ("instructions",), issues)
    if issues:
        raise InvalidRequest(issues)


def _check_question(question: Question, loc: Loc, issues: list[Issue]) -> None:
    if not isinstance(question, Noul | Choice | Score):
        issues.append(Issue(loc, "Input should be a Noul, a Choice or a Score", "question_type"))
        return
    loc = (*loc, question_type(question))
    if question.instructions is not None:
        _check_content(question.instructions, (*loc, "instructions"), issues)
    match question:
        case Noul(instructions, yes, no):
            if instructions is None and yes is None and no is None:
                issues.append(Issue(loc, "A noul needs instructions or at least one criterion", "noul_empty"))
            for name, value in (("true", yes), ("false", no)):
                if value is not None:
                    _check_content(value, (*loc, "criteria", name), issues)
        case Choice(options):
            if not isinstance(options, Mapping):
                issues.append(Issue((*loc, "criteria"), "Input should be an object of options", "dict_type"))
                return
            _check_count(len(options), MIN_OPTIONS, MAX_OPTIONS, "options", (*loc, "criteria"), issues)
            for name, value in options.items():
                if not _is_text(name):
                    issues.append(Issue((*loc, "criteria"), "An option should be a string of Unicode characters", "string_type"))
                elif value is not None:
                    _check_content(value, (*loc, "criteria", name), issues)
        case Score(levels):
            if isinstance(levels, str | Mapping) or not isinstance(levels, Sequence):
                issues.append(Issue((*loc, "criteria"), "Input should be an array of levels", "list_type"))
                return
            _check_count(len(levels), MIN_LEVELS, MAX_LEVELS, "levels", (*loc, "criteria"), issues)
            for index, value in enumerate(levels):
                _check_content(value, (*loc, "criteria", index), issues)


def _check_count(n: int, low: int, high: int, what: str, loc: Loc, issues: list[Issue]) -> None:
    if n < low:
        issues.append(
            Issue(loc, f"At least {low} {what} are needed, found {n}", "too_short", {"min_length": low, "actual_length": n})
        )
    elif n > high:
        issues.append(
            Issue(loc, f"At most {high} {what} are allowed, found {n}", "too_long", {"max_length": high, "actual_length": n})
        )


def _check_content(value: Any, loc: Loc, issues: list[Issue]) -> None:
    if isinstance(value, str | Mapping) or (isinstance(value, Sequence) and not isinstance(value, bytes | bytearray)):
        fault = _json_fault(value, MAX_DEPTH)
        if fault is not None:
            issues.append(Issue(loc, fault[0], fault[1]))
    else:
        issues.append(Issue(loc, "Input should be a string, an object or an array", "content_type"))


def _json_fault(value: Any, depth: int) -> tuple[str, str] | None:
    """The first thing in `value` that JSON cannot say, as (message, type), or None."""
    if value is None or isinstance(value, bool | int):
        return None
    if isinstance(value, str):
        return None if _is_text(value) else ("Strings should hold Unicode characters only, no lone surrogates", "string_unicode")
    if isinstance(value, float):
        return None if math.isfinite(value) else ("Numbers should be finite", "finite_number")
    if depth == 0:
        return f"Nesting should be at most {MAX_DEPTH} levels deep", "recursion_loop"
    children: list[Any]
    if isinstance(value, Mapping):
        if not all(_is_text(key) for key in value):
            return "Object keys should be strings of Unicode characters", "string_type"
        children = list(value.values())
    elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        children = list(value)
    else:
        return "Input should hold JSON values only", "json_type"
    for child in children:
        fault = _json_fault(child, depth - 1)
        if fault is not None:
            return fault
    return None


def _is_text(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
