"""The experts on CUDA: pairs sorted by expert, then both products over them. Launches the kernels of gate_up.py and down.py,
and those of packed.py and stationary.py in their place."""

# mypy: disable-error-code="no-untyped-call, no-any-return, index, unused-ignore, import-not-found, import-untyped"
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import triton
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from ..linear import FP8, Linear
from ..packed import span_of
from . import norms, routing
from .down import down_kernel
from .gate_up import gate_up_kernel
from .hopper import stack_of, stationary_down, stays
from .packed import packed_down_kernel, packed_gate_up_kernel
from .plan import ExpertTiles

PLACED, NAMED = 128, 8
"""Pairs that one program sorts, and blocks that it names."""
QUANTISED = 4096
"""Values that one program rounds to FP8."""


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
        pairs: (blocks * block,), the pair of each place. owners, limits: (blocks,). totals: (experts,), how many pairs are each
            one's.
    """

    pairs: Tensor
    owners: Tensor
    limits: Tensor
    totals: Tensor


def described(x: Tensor, block: list[int]) -> TensorDescriptor:
    """x as the card's copy engine loads it, a block at a time; zeros where a block reaches beyond it."""
    return TensorDescriptor(x, list(x.shape), list(x.stride()), block)


def sort_pairs(chosen: Tensor, ranks: Tensor, totals: Tensor, block: int) -> Order:
    """Pairs in blocks of one expert each, from what `route` chose and ranked (rows, k) and counted (experts,)."""
    pairs, experts, device = chosen.numel(), len(totals), chosen.device
    blocks = min(pairs, triton.cdiv(pairs, block) + experts)
    order = torch.empty(blocks * block, dtype=torch.int32, device=device)
    owners = torch.empty(blocks, dtype=torch.int32, device=device)
    limits = torch.empty(blocks, dtype=torch.int32, device=device)
    programs = max(triton.cdiv(pairs, PLACED), triton.cdiv(blocks, NAMED))
    width = triton.next_power_of_2(experts)
    routing.place_kernel[(programs,)](
        chosen, ranks, totals, order, owners, limits, pairs, blocks, experts, width, block, PLACED, NAMED, num_warps=4
    )
    return Order(order, owners, limits, totals)


def quantise_places(x: Tensor, order: Order, block: int) -> Quantised:
    """Every place's values in FP8, with a scale each."""
    out, scales = room(x, x.shape[1], True)
    width, rest = norms.parts(x.shape[1])
    lines = max(1, min(QUANTISED // triton.next_power_of_2(width + rest), block))
    norms.quantise_places_kernel[(len(x) // lines,)](
        x, out, scales, order.owners, x.shape[1], width, rest, block, lines, num_warps=1
    )
    return Quantised(out, scales)


def packed_gate_up(x: Tensor, order: Order, k: int, weight: Linear, t: ExpertTiles) -> Tensor:
    """`Products.gate_up` over weights of 12 bits."""
    inner = weight.outputs // 2
    out = torch.empty((len(order.pairs), inner), dtype=x.dtype, device=x.device)
    packed_gate_up_kernel[(len(order.owners) * triton.cdiv(inner, t.gated),)](
        x,
        weight.weight,
        weight.high,
        weight.scale,
        order.pairs,
        order.owners,
        order.limits,
        out,
        hidden=weight.inputs,
        inner=inner,
        k=k,
        block=t.block,
        gated=t.gated,
        depth=min(t.depth, span_of(weight.inputs)),
        span=span_of(weight.inputs),
        group=t.group,
        num_warps=t.warps,
        num_stages=t.stages,
    )
    return out


def packed_down(x: Tensor, order: Order, shares: Tensor, weight: Linear, t: ExpertTiles) -> Tensor:
    """`Products.down` over weights of 12 bits."""
    out = torch.empty((shares.numel(), weight.outputs), dtype=x.dtype, device=x.device)
    packed_down_kernel[(len(order.owners) * triton.cdiv(weight.outputs // 2, t.wide),)](
        x,
        weight.weight,
        weight.high,
        weight.scale,
        order.pairs,
        order.owners,
        order.limits,
        shares,
        out,
        hidden=weight.outputs,
        inner=weight.inputs,
        block=t.block,
        wide=t.wide,
        depth=min(t.down_depth, span_of(weight.inputs)),
        span=span_of(weight.inputs),
        num_warps=t.down_warps,
        num_stages=t.down_stages,
    )
    return out


@dataclass(slots=True, eq=False)
class Products:
    """Both products. `descriptors` tell the card's copy engine where weights are; each is made once."""

    descriptors: dict[tuple[int, ...], Any] = field(default_factory=dict)

    def gate_up(self, x: Any, order: Order, k: int, weight: Linear, t: ExpertTiles) -> Tensor:
        """gelu(gate) * up of every place of the order, (places, inner). Weights of 12 bits: see packed.py for what x is."""
        if weight.high is not None:
            return packed_gate_up(x, order, k, weight, t)
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
            order.limits,
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
        if weight.high is not None:
            return packed_down(x, order, shares, weight, t)
        if t.stationary and isinstance(x, Quantised) and stays(weight, t.block, x.values.device):
            stack = self._once((weight.weight.data_ptr(),), lambda: stack_of(weight.weight))
            return stationary_down(x, order, shares, weight, stack, t.block)
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
            order.limits,
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
        """Experts' weights as (*shape, inputs), loaded in blocks."""
        return self._once((stack.data_ptr(), *block), lambda: described(stack.view(*shape, stack.shape[-1]), block))

    def _once(self, key: tuple[int, ...], make: Callable[[], Any]) -> Any:
        """What tells the copy engine of a place in memory and a block, made when it is first asked for."""
        if key not in self.descriptors:
            self.descriptors[key] = make()
        return self.descriptors[key]
