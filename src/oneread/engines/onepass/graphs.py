"""CUDA graphs: a pass padded to one of a few sizes is replayed with one launch instead of some five hundred."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import torch
from rich.progress import track
from torch import Tensor

from ..startup import tell
from .packing import Pack
from .transfer import Sizes, write_block

MOST_GRAPHS = 96
"""Captured sizes kept, least recently used first out."""

CLASSES = ((32, 0, 0), (32, 16, 256), (128, 64, 1024), (512, 256, 8192))
"""Nodes, slots and labels of a size, small to large. The first is for prompts alone."""

MOST_PAST = 16384
SMALL_ROWS = 2048
"""Up to here the host takes about as long to launch a pass kernel by kernel as the device to compute it."""


def bucket(pack: Pack, most_rows: int) -> Sizes | None:
    """The size a pass is padded to, or None when it is larger than any."""
    own = Sizes.of(pack)
    step = 64 if own.rows <= 512 else 128
    rows = -(-own.rows // step) * step
    past = 0 if not own.past else max(64, 1 << (own.past - 1).bit_length())
    if rows > most_rows or past > MOST_PAST:
        return None
    for nodes, slots, labels in CLASSES:
        if own.nodes < nodes and own.slots <= slots and own.labels <= labels:
            return Sizes(rows, past, nodes, slots, labels)
    return None


def blank() -> Pack:
    """A pass of no rows: padded, it is a valid pass of any size."""
    none = np.zeros(0, np.int32)
    flags = np.zeros(0, np.bool_)
    sees = np.zeros((0, 0), np.bool_)
    return Pack(
        none, none, none, none, none, flags, none, none, none, sees, none, none, none, images=(), reused=(), pages=[], fresh=[]
    )


class Repeats:
    """Which sizes come again: capturing costs more than a pass, so a size is captured once it has come a few times.

    Args:
        most: sizes that are remembered, those met last.
    """

    def __init__(self, most: int = 4 * MOST_GRAPHS) -> None:
        self._most = most
        self._met: OrderedDict[Sizes, int] = OrderedDict()

    def enough(self, sizes: Sizes) -> bool:
        """Meet these sizes, and say whether that was for the second time; for the fourth, where launching costs less of a pass
        and sizes are many."""
        times = self._met.pop(sizes, 0) + 1
        self._met[sizes] = times
        if len(self._met) > self._most:
            self._met.popitem(last=False)
        return times >= (2 if sizes.rows <= SMALL_ROWS else 4)

    def forget(self, sizes: Sizes) -> None:
        """Begin to count these sizes anew."""
        self._met.pop(sizes, None)


@dataclass(slots=True, eq=False)
class _Captured:
    graph: torch.cuda.CUDAGraph
    block: Tensor
    out: Tensor


class Graphs:
    """Captured passes by size.

    Args:
        compute: runs a pass from its device block, without waiting for the host; returns float32 (labels + slots,).
        trash: see `transfer.write_block`.
    """

    def __init__(self, compute: Callable[[Tensor, Sizes], Tensor], device: torch.device, trash: int, most_rows: int) -> None:
        self._compute, self._device, self._trash, self._most_rows = compute, device, trash, most_rows
        self._kept: OrderedDict[Sizes, _Captured] = OrderedDict()
        self._repeats = Repeats()
        self._pool = torch.cuda.graph_pool_handle()
        words = max(Sizes(most_rows, MOST_PAST, *c).words for c in CLASSES)
        self._host = torch.empty(words, dtype=torch.int32, pin_memory=True)
        self._result = torch.empty(sum(CLASSES[-1][1:]), dtype=torch.float32, pin_memory=True)
        # One for all: each stream that multiplies matrices gets a workspace of its own, and a graph must find its one again.
        # Before the dense MLP's, so that this one takes what the experts and their routing leave idle.
        self._stream = torch.cuda.Stream(device, priority=-1)  # type: ignore[no-untyped-call]
        self._done = torch.cuda.Event()  # type: ignore[no-untyped-call]

    def warm(self, rows: Iterable[int], progress: bool) -> None:
        """Capture passes of so many rows and few slots, without cached keys."""
        sizes = list(rows)
        for done, count in enumerate(track(sizes, "Warming up", disable=not progress)):
            tell("warming up", done, len(sizes))
            self._captured(Sizes(count, 0, *CLASSES[1]), blank())

    def run(self, pack: Pack) -> np.ndarray | None:
        """A pass's label scores and log-sum-exps, float32 (labels + slots,).

        None when it is too large for a graph, or of sizes that have not come often enough.
        """
        sizes = bucket(pack, self._most_rows)
        if sizes is None or (sizes not in self._kept and not self._repeats.enough(sizes)):
            return None
        captured = self._captured(sizes, pack)
        write_block(pack, sizes, self._trash, self._host.numpy())
        captured.block.copy_(self._host[: sizes.words], non_blocking=True)
        captured.graph.replay()
        count = sizes.labels + sizes.slots
        self._result[:count].copy_(captured.out, non_blocking=True)
        self._done.record()
        self._done.synchronize()
        out = self._result[:count].numpy()
        return np.concatenate([out[: len(pack.labels)], out[sizes.labels : sizes.labels + len(pack.slot_rows)]])

    def _captured(self, sizes: Sizes, pack: Pack) -> _Captured:
        """The graph of a size. If there is none yet, it is made with this pack: padding alone would see all of itself, which
        takes long in a large pass. Pages it computes are written twice then, with the same values."""
        found = self._kept.get(sizes)
        if found is not None:
            self._kept.move_to_end(sizes)
            return found
        host = np.empty(sizes.words, np.int32)
        write_block(pack, sizes, self._trash, host)
        block = torch.from_numpy(host).to(self._device)
        # The first run compiles kernels and allocates what lives on; only the second is captured.
        stream = self._stream
        stream.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(stream):
            self._compute(block, sizes)
        torch.cuda.current_stream(self._device).wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool, stream=stream):
            out = self._compute(block, sizes)
        self._kept[sizes] = made = _Captured(graph, block, out)
        if len(self._kept) > MOST_GRAPHS:
            self._repeats.forget(self._kept.popitem(last=False)[0])
        return made
