"""What a tokenizer offers a reader with labels: its special tokens, its one-token labels, and texts kept as token ids."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from string import ascii_lowercase, ascii_uppercase
from threading import Lock

import numpy as np
from tokenizers import Tokenizer

from ..engines.base import Tokens
from ..errors import ReaderError
from ..questions import MAX_LEVELS, MAX_OPTIONS

LETTERS = (*ascii_uppercase, *("".join(pair) for pair in product(ascii_uppercase, repeat=2)), *ascii_lowercase)
"""Names for options, the plainest first."""


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The labels of one question type in one place of a canvas.

    Attributes:
        before: fixed tokens between what stands before a label and its slot; a tokenizer that keeps digits apart writes
            " 7" as a space and a digit.
        ids: name -> the one token it is.
    """

    before: Tokens
    ids: Mapping[str, int]


class TextTokens:
    """Texts as token ids, for one tokenizer. Safe to use from any thread.

    Args:
        tokenizer: set so that text never becomes a special token.
        cache_tokens: texts asked for by `kept` are remembered, least recently used first out, up to this many ids.
    """

    def __init__(self, tokenizer: Tokenizer, cache_tokens: int) -> None:
        tokenizer.no_padding()
        tokenizer.no_truncation()
        tokenizer.encode_special_tokens = True
        self.vocab: int = tokenizer.get_vocab_size()
        self._tokenizer = tokenizer
        self._texts: OrderedDict[str, Tokens] = OrderedDict()
        self._size, self._limit, self._lock = 0, cache_tokens, Lock()

    def encode(self, text: str) -> Tokens:
        """Token ids of a text that is not likely to come again."""
        return np.array(self._tokenizer.encode(text, add_special_tokens=False).ids, np.int32)

    def kept(self, text: str) -> Tokens:
        """Token ids of a text, remembered."""
        with self._lock:
            found = self._texts.get(text)
            if found is not None:
                self._texts.move_to_end(text)
                return found
        ids = self.encode(text)
        with self._lock:
            if text not in self._texts:
                self._texts[text] = ids
                self._size += len(ids)
                while self._size > self._limit and self._texts:
                    self._size -= len(self._texts.popitem(last=False)[1])
        return ids

    def has(self, name: str) -> bool:
        """Whether there is a special token of that name."""
        return self._tokenizer.token_to_id(name) is not None

    def decode(self, tokens: Tokens) -> str:
        """The text of token ids, without special ones."""
        text: str = self._tokenizer.decode(tokens.tolist(), skip_special_tokens=True)
        return text

    def special(self, name: str) -> int:
        """The id of a special token.

        Raises:
            ReaderError: the tokenizer has none of that name.
        """
        found: int | None = self._tokenizer.token_to_id(name)
        if found is None:
            raise ReaderError(f"the tokenizer has no token {name}")
        return found

    def labels(self, before: str) -> Mapping[str, Labels]:
        """Labels by question type, when the text `before` stands before them.

        Raises:
            ReaderError: ``yes``, ``no`` or a digit is not one token, or two of them are the same.
        """
        letters = self._single(LETTERS, before, needed=False)
        return {
            "noul": self._single(("yes", "no"), before, needed=True),
            "score": self._single([str(level) for level in range(MAX_LEVELS)], before, needed=True),
            "choice": Labels(letters.before, dict(list(letters.ids.items())[:MAX_OPTIONS])),
        }

    def _single(self, names: Sequence[str], before: str, needed: bool) -> Labels:
        """Those names that end in one token of their own, all after the same tokens."""
        lead = self.encode(before + names[0])[:-1]
        found: dict[str, int] = {}
        # What stands before a label is text of the template, so it must not hold a part of the name.
        apart = not len(lead) or np.array_equal(lead, self.encode(before))
        for name in names:
            ids = self.encode(before + name)
            if apart and np.array_equal(ids[:-1], lead) and int(ids[-1]) not in found.values():
                found[name] = int(ids[-1])
            elif needed:
                raise ReaderError(f"the label {name!r} is not a token of its own in this tokenizer")
        return Labels(lead, found)
