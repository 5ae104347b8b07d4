"""Cases -> batches of rows, laid out as `oneread.canvas.markers` lays them (a test holds the two together)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .cases import CaseFile, Tokens
from .encoder import FRAME, OPTION, STATE

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Form:
    """Framing ids, layout and limits of a row.

    Attributes:
        window: positions a row may use; a state is cut to what is left.
        longest: tokens a row may hold (more than `window` where options share positions).
    """

    bos: int
    sep: int
    mask: int
    layout: str
    window: int = 512
    longest: int = 1024


@dataclass
class Batch:
    """Rows padded to one length; `slot_row` and `target` stand slot after slot, `case` row after row."""

    ids: Tensor
    pos: Tensor
    parts: Tensor
    markers: Tensor
    slot_row: Tensor
    target: Tensor
    case: Ints
    tokens: int

    def to(self, device: torch.device) -> Batch:
        if device.type == "cpu":
            return self
        moved = (
            t.pin_memory().to(device, non_blocking=True)
            for t in (self.ids, self.pos, self.parts, self.markers, self.slot_row, self.target)
        )
        return Batch(*moved, self.case, self.tokens)


def as_batch(arrays: tuple[NDArray[Any], ...], index: Ints) -> Batch:
    """What `Rows.arrays` made, as tensors."""
    *tensors, tokens = arrays
    return Batch(*(torch.from_numpy(a) for a in tensors), index, int(tokens))


class Rows:
    """Lays cases into rows. `lengths` is the token count of each case's row."""

    def __init__(self, cases: CaseFile, tokens: Tokens, form: Form) -> None:
        self.cases, self.tokens, self.form = cases, tokens, form
        size = np.diff(tokens.at)
        option = size[cases.options] + 1
        self.count = np.diff(cases.starts)
        self.head = size[cases.head] + 2
        total = np.add.reduceat(option, cases.starts[:-1]) if len(cases) else np.zeros(0, np.int64)
        longest = np.maximum.reduceat(option, cases.starts[:-1]) if len(cases) else total
        # full: positions run on; otherwise options start at the same position, and a state that stands last after the longest
        self.state_at = self.head + (total if form.layout == "full" else longest)
        room = np.minimum(form.window - self.state_at, form.longest - self.head - total) - 2
        self.state = np.minimum(size[cases.state], room)
        self.lengths = self.head + total + self.state + 2
        self.fits = room >= np.minimum(size[cases.state], 48)

    def batch(self, index: Ints, rng: np.random.Generator | None = None) -> Batch:
        """One batch of these cases; with `rng` the options are shuffled (a score's stay as they are)."""
        return as_batch(self.arrays(index, rng), index)

    def arrays(self, index: Ints, rng: np.random.Generator | None = None) -> tuple[NDArray[Any], ...]:
        """The tensors of `batch` as arrays, for another process to make."""
        c, t, f = self.cases, self.tokens, self.form
        n = len(index)
        count = self.count[index]
        row_of = np.repeat(np.arange(n), count)
        within = np.arange(len(row_of)) - np.repeat(np.cumsum(count) - count, count)
        slot = np.repeat(c.starts[:-1][index], count) + within
        if rng is not None:
            key = np.where(np.repeat(c.kind[index] == 2, count), within, rng.random(len(slot)) * 1000)
            slot = slot[np.lexsort((key, row_of))]
        # pieces in row order: head, options, state; in state_first the state comes first
        pieces = count + 2
        ahead = int(f.layout == "state_first")
        start = np.cumsum(pieces) - pieces
        text = np.empty(pieces.sum(), np.int64)
        part = np.empty_like(text)
        lead = np.zeros_like(text)  # framing tokens before the text: <s> and </s>
        tail = np.ones_like(text)  # one framing token after every text: </s>, <mask>, </s>
        head_piece = start + ahead
        option_piece = np.repeat(head_piece + 1, count) + within
        state_piece = start if ahead else start + pieces - 1
        text[head_piece], text[option_piece], text[state_piece] = c.head[index], c.options[slot], c.state[index]
        part[head_piece], part[option_piece], part[state_piece] = FRAME, OPTION + within, STATE
        lead[head_piece], lead[state_piece] = 1, 1
        body = t.at[text + 1] - t.at[text]
        body[state_piece] = self.state[index]
        size = lead + body + tail
        row_len = self.lengths[index]
        width = -(-int(row_len.max()) // 16) * 16
        first = np.cumsum(size) - size  # of each piece, in the concatenation of all rows
        row_first = first[start]
        if f.layout == "full":
            pos0 = first - np.repeat(row_first, pieces)
        else:
            pos0 = np.zeros_like(first)
            pos0[head_piece] = head_at = (self.state[index] + 2) * ahead
            pos0[option_piece] = np.repeat(head_at + self.head[index], count)
            pos0[state_piece] = 0 if ahead else self.state_at[index]
        piece_of = np.repeat(np.arange(len(size)), size)
        offset = np.arange(len(piece_of)) - first[piece_of]
        inside = offset - lead[piece_of]
        is_text = (inside >= 0) & (inside < body[piece_of])
        source = np.where(is_text, t.at[text][piece_of] + inside, 0)
        framing = np.where(part[piece_of] >= OPTION, f.mask, f.sep)
        framing[(part[piece_of] == (STATE if ahead else FRAME)) & (offset == 0)] = f.bos
        value = np.where(is_text, t.flat[source] if len(t.flat) else 0, framing)
        row = np.repeat(np.repeat(np.arange(n), pieces), size)
        place = row * width + np.arange(len(row)) - row_first[row]
        ids, pos, parts = (np.full(n * width, v, np.int64) for v in (f.sep, 0, -1))
        ids[place], pos[place], parts[place] = value, pos0[piece_of] + offset, part[piece_of]
        last = (first + size - 1)[option_piece]
        markers = place[last]
        shape = (n, width)
        tokens = np.array(row_len.sum())
        return (*(a.reshape(shape).astype(np.int32) for a in (ids, pos, parts)), markers, row_of, c.target[slot], tokens)

    def batches(self, index: Ints, budget: int, rng: np.random.Generator | None = None) -> Iterator[Ints]:
        """Groups of cases of like length, each of at most `budget` padded tokens, in random order when `rng` is given."""
        index = index[self.fits[index]]
        noise = rng.random(len(index)) * 12 if rng is not None else 0
        order = index[np.argsort(self.lengths[index] + noise, kind="stable")]
        groups, start, widest = [], 0, 0
        padded = -(-self.lengths[order] // 16) * 16
        for i, w in enumerate(padded.tolist()):
            new = max(widest, w)
            if i > start and (i + 1 - start) * new > budget:
                groups.append(order[start:i])
                start, new = i, w
            widest = new
        groups.append(order[start:])
        groups = [g for g in groups if len(g)]
        if rng is not None:
            rng.shuffle(groups)  # type: ignore[arg-type]
        yield from groups
