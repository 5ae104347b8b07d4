"""Text from a reader that can write: piece by piece, up to a stop string or a number of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..engines.base import NO_TOKENS
from ..errors import UnknownModel
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


def write(reader: Reader, messages: Sequence[Message], max_tokens: int, seed: int, stop: Sequence[str] = ()) -> Iterator[Piece]:
    """Continue a conversation. The last piece, and only it, has an `end`.

    Args:
        max_tokens: at least 1.
        stop: the text ends before the first of these.

    Raises:
        UnknownModel: the reader only reads. Raised at once, before anything is written.
    """
    if reader.writer is None or reader.script is None:
        raise UnknownModel(f"The model {reader.name} answers typed questions and writes no text.")
    prompt = reader.script.encode(messages)
    blocks = reader.writer.generate(prompt, max_tokens, seed)
    decode = reader.script.decode

    def pieces() -> Iterator[Piece]:
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
        end: Literal["stop", "length"] = "length" if len(tokens) >= max_tokens else "stop"
        yield Piece(decode(tokens)[len(shown) :], len(prompt), len(tokens), end)

    return pieces()
