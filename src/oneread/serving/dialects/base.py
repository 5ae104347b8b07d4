"""What every dialect is: a way in, a way out, and a way to say no."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ... import questions as domain
from ...answers import Answers
from ...controls import Controls
from ...errors import Issue
from ..failures import Failure
from ..images import ImageLimits

Reply: TypeAlias = Callable[[Answers], dict[str, Any]]
Place: TypeAlias = Callable[[Issue], Issue]

ALIASES = ("jev-latest", "jev-preview", "jev-1.13.0", "jev-1.14.0")
"""Names of the hosted service's models that any reader answers to, so that a client moves by changing a URL."""


def as_it_stands(issue: Issue) -> Issue:
    """For bodies that name their parts as the domain does."""
    return issue


@dataclass(frozen=True, slots=True)
class Terms:
    """What a body is read under.

    Attributes:
        controls: what a request that says nothing gets.
        images: limits of images; None where the reader takes none.
        parts: the files of a multipart body, by name, in order; empty for JSON.
    """

    controls: Controls = field(default_factory=Controls)
    images: ImageLimits | None = None
    parts: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ask:
    """A body understood.

    Attributes:
        model: the name it asks for.
        request: what it asks.
        reply: makes the body of a 200.
        place: moves an issue from where the domain knows it to where the body has it.
    """

    model: str
    request: domain.Request
    reply: Reply
    place: Place = as_it_stands


@dataclass(frozen=True, slots=True)
class Dialect:
    """One wire form of decisions.

    Attributes:
        parse: a JSON value to what it asks; raises `InvalidRequest` with places of the body.
        refuse: the status and the body of a failure.
        aliases: names of models that any reader answers to here; None lets every name in.
    """

    parse: Callable[[Any, Terms], Ask]
    refuse: Callable[[Failure], tuple[int, dict[str, Any]]]
    aliases: tuple[str, ...] | None = ALIASES
