"""The one path from a request to its answers; the only room that knows all the others below it."""

from .decider import MAX_TOKENS, Decider, Follower
from .writing import Piece, Text

__all__ = ["MAX_TOKENS", "Decider", "Follower", "Piece", "Text"]
