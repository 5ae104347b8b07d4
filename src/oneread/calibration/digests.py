"""Digests that tell whether two questions or two cases are the same, without keeping their text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..controls import Content
from ..questions import Choice, Noul, Question, Score, question_type

DIGEST_BYTES = 8
"""64 bits: among a million cases, two are confused with a chance of about 3 in 10 million."""


def question_digest(question: Question) -> str:
    """16 hexadecimal digits. The order of a choice's options does not matter; that of a score's levels does."""
    match question:
        case Noul(_, yes, no):
            criteria: Any = [yes, no]
        case Choice(options):
            criteria = dict(options)
        case Score(levels):
            criteria = list(levels)
    return _digest([question_type(question), question.instructions, criteria])


def case_digest(state: Content, question: Question) -> str:
    """16 hexadecimal digits of a state and a question about it."""
    return _digest([state, question_digest(question)])


def state_digest(state: Content) -> str:
    """16 hexadecimal digits of a state."""
    return _digest(state)


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[: 2 * DIGEST_BYTES]


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")
