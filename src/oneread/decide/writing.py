"""Text from a reader that can write: piece by piece, up to a stop string or a number of tokens."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..controls import MAX_CANVAS
from ..engines.base import NO_TOKENS
from ..errors import InvalidRequest, UnknownModel
from ..questions import Message

if TYPE_CHECKING:
    from ..readers.reader import Reader


@dataclass(frozen=True, slots=True)
class Piece:
    """Text as it is written.

    Attributes:
        text: what is new; may be empty.
        prompt_tokens: of the whole prompt.
        tokens: written so far.
        end: why nothing follows: the text was at its end or a stop string came (``"stop"``), or `max_tokens` were
            written (``"length"``); None while more may follow.
    """

    text: str
    prompt_tokens: int
    tokens: int
    end: Literal["stop", "length"] | None


@dataclass(frozen=True, slots=True)
class Text:
    """A text that is to be written: iterate over it for its pieces, once. Blocks while a piece is written.

    Attributes:
        prompt_tokens: of the whole prompt.
        passes: how often, at most, each token goes through the model until it stands.
    """

    prompt_tokens: int
    passes: float
    pieces: Generator[Piece, None, None]

    def __iter__(self) -> Iterator[Piece]:
        return self.pieces

    def close(self) -> None:
        """Write no more. Not to be called while a piece is written."""
        self.pieces.close()


def write(reader: Reader, messages: Sequence[Message], max_tokens: int, seed: int, stop: Sequence[str] = ()) -> Text:
    """Continue a conversation. The last piece, and only it, has an `end`.

    Args:
        max_tokens: at least 1. The text also ends where the reader's window does.
        stop: the text ends before the first of these.

    Raises:
        UnknownModel: the reader only reads. Raised at once, before anything is written.
        InvalidRequest: the conversation leaves no room in the reader's window.
    """
    if reader.writer is None or reader.script is None:
        raise UnknownModel(f"The model {reader.name} answers typed questions and writes no text.")
    prompt, window = reader.script.encode(messages), reader.engine.capabilities.window
    if len(prompt) + MAX_CANVAS > window:
        message = f"The conversation is {len(prompt)} tokens long; this reader takes at most {window - MAX_CANVAS}"
        raise InvalidRequest.at(("messages",), message, "too_many_tokens", max_tokens=window - MAX_CANVAS)
    blocks = reader.writer.generate(prompt, max_tokens, seed)
    decode = reader.script.decode

    def pieces() -> Generator[Piece, None, None]:
        tokens, shown = NO_TOKENS, ""
        # What might be the beginning of a stop string is held back until more is known.
        held = max((len(text) for text in stop), default=1) - 1
        for block in blocks:
            tokens = np.concatenate([tokens, block])
            # All tokens anew: a character may be spread over blocks.
            text = decode(tokens)
            cut = min((at for at in (text.find(s) for s in stop) if at >= 0), default=None)
            if cut is not None:
                yield Piece(text[len(shown) : cut], len(prompt), len(tokens), "stop")
                return
            ready = text[: max(len(shown), len(text) - held)].rstrip("\ufffd")
            if ready != shown:
                yield Piece(ready[len(shown) :], len(prompt), len(tokens), None)
                shown = ready
        full = len(tokens) >= max_tokens or len(prompt) + len(tokens) + MAX_CANVAS > window
        yield Piece(decode(tokens)[len(shown) :], len(prompt), len(tokens), "length" if full else "stop")

    return Text(len(prompt), reader.writer.passes, pieces())
