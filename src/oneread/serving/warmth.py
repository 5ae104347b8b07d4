"""What is read before the first caller: rows that warm the engine up, and the canary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..engines.startup import Step, tell
from ..questions import Noul, Request

if TYPE_CHECKING:
    from ..decide import Decider

__all__ = ["CANARY", "Step", "warm_up"]

CANARY = Request("The canary sings.", {"alive": Noul("Does the canary sing?")})

WARM_UPS = (
    *(Request("warm " * words, {"warm": Noul("Is it warm?")}) for words in (32, 128, 384)),
    Request("The engine warms up.", {str(i): Noul(f"Is it warm after {i}?") for i in range(64)}),
)
"""Rows of some lengths, so that the memory of each is there; then passes that leave something waiting."""


def warm_up(decider: Decider) -> None:
    """Read a few passes and a canary, so that no caller meets a cold engine and admission knows its drain rate at once."""
    for done, request in enumerate(WARM_UPS):
        tell("warming up", done, len(WARM_UPS))
        decider.decide(request)
    tell("reading a canary")
    decider.decide(CANARY)
