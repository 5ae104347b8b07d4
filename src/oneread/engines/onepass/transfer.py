"""A pass crosses to the device as one block of int32. Sizes may be padded, so that passes of one size share a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .attention import Sight
from .diffusion_gemma import Batch
from .packing import NO_LIMIT, Ints, Pack

_QUERY = ("tokens", "positions", "nodes", "low", "high", "canvas", "rows")
_KEY = ("key_rows", "key_nodes", "key_positions")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Counts of one pass: new rows, cached rows, nodes, slots and labels."""

    rows: int
    past: int
    nodes: int
    slots: int
    labels: int

    @classmethod
    def of(cls, pack: Pack) -> Sizes:
        """The pass's own, without padding."""
        past = len(pack.key_rows) - pack.rows
        return cls(pack.rows, past, len(pack.sees), len(pack.slot_rows), len(pack.labels))

    @property
    def words(self) -> int:
        """int32 numbers of the block."""
        keys, table = self.rows + self.past, -(-self.nodes * self.nodes // 4)
        parts = (2, *[self.rows] * len(_QUERY), *[keys] * len(_KEY), self.slots, self.labels, self.labels, table)
        return sum(map(_aligned, parts))


def _aligned(words: int) -> int:
    """Parts begin at multiples of 16 bytes: kernels are compiled once more for a part that does not."""
    return -(-words // 4) * 4


def write_block(pack: Pack, sizes: Sizes, trash: int, block: Ints) -> None:
    """Write a pass into ``block[:sizes.words]``.

    Padding rows and keys belong to a node of their own, so no row of a read sees them and they see only themselves; their
    keys and values go to row `trash` of the store. With padding, `sizes` needs at least one node more than the pass has.
    """
    own = Sizes.of(pack)
    padded = own.rows < sizes.rows or own.past < sizes.past
    assert sizes.nodes > own.nodes or not padded, "padding needs a node"
    block[:2] = own.rows, own.slots
    at = _aligned(2)

    def put(fill: int, *parts: tuple[Ints, int]) -> None:
        """Parts side by side, each filled up to a size."""
        nonlocal at
        here = at
        for values, size in parts:
            block[here : here + len(values)] = values
            block[here + len(values) : here + size] = fill
            here += size
        at += _aligned(here - at)

    pad = own.nodes
    fills = {"nodes": pad, "key_nodes": pad, "high": NO_LIMIT, "rows": trash, "key_rows": trash}
    for name in _QUERY:
        values = pack.key_rows[own.past :] if name == "rows" else getattr(pack, name)
        put(fills.get(name, 0), (values, sizes.rows))
    for name in _KEY:
        values = getattr(pack, name)
        put(fills.get(name, 0), (values[: own.past], sizes.past), (values[own.past :], sizes.rows))
    for values, size in ((pack.slot_rows, sizes.slots), (pack.labels, sizes.labels), (pack.label_slots, sizes.labels)):
        put(0, (values, size))
    table = np.zeros((sizes.nodes, sizes.nodes), np.uint8)
    table[: own.nodes, : own.nodes] = pack.sees
    if sizes.nodes > pad:
        table[pad, pad] = 1
    cells = np.zeros(4 * (sizes.words - at), np.uint8)
    cells[: table.size] = table.ravel()
    block[at : sizes.words] = cells.view(np.int32)


@dataclass(slots=True, eq=False)
class DeviceBlock:
    """The parts of a block on the device, as views. `count` is int32 (1,), the rows that are not padding."""

    count: Tensor
    batch: Batch
    labels: Tensor
    label_slots: Tensor


def read_block(block: Tensor, sizes: Sizes) -> DeviceBlock:
    """Name the parts of a device block. Nothing is copied but the canvas flags. The wanted rows are those of the slots."""
    at = _aligned(2)

    def take(size: int) -> Tensor:
        nonlocal at
        part = block[at : at + size]
        at += _aligned(size)
        return part

    query = {name: take(sizes.rows) for name in _QUERY}
    key = {name: take(sizes.rows + sizes.past) for name in _KEY}
    slot_rows, labels, label_slots = take(sizes.slots), take(sizes.labels), take(sizes.labels)
    table = block[at : sizes.words].view(torch.uint8)[: sizes.nodes**2].view(sizes.nodes, sizes.nodes)
    sight = Sight(query["nodes"], query["low"], query["high"], key["key_nodes"], key["key_positions"], table)
    canvas, wanted = query["canvas"].bool(), (slot_rows, block[1:2])
    batch = Batch(query["tokens"], query["positions"], canvas, query["rows"], key["key_rows"], sight, *wanted)
    return DeviceBlock(block[:1], batch, labels, label_slots)
