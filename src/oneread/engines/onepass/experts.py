"""The experts of a layer: 128 small MLPs of which every row takes 8."""

from __future__ import annotations

import torch
from torch import Tensor

from .linear import Linear


def gated(x: Tensor) -> Tensor:
    """``gelu_tanh(gate) * up`` of the two halves of the last dimension."""
    gate, up = x.chunk(2, dim=-1)
    return torch.nn.functional.gelu(gate, approximate="tanh") * up


def experts_loop(x: Tensor, chosen: Tensor, weights: Tensor, gate_up: Linear, down: Linear) -> Tensor:
    """The reference: one expert after another, in any weight form.

    Args:
        x: (rows, hidden). chosen: int (rows, k), experts of each row. weights: float32 (rows, k).
        gate_up: a stack of (2 * inner, hidden). down: a stack of (hidden, inner).

    Returns:
        (rows, hidden), the weighted sum over each row's experts.
    """
    out = torch.zeros_like(x)
    for expert in range(len(gate_up.weight)):
        rows, place = torch.where(chosen == expert)
        if not len(rows):
            continue
        y = down[expert](gated(gate_up[expert](x[rows])))
        out.index_add_(0, rows, (y * weights[rows, place, None]).to(x.dtype))
    return out
