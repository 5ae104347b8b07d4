"""Questions -> rows of token ids for a reader with option markers: a small encoder without a prompt.

A question is laid as ``<s> instructions </s> option_1 <mask> option_2 <mask> ...``, a row as its questions, then
``</s> state </s>``; the marker after each option is its slot. Every row of a question repeats its instructions; options
or the state may be spread over several rows. Three layouts (`MarkerForm.layout`) say who sees whom:

- ``full``: positions run on, everything sees everything.
- ``apart``: the options of a question start at the same position, right after its instructions, and see the instructions,
  the state and themselves; so their order cannot matter. Instructions see their own options and the state. The state
  starts after the longest question and sees all; in a packed row it sees only itself, so that nothing of one question
  reaches another.
- ``state_first``: ``<s> state </s>`` comes first and sees only itself. Every question, ``</s> instructions </s> options``, starts
  at the position after it and is read as in ``apart``. So questions that share a row do not change one another's reading, and
  one reading of the state serves them all. A row's questions start `ALIGN` tokens apart or a multiple of that.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from threading import Lock
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ..controls import Content
from ..engines.base import Read, Slot, Tokens
from ..planning.lengths import Lengths, RowForm
from ..questions import Question, question_type
from .text import option_texts, render

ALIGN, EXACT = 16, 256
"""Sums over a row's keys are taken in blocks of 256 and, within them, over up to 16 keys at a time. So a question gets the
same score to the last bit wherever it stands in a row of at most `EXACT` tokens, if it starts a multiple of `ALIGN` tokens
after the first; else roundings differ, which steps of int8 can make as large as 0.1 (160 rows; 0.004 in the mean)."""

Layout: TypeAlias = Literal["full", "apart", "state_first"]


@dataclass(frozen=True, slots=True)
class MarkerForm:
    """The token ids that frame a row, and the rows the model was made for.

    Attributes:
        window: positions of a row.
        layout: who sees whom, see above.
        longest: tokens of a row; None for `window`. More only where options share positions.
    """

    window: int
    bos: int
    sep: int
    mask: int
    layout: Layout = "full"
    longest: int | None = None


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
        self.row_form = RowForm(
            form.window,
            form.longest or form.window,
            frame=2,
            shared=form.layout != "full",
            together=EXACT if form.layout == "state_first" else 0,
            align=ALIGN if form.layout == "state_first" else 1,
        )
        self._tokenizer = tokenizer
        self._cache: OrderedDict[str, CompiledQuestion] = OrderedDict()
        self._cached_tokens = 0
        self._cache_limit = cache_tokens
        self._lock = Lock()

    def compile(self, question: Question, context: str = "") -> CompiledQuestion:
        """The question's token ids, from the cache when the same question was compiled before.

        Args:
            context: lines that stand before the instructions.
        """
        key = json.dumps([question_type(question), asdict(question), context], ensure_ascii=False, default=_plain)
        with self._lock:
            found = self._cache.get(key)
            if found is not None:
                self._cache.move_to_end(key)
                return found
        instructions = "\n".join(filter(None, (context, render(question.instructions))))
        head, *options = self._encode([instructions, *option_texts(question)])
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

    @property
    def ordered(self) -> bool:
        """Whether the order of options can change a score."""
        return self.form.layout == "full"

    def lengths(self, question: CompiledQuestion) -> Lengths:
        """Token counts for planning: two tokens frame a question's instructions, a marker follows each option."""
        return Lengths(len(question.head) + 2, tuple(len(option) + 1 for option in question.options))

    def row(
        self,
        parts: Sequence[tuple[CompiledQuestion, Sequence[int]]],
        state: Tokens,
        packed: bool = False,
        seed: int = 42,
        draw: int = 0,
    ) -> Read:
        """One row: of each question the options of these indices, in this order, over this part of the state.

        The reading's scores stand question after question in the order of the options.

        Args:
            packed: whether the row is read so that questions do not reach one another through the state (layout
                ``apart``; in ``full`` everything sees everything, in ``state_first`` they never do).
            seed, draw: not used, markers hold no noise.
        """
        pieces = _Pieces()
        bos, sep, marker = (np.array([x], np.int32) for x in (self.form.bos, self.form.sep, self.form.mask))
        layout, start = self.form.layout, 0
        if layout == "state_first":
            pieces.add((bos, state, sep), 0, state=True)
            start = len(state) + 2
        deepest = start
        for number, (question, options) in enumerate(parts):
            if layout == "state_first" and number:
                pieces.fill(sep, -(pieces.count - start) % ALIGN)
            opening = bos if layout == "apart" or (layout == "full" and number == 0) else sep
            frame = pieces.add((opening, question.head, sep), start)
            first = start + len(question.head) + 2
            for index in options:
                pieces.add((question.options[index], marker), first, inside=frame)
                deepest = max(deepest, first + len(question.options[index]) + 1)
                pieces.slot()
        if layout != "state_first":
            pieces.add((sep, state, sep), deepest, state=True)
        if layout == "full":
            return Read(pieces.tokens, tuple(pieces.slots))
        return pieces.read(state_sees_all=layout == "apart" and not packed)

    def _encode(self, texts: list[str]) -> list[Tokens]:
        return [np.array(e.ids, np.int32) for e in self._tokenizer.encode_batch(texts, add_special_tokens=False)]


class _Pieces:
    """The pieces of a row as they are laid down: tokens, positions, and who sees whom."""

    def __init__(self) -> None:
        self.slots: list[Slot] = []
        self.count = 0
        self._tokens: list[Tokens] = []
        self._positions: list[NDArray[np.int32]] = []
        self._sizes: list[int] = []
        self._frames: list[int] = []  # of each piece: the piece that is its question's frame; its own number for frames
        self._state = -1
        self._unseen: list[int] = []

    @property
    def tokens(self) -> Tokens:
        return np.concatenate(self._tokens)

    def add(self, arrays: Sequence[Tokens], position: int, inside: int | None = None, state: bool = False) -> int:
        """Lay a piece down; returns its number."""
        number = len(self._sizes)
        size = sum(map(len, arrays))
        self.count += size
        self._tokens += arrays
        self._positions.append(np.arange(position, position + size, dtype=np.int32))
        self._sizes.append(size)
        self._frames.append(number if inside is None else inside)
        if state:
            self._state = number
        return number

    def fill(self, token: Tokens, size: int) -> None:
        """So many tokens that no other piece sees."""
        if size:
            self._unseen.append(self.add((np.repeat(token, size),), 0))

    def slot(self) -> None:
        """The last token laid is a slot."""
        self.slots.append(Slot(self.count - 1))

    def read(self, state_sees_all: bool) -> Read:
        """The row in which pieces see one another as layouts ``apart`` and ``state_first`` say."""
        n = len(self._sizes)
        frames = np.array(self._frames)
        is_frame = frames == np.arange(n)
        same = frames[:, None] == frames[None, :]
        sees = same & (is_frame[:, None] | is_frame[None, :] | np.eye(n, dtype=bool))
        sees[:, self._state] = True
        sees[self._state] |= state_sees_all
        sees[:, self._unseen] = np.eye(n, dtype=bool)[:, self._unseen]
        segments = np.repeat(np.arange(n, dtype=np.int16), self._sizes)
        return Read(self.tokens, tuple(self.slots), segments=segments, sees=sees, positions=np.concatenate(self._positions))


def _size(question: CompiledQuestion) -> int:
    return len(question.head) + sum(len(o) for o in question.options)


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else list(value) if isinstance(value, Sequence) else str(value)
