"""Reads -> one ragged row of tokens and the table that says which row sees which. On the host; knows no tensors of torch.

Every row of a pass belongs to a node. A node is a run of prompt tokens that the same prompts share, or one segment of
one canvas. Nodes form a tree: a prompt's own run hangs under the runs it shares with others, a canvas hangs under its
prompt's last run. A row sees a key when two things hold:

* its node sees the key's node: the node itself and all above it (for a canvas: its whole prompt and its own canvas);
* the key's position lies in the row's interval, which says all there is to say about order and windows:

  ============  =========================================  =======================================
  row           lowest position (sliding layers)           highest position
  ============  =========================================  =======================================
  prompt text   own position - window + 1                  own position: causal
  image         that, or the image's start if lower        the image's end: both ways inside it
  canvas        prompt length - window + 1                 none: the whole canvas
  ============  =========================================  =======================================

  Full layers have no lowest position. The canvas line is the reference's rule: every canvas row sees the same last
  window - 1 tokens of the prompt and its whole canvas, however long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import sub

import numpy as np
from numpy.typing import NDArray

from ...errors import EngineError
from ..base import NO_TOKENS, PromptImage, Read
from .prefix import PrefixCache, Run, page_keys
from .rows import Ints as Ints
from .rows import Rows

NO_LIMIT = 2**30
"""A highest position that no key reaches."""


@dataclass(frozen=True, slots=True)
class ImageRows:
    """Rows `row` to `row + count` of a pass hold soft tokens `offset` onwards of `image`."""

    image: PromptImage
    row: int
    offset: int
    count: int


@dataclass(slots=True, eq=False)
class Pack:
    """One pass. q new rows, k keys (cached ones, then the new rows in order), n nodes, s slots, l labels.

    Attributes:
        tokens, positions, nodes, low, high: int32 (q,); `low` is for sliding layers.
        canvas: bool (q,), whether a row is a canvas row.
        key_rows: int32 (k,), each key's row in the store of keys and values; the new rows' own are its last q.
        key_nodes, key_positions: int32 (k,).
        sees: bool (n, n), whether a row of node i sees keys of node j.
        slot_rows: int32 (s,), the row of each open slot, read after read.
        labels, label_slots: int32 (l,), label ids, and for each the index of its slot.
        images: image rows among the new rows.
        reused: prompt tokens of each read that came from the cache.
        pages: the paths of pages this pass uses, all held; `fresh` are the runs of pages it writes.
    """

    tokens: Ints
    positions: Ints
    nodes: Ints
    low: Ints
    high: Ints
    canvas: NDArray[np.bool_]
    key_rows: Ints
    key_nodes: Ints
    key_positions: Ints
    sees: NDArray[np.bool_]
    slot_rows: Ints
    labels: Ints
    label_slots: Ints
    images: tuple[ImageRows, ...]
    reused: tuple[int, ...]
    pages: list[Run]
    fresh: list[Run]

    @property
    def rows(self) -> int:
        """New rows, q."""
        return len(self.tokens)


@dataclass(frozen=True, slots=True)
class Layout:
    """What packing must know of the model and the store.

    Attributes:
        window: of the sliding layers.
        images_both_ways: whether an image's rows see one another in both directions.
        scratch: rows of the store for new rows that are not cached; the last one is left for padding. The pages follow.
    """

    window: int
    images_both_ways: bool
    scratch: int


def pack_reads(reads: Sequence[Read], cache: PrefixCache, layout: Layout) -> Pack:
    """Lay reads into one pass, computing every shared prompt token once.

    Args:
        cache: pages found there are not computed; new pages are added. The caller marks `Pack.fresh` as written after
            the pass and releases `Pack.pages` whatever happens.

    Raises:
        EngineError: the new rows that are not cached are more than the scratch rows, or a slot has no labels.
    """
    packer = _Packer(cache, layout)
    try:
        return packer.pack(reads)
    except BaseException:
        cache.release(packer.pages)
        raise


@dataclass(slots=True, eq=False)
class _Prompt:
    """A distinct prompt: keys of the pages that were not found, bounds of all, tokens found, and its path."""

    keys: list[bytes]
    bounds: list[int]
    reused: int
    runs: list[Run] = field(default_factory=list)


class _Packer:
    def __init__(self, cache: PrefixCache, layout: Layout) -> None:
        self.cache, self.layout = cache, layout
        self.pages: list[Run] = []
        self.fresh: list[Run] = []
        self.prompts_of: dict[Run, int] = {}
        self.node_of: dict[Run, int] = {}
        self.parents: list[int] = []
        self.cached, self.new = Rows(), Rows()
        self.tokens: list[NDArray[np.integer]] = [NO_TOKENS]
        self.images: list[ImageRows] = []
        # Canvases of several segments, positions or sights of their own: first row, first node, nodes and read.
        self.special: list[tuple[int, int, int, Read]] = []
        self.scratch_row = 0

    def pack(self, reads: Sequence[Read]) -> Pack:
        prompts = self._prompts(reads)
        slot_rows: list[int] = []
        labels: list[tuple[int, ...]] = []
        for read, prompt in zip(reads, prompts, strict=True):
            self._place(prompt, read)
            first = self.new.count
            self._place_canvas(read, self.node_of[prompt.runs[-1]] if prompt.runs else -1)
            for slot in read.slots:
                if not slot.labels:
                    raise EngineError("a slot without labels cannot be read by a reader of labels")
                slot_rows.append(first + slot.position)
                labels.append(slot.labels)
        reused, stats = [prompt.reused for prompt in prompts], self.cache.stats
        computed = self.new.count - sum([len(read.canvas) for read in reads])
        stats.hits += sum(reused)
        stats.misses += computed
        stats.shared += sum([len(read.prompt) for read in reads]) - sum(reused) - computed
        past = self.cached.count
        key_positions, key_nodes, key_rows, firsts, canvas = self.cached.columns(self.new, self.layout.scratch)
        # Views, so that what is written into them below holds for the rows' keys as well.
        positions, nodes, firsts, canvas = key_positions[past:], key_nodes[past:], firsts[past:], canvas[past:]
        low = np.maximum(np.where(canvas, firsts, positions) - (self.layout.window - 1), 0)
        high = np.where(canvas, NO_LIMIT, positions).astype(np.int32, copy=False)
        for row, node, _, read in self.special:
            mine = slice(row, row + len(read.canvas))
            if read.segments is not None:
                nodes[mine] = node + read.segments.astype(np.int32)
            if read.positions is not None:
                positions[mine] = len(read.prompt) + read.positions
        if self.layout.images_both_ways:
            for part in self.images:
                inside, start = slice(part.row, part.row + part.count), part.image.start
                low[inside] = np.minimum(low[inside], start)
                high[inside] = start + part.image.tokens - 1
        return Pack(
            tokens=np.concatenate(self.tokens).astype(np.int32, copy=False),
            positions=positions,
            nodes=nodes,
            low=low,
            high=high,
            canvas=canvas,
            key_rows=key_rows,
            key_nodes=key_nodes,
            key_positions=key_positions,
            sees=self._sees(),
            slot_rows=np.array(slot_rows, np.int32),
            labels=np.array([*chain.from_iterable(labels)], np.int32),
            label_slots=np.arange(len(labels), dtype=np.int32).repeat(np.array([len(own) for own in labels], np.int32)),
            images=tuple(self.images),
            reused=tuple(reused),
            pages=self.pages,
            fresh=self.fresh,
        )

    def _prompts(self, reads: Sequence[Read]) -> list[_Prompt]:
        """Each read's prompt, with its path through the cache. Equal prompts are one."""
        distinct: dict[bytes | tuple[bytes, ...], _Prompt] = {}
        chosen = []
        for read in reads:
            cut = page_keys(read.prompt, read.images) if read.images else None
            name = tuple(cut[0]) if cut else read.prompt.tobytes()
            prompt = distinct.get(name)
            if prompt is None:
                keys, bounds = cut or page_keys(read.prompt, ())
                end, found = self.cache.find(keys)
                self.pages.append(end)
                prompt = distinct[name] = _Prompt(keys[found:], bounds, bounds[found])
            chosen.append(prompt)
        # Only now may pages be added: adding evicts, and every page that this pass can use is pinned.
        for index, prompt in enumerate(distinct.values()):
            self.pages[index] = self.cache.extend(self.pages[index], prompt.keys)
        # And only now are runs what they stay: a path that is added may cut runs of those before it.
        for prompt, end in zip(distinct.values(), self.pages, strict=True):
            prompt.runs = [*end.upwards()][::-1]
            for run in prompt.runs:
                self.prompts_of[run] = self.prompts_of.get(run, 0) + 1
        return chosen

    def _place(self, prompt: _Prompt, read: Read) -> None:
        """Give a prompt's runs their nodes, and rows to those that must be computed and no earlier read's prompt has."""
        above, page, first = -1, 0, self.new.count
        prompts, begin = 0, 0
        for run in prompt.runs:
            pages = page + len(run.keys)
            stop = prompt.bounds[pages]
            node = self.node_of.get(run)
            if node is None:
                # The same prompts pass through a run and the one above it: they are one node.
                node = above if self.prompts_of[run] == prompts else self._node(above)
                self.node_of[run] = node
                rows = self.cached if run.written else self.new
                rows.stretch(stop - begin, begin, node)
                if run.slots is None:
                    rows.strips((stop - begin,), (~self._scratch(stop - begin),))
                else:
                    bounds = prompt.bounds[page : pages + 1]
                    rows.strips(map(sub, bounds[1:], bounds), run.slots)
                if not run.written:
                    self.tokens.append(read.prompt[begin:stop])
                    if run.slots is not None:
                        self.fresh.append(run)
            above, page, begin, prompts = node, pages, stop, self.prompts_of[run]
        # What is cached, or placed by an earlier read, is a path's beginning: what is left of it is in one piece.
        start = begin - (self.new.count - first)
        for image in read.images:
            low, high = max(image.start, start), min(image.start + image.tokens, begin)
            if low < high:
                self.images.append(ImageRows(image, first + low - start, low - image.start, high - low))

    def _place_canvas(self, read: Read, above: int) -> None:
        count, row, nodes = len(read.canvas), self.new.count, 1
        if read.segments is not None:
            nodes += int(read.segments.max(initial=0))
        first = self._node(above)
        for _ in range(nodes - 1):
            self._node(above)
        self.new.stretch(count, len(read.prompt), first, canvas=True)
        self.new.strips((count,), (~self._scratch(count),))
        self.tokens.append(read.canvas)
        if read.segments is not None or read.positions is not None or read.sees is not None:
            self.special.append((row, first, nodes, read))

    def _scratch(self, count: int) -> int:
        """The first of so many scratch rows."""
        start = self.scratch_row
        self.scratch_row += count
        if self.scratch_row >= self.layout.scratch:
            raise EngineError(f"a pass takes at most {self.layout.scratch - 1} rows that are not cached")
        return start

    def _node(self, above: int) -> int:
        self.parents.append(above)
        return len(self.parents) - 1

    def _sees(self) -> NDArray[np.bool_]:
        parents = np.array(self.parents, np.int64)
        sees = np.eye(len(parents), dtype=np.bool_)
        nodes, above = np.arange(len(parents)), parents
        while len(nodes := nodes[above >= 0]):
            above = above[above >= 0]
            sees[nodes, above] = True
            above = parents[above]
        for _, first, count, read in self.special:
            own = slice(first, first + count)
            sees[own, own] = True if read.sees is None else read.sees[:count, :count]
        return sees
