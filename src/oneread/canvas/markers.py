"""Questions -> rows of token ids for a reader with option markers: a small encoder without a prompt.

A row is ``<s> instructions </s> option_1 <mask> option_2 <mask> ... </s> state </s>``; the marker after each option is
its slot. Every row of a question repeats its instructions; options or the state may be spread over several rows.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from threading import Lock

import numpy as np
from tokenizers import Tokenizer

from ..engines.base import Read, Slot, Tokens
from ..questions import Content, Question, question_type
from .text import option_texts, render


@dataclass(frozen=True, slots=True)
class MarkerForm:
    """The token ids that frame a row, and the longest row the model was made for."""

    window: int
    bos: int
    sep: int
    mask: int


@dataclass(frozen=True, slots=True, eq=False)
class CompiledQuestion:
    """A question as token ids, ready to be laid into rows.

    Attributes:
        head: the instructions.
        options: one array for each allowed answer, without its marker.
    """

    head: Tokens
    options: tuple[Tokens, ...]


class MarkerCanvas:
    """Compiles questions and states for one tokenizer, and lays them into rows. Safe to use from any thread.

    Args:
        tokenizer: text in a request never becomes a special token.
        form: framing ids and window.
        cache_tokens: compiled questions are kept, least recently used first out, up to this many token ids.
    """

    def __init__(self, tokenizer: Tokenizer, form: MarkerForm, cache_tokens: int = 1_000_000) -> None:
        tokenizer.no_padding()
        tokenizer.no_truncation()
        tokenizer.encode_special_tokens = True
        self.form = form
        self._tokenizer = tokenizer
        self._cache: OrderedDict[str, CompiledQuestion] = OrderedDict()
        self._cached_tokens = 0
        self._cache_limit = cache_tokens
        self._lock = Lock()

    def compile(self, question: Question) -> CompiledQuestion:
        """The question's token ids, from the cache when the same question was compiled before."""
        key = question_type(question) + json.dumps(asdict(question), ensure_ascii=False, default=_plain)
        with self._lock:
            found = self._cache.get(key)
            if found is not None:
                self._cache.move_to_end(key)
                return found
        head, *options = self._encode([render(question.instructions), *option_texts(question)])
        compiled = CompiledQuestion(head, tuple(options))
        with self._lock:
            if key not in self._cache:
                self._cache[key] = compiled
                self._cached_tokens += _size(compiled)
                while self._cached_tokens > self._cache_limit and self._cache:
                    self._cached_tokens -= _size(self._cache.popitem(last=False)[1])
        return compiled

    def encode_state(self, state: Content) -> Tokens:
        """The state's token ids, without framing."""
        return self._encode([render(state)])[0]

    def frame_tokens(self, question: CompiledQuestion) -> int:
        """Tokens that every row of the question repeats: instructions and separators."""
        return len(question.head) + 4

    def row_tokens(self, question: CompiledQuestion, options: Sequence[int]) -> int:
        """Tokens of a row with these options, without its state."""
        return self.frame_tokens(question) + sum(len(question.options[i]) + 1 for i in options)

    def option_tokens(self, question: CompiledQuestion) -> tuple[int, ...]:
        """Tokens of each allowed answer, its marker included."""
        return tuple(len(option) + 1 for option in question.options)

    def row(self, question: CompiledQuestion, options: Sequence[int], state: Tokens) -> Read:
        """One row: the options of these indices, in this order, over this part of the state.

        The reading's scores stand in the order of `options`.
        """
        form = self.form
        parts: list[Tokens] = [np.array([form.bos], np.int32), question.head, np.array([form.sep], np.int32)]
        at = len(question.head) + 2
        slots: list[Slot] = []
        marker = np.array([form.mask], np.int32)
        for index in options:
            parts += (question.options[index], marker)
            at += len(question.options[index]) + 1
            slots.append(Slot(at - 1))
        separator = np.array([form.sep], np.int32)
        parts += (separator, state, separator)
        return Read(np.concatenate(parts), tuple(slots))

    def _encode(self, texts: list[str]) -> list[Tokens]:
        return [np.array(e.ids, np.int32) for e in self._tokenizer.encode_batch(texts, add_special_tokens=False)]


def _size(question: CompiledQuestion) -> int:
    return len(question.head) + sum(len(o) for o in question.options)


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else list(value) if isinstance(value, Sequence) else str(value)
