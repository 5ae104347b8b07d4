"""Where keys and values lie on the device: scratch rows for one pass, then the pages of the prefix cache."""

from __future__ import annotations

import torch
from torch import Tensor

from ..base import PAGE
from .config import Config, LayerKind


class KeyValueStore:
    """Keys and values of all layers, addressed by row.

    Rows 0 to `scratch` - 1 are used by every layer in turn: what a pass computes and nobody keeps. Page p of the prefix
    cache is rows ``scratch + p * PAGE`` onwards, and each layer has its own copy of those.

    Args:
        pages: pages of the prefix cache.
        scratch: most rows of one pass that are not cached.
    """

    def __init__(self, config: Config, pages: int, scratch: int, dtype: torch.dtype, device: torch.device) -> None:
        self.scratch = scratch
        self.pages = pages
        self.keys: dict[LayerKind, Tensor] = {}
        self.values: dict[LayerKind, Tensor] = {}
        self._ordinal: list[int] = []
        count: dict[LayerKind, int] = {"sliding": 0, "full": 0}
        for shape in config.layers:
            self._ordinal.append(count[shape.kind])
            count[shape.kind] += 1
        for kind, layers in count.items():
            own = config.shape_of(kind)
            if own is not None:
                size = (scratch + layers * pages * PAGE, own.kv_heads, own.head_dim)
                # Zeros, not empty: rows that pad a pass are read before they are written, and NaN would spread.
                self.keys[kind] = torch.zeros(size, dtype=dtype, device=device)
                self.values[kind] = torch.zeros(size, dtype=dtype, device=device)

    def offset(self, layer: int) -> int:
        """What a layer adds to every row number that is not scratch."""
        return self._ordinal[layer] * self.pages * PAGE

    def rows(self, layer: int, rows: Tensor) -> Tensor:
        """Row numbers of a pass -> this layer's rows of `keys` and `values`; int64, same shape."""
        return rows.long() + (rows >= self.scratch) * self.offset(layer)

    @property
    def nbytes(self) -> int:
        return sum(t.nbytes for t in (*self.keys.values(), *self.values.values()))
