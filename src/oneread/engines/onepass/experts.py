"""The experts of a layer: 128 small MLPs of which every row takes 8."""

from __future__ import annotations

import torch
from torch import Tensor

from .linear import Linear


def gated(x: Tensor) -> Tensor:
    """``gelu_tanh(gate) * up`` of the two halves of the last dimension."""
    gate, up = x.chunk(2, dim=-1)
    return torch.nn.functional.gelu(gate, approximate="tanh") * up


def experts_loop(x: Tensor, chosen: Tensor, shares: Tensor, gate_up: Linear, down: Linear) -> Tensor:
    """The reference: one expert after another, in any weight form.

    Args:
        x: (rows, hidden). chosen: int (rows, k), experts of each row, -1 for none. shares: float32 (rows, k).
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
        out.index_add_(0, rows, (y * shares[rows, place, None]).to(x.dtype))
    return out


def experts_grouped(x: Tensor, chosen: Tensor, shares: Tensor, gate_up: Linear, down: Linear) -> Tensor:
    """The same with torch's grouped matrix products over rows sorted by expert. Plain weights only; never waits.

    Args, Returns: as `experts_loop`.
    """
    experts, k = len(gate_up.weight), chosen.shape[1]
    # Pairs without an expert sort behind the last one, where no group reaches.
    flat = torch.where(chosen < 0, experts, chosen).flatten().long()
    order = flat.argsort(stable=True)
    totals = torch.zeros(experts + 1, dtype=torch.int32, device=x.device)
    ends = totals.scatter_add_(0, flat, torch.ones_like(flat, dtype=torch.int32)).cumsum(0, dtype=torch.int32)[:experts]
    inner = gated(_grouped(x[order // k], gate_up.weight, ends))
    sorted_out = _grouped(inner, down.weight, ends) * shares.flatten()[order, None]
    real = torch.arange(len(order), device=x.device) < ends[-1]
    sorted_out = torch.where(real[:, None], sorted_out, 0).to(x.dtype)
    return torch.zeros_like(sorted_out).index_copy_(0, order, sorted_out).view(len(x), k, -1).sum(1)


def _grouped(rows: Tensor, weights: Tensor, ends: Tensor) -> Tensor:
    return torch._grouped_mm(rows, weights.transpose(-2, -1), offs=ends)  # type: ignore[no-any-return, attr-defined, unused-ignore]
