"""Which dialect a path speaks, and what a server does that takes another system's place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..controls import Confidence, Controls
from .dialects import chat, djev, fireworks, jev_local, openai_decisions, openjev, openrouter, systemone, vllm
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

    def controls_for(self, has_mass: bool, confidence: Confidence | None, diagnostics: bool) -> Controls:
        """What a request that says nothing gets from a reader.

        Args:
            has_mass: whether the reader has a label mass. Where it has none, ``mass`` is ``top``: the same with all the
                mass on the labels. Replies tell which one it is.
            confidence, diagnostics: the operator's choice, over the profile's.
        """
        name = confidence or self.controls.confidence
        if name == "mass" and not has_mass and confidence is None:
            name = "top"
        return replace(self.controls, confidence=name, diagnostics=diagnostics or self.controls.diagnostics)


_PACKED = Controls(mode="packed", samples="auto")

PROFILES: Mapping[str | None, Profile] = {
    profile.name: profile
    for profile in (
        Profile(),
        Profile("djev", 8011, replace(_PACKED, confidence="top", diagnostics=True), djev.DIALECT),
        Profile("openjev", 8080, replace(_PACKED, confidence="entropy"), openjev.DIALECT),
        Profile("jev-local", 8017, Controls(mode="packed", confidence="margin", seed=0, diagnostics=True), jev_local.DIALECT),
        Profile("vllm", 8000, Controls(confidence="mass", diagnostics=True), vllm.DIALECT),
    )
}


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
