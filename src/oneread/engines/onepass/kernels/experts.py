"""The experts on CUDA: pairs sorted by expert, then both products over them. Launches the kernels of gate_up.py and down.py."""

# mypy: disable-error-code="no-untyped-call, no-any-return, index, unused-ignore, import-not-found, import-untyped"
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
import triton
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from ..linear import FP8, Linear
from . import norms, routing
from .down import down_kernel
from .gate_up import gate_up_kernel
from .plan import ExpertTiles


@dataclass(slots=True, eq=False)
class Quantised:
    """Rows in FP8: values float8_e4m3fn (rows, n), scales float32 (rows,)."""

    values: Tensor
    scales: Tensor


def room(x: Tensor, columns: int, quantised: bool) -> tuple[Tensor, Tensor]:
    """Room for as many rows as x has, in FP8 with scales or in x's dtype."""
    out = torch.empty((len(x), columns), dtype=FP8 if quantised else x.dtype, device=x.device)
    return out, torch.empty(len(x) if quantised else 1, dtype=torch.float32, device=x.device)


@dataclass(slots=True, eq=False)
class Order:
    """Pairs sorted by expert, int32; see routing.py.

    Attributes:
        pairs: (blocks * block,), the pair of each place. owners: (blocks,). ends: (experts,).
    """

    pairs: Tensor
    owners: Tensor
    ends: Tensor


def described(x: Tensor, block: list[int]) -> TensorDescriptor:
    """x as the card's copy engine loads it, a block at a time; zeros where a block reaches beyond it."""
    return TensorDescriptor(x, list(x.shape), list(x.stride()), block)


def sort_pairs(chosen: Tensor, totals: Tensor, block: int) -> Order:
    """Pairs in blocks of one expert each, from what `route` chose (rows, k) and counted (experts,). Leaves the totals at zero."""
    pairs, experts, device = chosen.numel(), len(totals), chosen.device
    blocks = min(pairs, triton.cdiv(pairs, block) + experts)
    order = torch.empty(blocks * block, dtype=torch.int32, device=device)
    owners = torch.empty(blocks, dtype=torch.int32, device=device)
    ends = torch.empty(experts, dtype=torch.int32, device=device)
    width = triton.next_power_of_2(experts)
    routing.starts_kernel[(1,)](totals, ends, owners, blocks, experts, width, block, 64, num_warps=4)
    routing.place_kernel[(triton.cdiv(pairs, 256),)](chosen, ends, order, pairs, len(order), experts, 256)
    return Order(order, owners, ends)


def quantise_places(x: Tensor, order: Order, block: int) -> Quantised:
    """Every place's values in FP8, with a scale each."""
    out, scales = room(x, x.shape[1], True)
    width = triton.next_power_of_2(x.shape[1])
    norms.quantise_places_kernel[(len(x) // 4,)](x, out, scales, order.owners, x.shape[1], width, block, 4, num_warps=4)
    return Quantised(out, scales)


@dataclass(slots=True, eq=False)
class Products:
    """Both products. `descriptors` tell the card's copy engine where weights are; each is made once."""

    descriptors: dict[tuple[int, ...], TensorDescriptor] = field(default_factory=dict)

    def gate_up(self, x: Any, order: Order, k: int, weight: Linear, t: ExpertTiles) -> Tensor:
        """gelu(gate) * up of every place of the order, (places, inner)."""
        fp8, scaled = isinstance(x, Quantised), weight.weight.dtype == FP8
        values, scales = (x.values, x.scales) if isinstance(x, Quantised) else (x, x)
        inner, device = weight.outputs // 2, values.device
        # In the rows' own width: an FP8 model computes in bf16.
        out = torch.empty((len(order.pairs), inner), dtype=torch.bfloat16 if fp8 else values.dtype, device=device)
        tail = min(t.gated, max(16, triton.next_power_of_2(inner % t.gated or t.gated)))
        stack: Any = weight.weight
        stack_tail = stack
        if t.tma:
            parts = 2 if t.merge else 1
            stack, stack_tail = (
                self._described(weight.weight, (len(weight.weight), 2, -1), [1, parts, n, t.depth]) for n in (t.gated, tail)
            )
        gate_up_kernel[(len(order.owners) * triton.cdiv(inner, t.gated),)](
            values,
            scales,
            stack,
            stack_tail,
            weight.scale if scaled else scales,
            order.pairs,
            order.owners,
            order.ends,
            out,
            hidden=weight.inputs,
            inner=inner,
            k=k,
            block=t.block,
            gated=t.gated,
            tail=tail,
            depth=t.depth,
            scaled=scaled,
            fp8=fp8,
            swap=t.swap,
            halve=t.halve,
            join=t.join,
            group=t.group,
            tma=t.tma,
            merge=t.merge,
            num_warps=t.warps,
            num_stages=t.stages,
        )
        return out

    def down(self, x: Any, order: Order, shares: Tensor, weight: Linear, t: ExpertTiles) -> Tensor:
        """Each pair's output times its share, (pairs, hidden), where the pair belongs."""
        fp8, scaled = isinstance(x, Quantised), weight.weight.dtype == FP8
        values, scales = (x.values, x.scales) if isinstance(x, Quantised) else (x, x)
        hidden = weight.outputs
        dtype = torch.bfloat16 if fp8 else values.dtype
        out = torch.empty((shares.numel(), hidden), dtype=dtype, device=values.device)
        rows: Any = described(values, [t.block, t.down_depth]) if t.down_tma else values
        rows_half: Any = described(values, [t.block // 2, t.down_depth]) if t.down_tma and t.halve else rows
        rows_join: Any = described(values, [t.join, t.down_depth]) if t.down_tma and t.join else rows
        down_kernel[(len(order.owners) * triton.cdiv(hidden, t.wide),)](
            rows,
            rows_half,
            rows_join,
            scales,
            self._described(weight.weight, (-1,), [t.wide, t.down_depth]) if t.down_tma else weight.weight,
            weight.scale if scaled else scales,
            order.pairs,
            order.owners,
            order.ends,
            shares,
            out,
            hidden=hidden,
            inner=weight.inputs,
            block=t.block,
            wide=t.wide,
            depth=t.down_depth,
            scaled=scaled,
            fp8=fp8,
            swap=t.down_swap,
            halve=t.halve,
            join=t.join,
            tma=t.down_tma,
            num_warps=t.down_warps,
            num_stages=t.down_stages,
        )
        return out

    def _described(self, stack: Tensor, shape: tuple[int, ...], block: list[int]) -> TensorDescriptor:
        """Experts' weights as (*shape, inputs), loaded in blocks; made once."""
        key = stack.data_ptr(), *block
        if key not in self.descriptors:
            self.descriptors[key] = described(stack.view(*shape, stack.shape[-1]), block)
        return self.descriptors[key]
