"""Attention by FlexAttention: torch compiles the packed rule into a kernel that skips blocks no row sees."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

from .attention import Sight
from .config import LayerKind

_compiled: Any = torch.compile(flex_attention, dynamic=True)


def block_mask(sight: Sight, kind: LayerKind) -> BlockMask:
    """The rule as a block mask of (rows, keys)."""
    sees = sight.sees.bool()
    nodes, keys = sight.nodes, sight.key_nodes
    low = sight.low if kind == "sliding" else torch.zeros_like(sight.low)

    def rule(_batch: Tensor, _head: Tensor, row: Tensor, key: Tensor) -> Tensor:
        at = sight.key_positions[key]
        return sees[nodes[row], keys[key]] & (at <= sight.high[row]) & (at >= low[row])

    return create_block_mask(rule, None, None, len(nodes), len(keys), device=sight.nodes.device.type)


def flex(query: Tensor, keys: Tensor, values: Tensor, mask: BlockMask) -> Tensor:
    """As `attention.masked_attention`, with a block mask."""
    q, k, v = (t.transpose(0, 1)[None] for t in (query, keys, values))
    run = _compiled if query.is_cuda else flex_attention
    # Heads of 512 need small blocks to fit the chip's shared memory.
    blocks = {"BLOCK_M": 32, "BLOCK_N": 32, "num_stages": 1} if query.is_cuda and query.shape[-1] > 256 else None
    out: Tensor = run(q, k, v, block_mask=mask, scale=1.0, enable_gqa=True, kernel_options=blocks)
    return out[0].transpose(0, 1).flatten(1)
