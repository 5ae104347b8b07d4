"""The experts' first product: each block of pairs times its expert's gate and up, streamed once, and gated.

Both are multiplied side by side and gated before anything is written, in sorted order. bf16 (or float32) weights, or FP8
weights with one scale an output; FP8 rows carry a scale each.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl

from .grouped import bounds, columns, product, spot
from .norms import gelu


@triton.jit
def apart(
    x_at,
    stack,
    expert,
    first,
    there,
    hidden: tl.constexpr,
    inner: tl.constexpr,
    block: tl.constexpr,
    gated: tl.constexpr,
    depth: tl.constexpr,
    fp8: tl.constexpr,
    swap: tl.constexpr,
    tma: tl.constexpr,
):
    """Rows times gate and rows times up, (block, gated) each, as two products."""
    deep = tl.arange(0, depth)
    if not tma:
        gate_at = stack + there[:, None] * hidden + deep[None, :]
        up_at = gate_at + inner * hidden
    gate = tl.zeros((gated, block) if swap else (block, gated), tl.float32)
    up = tl.zeros((gated, block) if swap else (block, gated), tl.float32)
    for step in range(0, hidden, depth):
        if hidden % depth == 0:
            rows = tl.load(x_at + step)
        else:
            inside = (step + deep < hidden)[None, :]
            rows = tl.load(x_at + step, mask=inside, other=0.0)
        if tma:
            gate_part = tl.reshape(stack.load([expert, 0, first, step]), (gated, depth))
            up_part = tl.reshape(stack.load([expert, 1, first, step]), (gated, depth))
        elif hidden % depth == 0:
            gate_part, up_part = tl.load(gate_at + step), tl.load(up_at + step)
        else:
            gate_part = tl.load(gate_at + step, mask=inside, other=0.0)
            up_part = tl.load(up_at + step, mask=inside, other=0.0)
        gate = product(rows, gate_part, gate, fp8, swap)
        up = product(rows, up_part, up, fp8, swap)
    if swap:
        gate, up = tl.trans(gate), tl.trans(up)
    return gate, up


@triton.jit
def merged(
    x_at,
    more_at,
    stack,
    expert,
    first,
    hidden: tl.constexpr,
    inner: tl.constexpr,
    block: tl.constexpr,
    more: tl.constexpr,
    gated: tl.constexpr,
    depth: tl.constexpr,
    fp8: tl.constexpr,
    swap: tl.constexpr,
    tma: tl.constexpr,
):
    """`apart` as one product of twice the width: the matrix unit reads the rows from shared memory once.

    And the same of `more` further rows, (more, gated) each, over the same loads of weights, which are the left side there: they
    are few. Without any, what stands for them is not to be used.
    """
    deep, line = tl.arange(0, depth), tl.arange(0, 2 * gated)
    if not tma:
        column = tl.minimum(first + line % gated, inner - 1) + line // gated * inner
        w_at = stack + column[:, None] * hidden + deep[None, :]
    both = tl.zeros((2 * gated, block) if swap else (block, 2 * gated), tl.float32)
    further = tl.zeros((2 * gated, more), tl.float32) if more else both
    for step in range(0, hidden, depth):
        if hidden % depth == 0:
            rows = tl.load(x_at + step)
        else:
            inside = (step + deep < hidden)[None, :]
            rows = tl.load(x_at + step, mask=inside, other=0.0)
        if tma:
            w = tl.reshape(stack.load([expert, 0, first, step]), (2 * gated, depth))
        elif hidden % depth == 0:
            w = tl.load(w_at + step)
        else:
            w = tl.load(w_at + step, mask=inside, other=0.0)
        both = product(rows, w, both, fp8, swap)
        if more:
            few = tl.load(more_at + step) if hidden % depth == 0 else tl.load(more_at + step, mask=inside, other=0.0)
            further = product(few, w, further, fp8, True)
    if swap:
        both = tl.trans(both)
    gate, up = tl.split(tl.permute(tl.reshape(both, (block, 2, gated)), (0, 2, 1)))
    more_gate, more_up = gate, up
    if more:
        more_gate, more_up = tl.split(tl.permute(tl.reshape(tl.trans(further), (more, 2, gated)), (0, 2, 1)))
    return gate, up, more_gate, more_up


@triton.jit
def scales_of(weight_scales, expert, first, inner: tl.constexpr, gated: tl.constexpr):
    """The scales of an expert's FP8 weights for gate and for up, (gated,) each."""
    at = weight_scales + expert * 2 * inner + columns(first, gated, inner)
    return tl.load(at), tl.load(at + inner)


@triton.jit
def put_gated(
    gate,
    up,
    own,
    gate_scale,
    up_scale,
    out,
    place,
    first,
    inner: tl.constexpr,
    gated: tl.constexpr,
    scaled: tl.constexpr,
    fp8: tl.constexpr,
):
    """Write gelu(gate) * up of some places, in `gated` columns from `first` on.

    `own`: the scales of FP8 rows; `gate_scale`, `up_scale`: those of FP8 weights.
    """
    column = first + tl.arange(0, gated)
    if scaled:
        gate *= gate_scale[None, :]
        up *= up_scale[None, :]
    if fp8:
        gate *= own[:, None]
        up *= own[:, None]
    value = (gelu(gate) * up).to(out.dtype.element_ty)
    target = out + place.to(tl.int64)[:, None] * inner + column[None, :]
    if inner % gated == 0:
        tl.store(target, value)
    else:
        tl.store(target, value, mask=(column < inner)[None, :])


@triton.jit
def gate_up_part(
    x,
    x_scales,
    weight,
    weight_scales,
    order,
    out,
    start,
    end,
    expert,
    first,
    hidden: tl.constexpr,
    inner: tl.constexpr,
    k: tl.constexpr,
    block: tl.constexpr,
    more: tl.constexpr,
    gated: tl.constexpr,
    depth: tl.constexpr,
    scaled: tl.constexpr,
    fp8: tl.constexpr,
    swap: tl.constexpr,
    tma: tl.constexpr,
    merge: tl.constexpr,
):
    """`gate_up_kernel` for `block` (and `more`) places from `start` on and `gated` columns from `first` on.

    Scales are on their way while the products are computed.
    """
    place = start + tl.arange(0, block)
    # Places behind an expert's last pair compute row 0: what they write is there to be read, and nobody uses it.
    row = tl.load(order + place, mask=place < end, other=0).to(tl.int64) // k
    # Where rows are not FP8, weights are widened for the products, which leaves no registers for their scales.
    gate_scale, up_scale = scales_of(weight_scales, expert, first, inner, gated) if scaled and fp8 else (1.0, 1.0)
    own = tl.load(x_scales + row) if fp8 else 1.0
    deep = tl.arange(0, depth)
    x_at = x + row[:, None] * hidden + deep[None, :]
    stack = weight
    if not tma:
        stack += expert.to(tl.int64) * 2 * inner * hidden
    if merge:
        more_at = x_at
        if more:
            more_place = start + block + tl.arange(0, more)
            more_row = tl.load(order + more_place, mask=more_place < end, other=0).to(tl.int64) // k
            more_at = x + more_row[:, None] * hidden + deep[None, :]
            more_own = tl.load(x_scales + more_row) if fp8 else 1.0
        gate, up, more_gate, more_up = merged(
            x_at, more_at, stack, expert, first, hidden, inner, block, more, gated, depth, fp8, swap, tma
        )
    else:
        there = columns(first, gated, inner)
        gate, up = apart(x_at, stack, expert, first, there, hidden, inner, block, gated, depth, fp8, swap, tma)
    if scaled and not fp8:
        gate_scale, up_scale = scales_of(weight_scales, expert, first, inner, gated)
    if merge and more:
        put_gated(more_gate, more_up, more_own, gate_scale, up_scale, out, more_place, first, inner, gated, scaled, fp8)
    put_gated(gate, up, own, gate_scale, up_scale, out, place, first, inner, gated, scaled, fp8)


@triton.jit
def gate_up_columns(
    x,
    x_scales,
    weight,
    weight_scales,
    order,
    out,
    start,
    end,
    expert,
    first,
    hidden: tl.constexpr,
    inner: tl.constexpr,
    k: tl.constexpr,
    block: tl.constexpr,
    gated: tl.constexpr,
    depth: tl.constexpr,
    scaled: tl.constexpr,
    fp8: tl.constexpr,
    swap: tl.constexpr,
    halve: tl.constexpr,
    join: tl.constexpr,
    tma: tl.constexpr,
    merge: tl.constexpr,
):
    """`gate_up_part` of the size that this block of pairs needs."""
    half: tl.constexpr = block // 2 if halve else block
    left = end - start
    # fmt: off
    if join > 0 and (left > block) & (left <= block + join):
        gate_up_part(x, x_scales, weight, weight_scales, order, out, start, end, expert, first,
                     hidden, inner, k, block, join, gated, depth, scaled, fp8, swap, tma, merge)
    elif not halve or left > half:
        gate_up_part(x, x_scales, weight, weight_scales, order, out, start, end, expert, first,
                     hidden, inner, k, block, 0, gated, depth, scaled, fp8, swap, tma, merge)
    else:
        gate_up_part(x, x_scales, weight, weight_scales, order, out, start, end, expert, first,
                     hidden, inner, k, half, 0, gated, depth, scaled, fp8, swap, tma, merge)
    # fmt: on


@triton.jit
def gate_up_kernel(
    x,
    x_scales,
    weight,
    weight_tail,
    weight_scales,
    order,
    owners,
    limits,
    out,
    hidden: tl.constexpr,
    inner: tl.constexpr,
    k: tl.constexpr,
    block: tl.constexpr,
    gated: tl.constexpr,
    tail: tl.constexpr,
    depth: tl.constexpr,
    scaled: tl.constexpr,
    fp8: tl.constexpr,
    swap: tl.constexpr,
    halve: tl.constexpr,
    join: tl.constexpr,
    group: tl.constexpr,
    tma: tl.constexpr,
    merge: tl.constexpr,
):
    """out[i] = gelu(x[row] gate^T) * (x[row] up^T) for the pair at place i of the order.

    `scaled`: FP8 weights; `fp8`: FP8 rows too. `tail`: the width of the last program of a block of pairs, where `gated` does
    not divide `inner`. `halve`: a block that is at most half full is multiplied as half a block; the rest stays unwritten.
    `join`: so few pairs of an expert's last block are multiplied beside the block before (with `merge` only).
    `tma`: `weight` and `weight_tail` describe (experts, 2, inner, hidden) in blocks of `gated` or `tail` by `depth`, of gate and
    up at once if `merge`, which multiplies both as one matrix.
    """
    tiles: tl.constexpr = (inner + gated - 1) // gated
    number, tile = spot(tiles, group)
    start, first = number * block, tile * gated
    expert, end, before = bounds(owners, limits, number, join)
    if (expert < 0) | (end <= start):
        return
    if join > 0 and (end - start <= join) & (before == expert):
        return
    # fmt: off
    if tail == gated or tile < tiles - 1:
        gate_up_columns(x, x_scales, weight, weight_scales, order, out, start, end, expert, first,
                        hidden, inner, k, block, gated, depth, scaled, fp8, swap, halve, join, tma, merge)
    else:
        gate_up_columns(x, x_scales, weight_tail, weight_scales, order, out, start, end, expert, first,
                        hidden, inner, k, block, tail, depth, scaled, fp8, swap, halve, join, tma, merge)
    # fmt: on
