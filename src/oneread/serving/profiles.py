"""Which dialect a path speaks, and what a server does that takes another system's place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..controls import Controls
from .dialects import chat, fireworks, openai_decisions, openrouter, systemone
from .dialects.base import Dialect

PORT = 8080


@dataclass(frozen=True, slots=True)
class Profile:
    """What a server does where a request does not say, and what its System One route looks like.

    Attributes:
        name: of the system; None for oneread itself.
        port: that it listens on by default.
        controls: what a request that says nothing gets.
        systemone: the dialect of ``/v1/systemone``, and of every path that is not served.
    """

    name: str | None = None
    port: int = PORT
    controls: Controls = field(default_factory=Controls)
    systemone: Dialect = systemone.DIALECT


PROFILES: Mapping[str | None, Profile] = {profile.name: profile for profile in (Profile(),)}


def profile_named(name: str | None) -> Profile:
    """The profile of that name. Raises `ValueError` with the names there are."""
    if name not in PROFILES:
        raise ValueError(f"The profile should be one of {', '.join(filter(None, PROFILES))}")
    return PROFILES[name]


DIALECTS: Mapping[str, Dialect] = {
    "/v1/decisions": openai_decisions.DIALECT,
    "/decisions": openai_decisions.DIALECT,
    "/v1/chat/completions": chat.DIALECT,
    "/v1/raw/chat/completions": chat.DIALECT,
    "/api/alpha/decisions": openrouter.DIALECT,
    "/inference/v1/systemone": fireworks.DIALECT,
}
"""By path, where it is not the profile's own."""


def dialect_at(scope: Mapping[str, Any]) -> Dialect:
    """The dialect of a connection's path."""
    profile: Profile = scope["app"].state.profile
    return DIALECTS.get(scope["path"], profile.systemone)
