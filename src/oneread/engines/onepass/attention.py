"""Which row sees which key, and attention under that rule."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .config import LayerKind


@dataclass(slots=True, eq=False)
class Sight:
    """The rule of `packing` on the device: q rows, k keys, n nodes.

    Attributes:
        nodes, low, high: int32 (q,).
        key_nodes, key_positions: int32 (k,).
        sees: uint8 (n, n).
    """

    nodes: Tensor
    low: Tensor
    high: Tensor
    key_nodes: Tensor
    key_positions: Tensor
    sees: Tensor

    def of(self, rows: Tensor) -> Sight:
        """The same rule for some rows alone, int64 (r,)."""
        return Sight(self.nodes[rows], self.low[rows], self.high[rows], self.key_nodes, self.key_positions, self.sees)

    def mask(self, kind: LayerKind) -> Tensor:
        """bool (q, k): whether a row of this kind of layer sees a key."""
        at = self.key_positions
        seen = self.sees[self.nodes.long()][:, self.key_nodes.long()].bool() & (at <= self.high[:, None])
        return seen & (at >= self.low[:, None]) if kind == "sliding" else seen


def masked_attention(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """The reference: softmax(q k^T) v under an explicit mask, without a scale.

    Args:
        query: (q, heads, d). keys, values: (k, kv_heads, d); each serves heads / kv_heads neighbouring heads.
        mask: bool (q, k).

    Returns:
        (q, heads * d).
    """
    q, k, v = (t.transpose(0, 1)[None] for t in (query, keys, values))
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=1.0, enable_gqa=True)
    return out[0].transpose(0, 1).flatten(1)
