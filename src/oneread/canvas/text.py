"""How content becomes the text a model reads. The same for every reader, so that a score can be compared."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..controls import AnswerValue, Content
from ..questions import Choice, Noul, Question, Score


def render(content: Content | None) -> str:
    """Content as text: a string as it is, a flat object as ``key: value`` lines, anything else as compact JSON."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping) and content and not any(isinstance(v, Mapping | list | tuple) for v in content.values()):
        return "\n".join(f"{key}: {_scalar(value)}" for key, value in content.items())
    return json.dumps(content, ensure_ascii=False, separators=(", ", ": "), default=_plain)


def option_texts(question: Question) -> tuple[str, ...]:
    """One text for each allowed answer: yes, then no for a noul; else in the question's order."""
    match question:
        case Noul(_, yes, no):
            return _described("yes", yes), _described("no", no)
        case Choice(options):
            return tuple(_described(name.replace("_", " "), text) for name, text in options.items())
        case Score(levels):
            return tuple(_described(str(index), level) for index, level in enumerate(levels))


def context_text(instructions: Content | None, given: Sequence[tuple[Question, AnswerValue]]) -> str:
    """What stands before a question: context shared by all, then what is known from earlier stages, a line each."""
    lines = [render(instructions)] if instructions is not None else []
    lines += [f"Known: {render(question.instructions)} {_answer_text(question, value)}" for question, value in given]
    return "\n".join(lines)


def _answer_text(question: Question, value: AnswerValue) -> str:
    texts = option_texts(question)
    match question:
        case Noul():
            return texts[0 if value else 1]
        case Choice(options):
            return texts[list(options).index(str(value))]
        case Score():
            return texts[int(value)]


def _described(name: str, description: Content | None) -> str:
    return name if description is None else f"{name}: {render(description)}"


def _scalar(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Mappings and sequences that json does not know as such."""
    return dict(value) if isinstance(value, Mapping) else list(value)
