"""What every canvas does, whatever the readout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from ..controls import Content
from ..engines.base import Read, Tokens
from ..planning.lengths import Lengths, RowForm
from ..questions import Message, Question

C = TypeVar("C")
"""A compiled question, which only the canvas that made it looks into."""


class Canvas(Protocol[C]):
    """Lays questions and states into reads for one tokenizer. Safe to use from any thread."""

    @property
    def ordered(self) -> bool:
        """Whether the order of options can change a score."""
        ...

    @property
    def row_form(self) -> RowForm:
        """What planning knows of a row."""
        ...

    def compile(self, question: Question, context: str = "") -> C:
        """The question's token ids, from the cache when the same question was compiled before.

        Args:
            context: lines that stand before the instructions.
        """
        ...

    def lengths(self, question: C) -> Lengths:
        """Token counts for planning."""
        ...

    def encode_state(self, state: Content) -> Tokens:
        """The state's token ids, without framing."""
        ...

    def row(
        self, parts: Sequence[tuple[C, Sequence[int]]], state: Tokens, packed: bool = False, seed: int = 42, draw: int = 0
    ) -> Read:
        """One row: of each question the options of these indices, in this order, over this part of the state.

        The reading's scores stand question after question in the order of the options.

        Args:
            packed: whether the row is read in packed mode.
            seed, draw: of the noise in open slots, where a reader has noise; the same two give the same noise.
        """
        ...


class Script(Protocol):
    """How a conversation becomes a prompt, and tokens become text, for a reader that writes. Safe to use from any thread."""

    def encode(self, messages: Sequence[Message]) -> Tokens:
        """The prompt after which the next message is to be written."""
        ...

    def decode(self, tokens: Tokens) -> str:
        """The text of token ids, without special ones."""
        ...
