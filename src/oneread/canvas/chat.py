"""A conversation as the prompt of a reader that writes: turns as Gemma 4 has them, then the model's, its thought empty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tokenizers import Tokenizer

from ..engines.base import Tokens
from ..questions import Message
from .label_tokens import TextTokens

CACHED_TOKENS = 10_000


class ChatScript:
    """Writes ``<bos>``, ``<|turn>{role}\\n{text}<turn|>\\n`` for each message, ``<|turn>model\\n`` and an empty thought.

    The thought is closed before anything is written, so that none comes in the text. Safe to use from any thread.

    Raises:
        ReaderError: the tokenizer lacks a special token.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._text = text = TextTokens(tokenizer, CACHED_TOKENS)
        self._bos, self._turn, self._end = (text.special(name) for name in ("<bos>", "<|turn>", "<turn|>"))
        self._thought = [text.special("<|channel>"), *text.kept("thought\n").tolist(), text.special("<channel|>")]

    def encode(self, messages: Sequence[Message]) -> Tokens:
        """See `base.Script`."""
        ids = [self._bos]
        for message in messages:
            role = "model" if message.role == "assistant" else message.role
            ids += [self._turn, *self._text.kept(f"{role}\n").tolist(), *self._text.encode(message.text.strip()).tolist()]
            ids += [self._end, *self._text.kept("\n").tolist()]
        ids += [self._turn, *self._text.kept("model\n").tolist(), *self._thought]
        return np.array(ids, np.int32)

    def decode(self, tokens: Tokens) -> str:
        """See `base.Script`."""
        return self._text.decode(tokens)
