"""What clients of OpenJev saw on `/v1/systemone`: System One, where nothing is billed as output unless it is written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...answers import Answers
from . import systemone
from .base import ALIASES, Ask, Dialect, Terms

NAMES = ("openjev-latest", "openjev-0.1", "diffusiongemma-26b", "diffusiongemma", *ALIASES)


def parse(value: Any, terms: Terms) -> Ask:
    """As System One's. Raises as `systemone.parse` does."""
    return replace(systemone.parse(value, terms), reply=_reply)


def _reply(answers: Answers) -> dict[str, Any]:
    return systemone.reply(replace(answers, usage=replace(answers.usage, output_tokens=0)))


DIALECT = Dialect(parse, systemone.refuse, NAMES)
