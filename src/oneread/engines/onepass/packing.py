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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import EngineError
from ..base import PAGE, PromptImage, Read
from .prefix import Page, PageKey, PrefixCache, page_keys

Ints = NDArray[np.int32]

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
        pages: the pages this pass uses, all pinned; `fresh` are those it writes.
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
    pages: list[Page]
    fresh: list[Page]

    @property
    def rows(self) -> int:
        """New rows, q."""
        return len(self.tokens)


@dataclass(slots=True, eq=False)
class _Piece:
    """A page's worth of one or more prompts in this pass: cached, about to be cached, or (page None) only computed."""

    parent: _Piece | None
    start: int
    length: int
    page: Page | None
    cached: bool
    prompts: int = 0
    node: int = -1


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


class _Packer:
    def __init__(self, cache: PrefixCache, layout: Layout) -> None:
        self.cache, self.layout = cache, layout
        self.pages: list[Page] = []
        self.fresh: list[Page] = []
        self.pieces: dict[tuple[int, bytes], _Piece] = {}
        self.columns: dict[str, list[Ints]] = {name: [] for name in ("tokens", "positions", "nodes", "low", "high", "rows")}
        self.canvas: list[NDArray[np.bool_]] = []
        self.cached: list[tuple[Ints, int, int]] = []
        self.images: list[ImageRows] = []
        self.parents: list[int] = []
        self.row = self.scratch_row = 0

    def pack(self, reads: Sequence[Read]) -> Pack:
        prompts: dict[tuple[bytes, ...], tuple[list[PageKey], list[Page]]] = {}
        names = []
        for read in reads:
            keys = list(page_keys(read.prompt, read.images))
            name = tuple(key for _, _, key in keys)
            names.append(name)
            if name not in prompts:
                prompts[name] = keys, self.cache.find(keys)
                self.pages += prompts[name][1]
        # Only now may pages be added: adding evicts, and every page that this pass can use is pinned.
        paths = {name: self._path(keys, found) for name, (keys, found) in prompts.items()}
        chosen = [paths[name] for name in names]
        reused = [sum(piece.length for piece in path if piece.cached) for path in chosen]
        canvases: list[tuple[list[int], Read]] = []
        slot_rows: list[int] = []
        labels: list[int] = []
        label_slots: list[int] = []
        for read, path in zip(reads, chosen, strict=True):
            self._place(path, read)
            first, segments = self._place_canvas(read, path[-1].node if path else -1)
            canvases.append((segments, read))
            for slot in read.slots:
                if not slot.labels:
                    raise EngineError("a slot without labels cannot be read by a reader of labels")
                label_slots += [len(slot_rows)] * len(slot.labels)
                labels += slot.labels
                slot_rows.append(first + slot.position)
        computed = sum(piece.length for piece in self.pieces.values() if not piece.cached)
        self.cache.stats.hits += sum(reused)
        self.cache.stats.misses += computed
        self.cache.stats.shared += sum(len(read.prompt) for read in reads) - sum(reused) - computed
        join = {name: np.concatenate(parts) if parts else np.zeros(0, np.int32) for name, parts in self.columns.items()}
        past = [np.arange(len(rows), dtype=np.int32) + start for rows, _, start in self.cached]
        return Pack(
            tokens=join["tokens"],
            positions=join["positions"],
            nodes=join["nodes"],
            low=join["low"],
            high=join["high"],
            canvas=np.concatenate(self.canvas) if self.canvas else np.zeros(0, np.bool_),
            key_rows=np.concatenate([*(rows for rows, _, _ in self.cached), join["rows"]]),
            key_nodes=np.concatenate([*(np.full(len(rows), node, np.int32) for rows, node, _ in self.cached), join["nodes"]]),
            key_positions=np.concatenate([*past, join["positions"]]),
            sees=self._sees(canvases),
            slot_rows=np.array(slot_rows, np.int32),
            labels=np.array(labels, np.int32),
            label_slots=np.array(label_slots, np.int32),
            images=tuple(self.images),
            reused=tuple(reused),
            pages=self.pages,
            fresh=self.fresh,
        )

    def _path(self, keys: Sequence[PageKey], found: Sequence[Page]) -> list[_Piece]:
        """The pieces of one distinct prompt, shared with the prompts before it as far as they agree."""
        path: list[_Piece] = []
        parent: _Piece | None = None
        for index, (start, length, key) in enumerate(keys):
            piece = self.pieces.get((id(parent), key))
            if piece is None:
                cached = index < len(found)
                page = found[index] if cached else self._add(parent, start, length, key)
                piece = self.pieces[id(parent), key] = _Piece(parent, start, length, page, cached)
            piece.prompts += 1
            path.append(piece)
            parent = piece
        self.cache.touch([piece.page for piece in path if piece.page is not None])
        return path

    def _add(self, parent: _Piece | None, start: int, length: int, key: bytes) -> Page | None:
        if parent is not None and parent.page is None:
            return None
        page = self.cache.add(parent.page if parent is not None else None, start, length, key)
        if page is not None:
            self.pages.append(page)
            self.fresh.append(page)
        return page

    def _place(self, path: Sequence[_Piece], read: Read) -> None:
        """Give a prompt's pieces their nodes, and their rows to those that must be computed and no earlier read's prompt has."""
        run: list[_Piece] = []
        starts: list[int] = []
        for piece in path:
            if piece.node >= 0:
                continue
            above = piece.parent
            # The same prompts pass through both, so they are one run.
            joined = above is not None and above.prompts == piece.prompts
            piece.node = above.node if above is not None and joined else self._node(above.node if above is not None else -1)
            start = self._scratch(piece.length) if piece.page is None else self.layout.scratch + piece.page.slot * PAGE
            if piece.cached:
                self.cached.append((np.arange(start, start + piece.length, dtype=np.int32), piece.node, piece.start))
            else:
                run.append(piece)
                starts.append(start)
        # What is cached, or placed by an earlier read, is a path's beginning: what is left of it is in one piece.
        if run:
            self._emit_prompt(run, np.array(starts), read)

    def _emit_prompt(self, run: Sequence[_Piece], starts: NDArray[np.int64], read: Read) -> None:
        first, stop = run[0].start, run[-1].start + run[-1].length
        lengths = np.array([piece.length for piece in run])
        positions = np.arange(first, stop, dtype=np.int32)
        rows = np.repeat(starts - np.array([piece.start for piece in run]), lengths) + positions
        nodes = np.repeat(np.array([piece.node for piece in run]), lengths)
        low, high = np.maximum(positions - self.layout.window + 1, 0), positions.copy()
        for image in read.images:
            begin, end = max(image.start, first), min(image.start + image.tokens, stop)
            if begin < end:
                inside = slice(begin - first, end - first)
                self.images.append(ImageRows(image, self.row + begin - first, begin - image.start, end - begin))
                if self.layout.images_both_ways:
                    low[inside] = np.minimum(low[inside], image.start)
                    high[inside] = image.start + image.tokens - 1
        self._emit(read.prompt[first:stop], positions, nodes, low, high, rows, canvas=False)

    def _place_canvas(self, read: Read, above: int) -> tuple[int, list[int]]:
        """Lay out a canvas; its first row and the nodes of its segments."""
        first, count, prompt = self.row, len(read.canvas), len(read.prompt)
        segments = np.zeros(count, np.int64) if read.segments is None else read.segments.astype(np.int64)
        nodes = [self._node(above) for _ in range(int(segments.max(initial=0)) + 1)]
        offsets = np.arange(count, dtype=np.int32) if read.positions is None else read.positions
        low = np.full(count, max(0, prompt - self.layout.window + 1), np.int32)
        high = np.full(count, NO_LIMIT, np.int32)
        start = self._scratch(count)
        rows = np.arange(start, start + count, dtype=np.int32)
        self._emit(read.canvas, offsets + prompt, np.array(nodes, np.int32)[segments], low, high, rows, canvas=True)
        return first, nodes

    def _emit(
        self,
        tokens: NDArray[np.integer],
        positions: NDArray[np.integer],
        nodes: NDArray[np.integer],
        low: Ints,
        high: Ints,
        rows: NDArray[np.integer],
        canvas: bool,
    ) -> None:
        for name, values in zip(self.columns, (tokens, positions, nodes, low, high, rows), strict=True):
            self.columns[name].append(values.astype(np.int32, copy=False))
        self.canvas.append(np.full(len(tokens), canvas))
        self.row += len(tokens)

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

    def _sees(self, canvases: Sequence[tuple[list[int], Read]]) -> NDArray[np.bool_]:
        sees = np.eye(len(self.parents), dtype=np.bool_)
        for node, above in enumerate(self.parents):
            if above >= 0:
                # A parent's number is lower than its children's, so its row is complete.
                sees[node] |= sees[above]
        for nodes, read in canvases:
            sees[np.ix_(nodes, nodes)] = True if read.sees is None else read.sees[: len(nodes), : len(nodes)]
        return sees
