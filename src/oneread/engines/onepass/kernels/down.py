"""The experts' second product: each pair's row of gated values, written where the pair belongs, times its share.

Weights and rows in the forms of gate_up.py.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl

from .grouped import product, spot, taken


@triton.jit
def put_down(
    acc,
    x_scales,
    weight_scales,
    order,
    shares,
    out,
    place,
    end,
    expert,
    first,
    hidden: tl.constexpr,
    wide: tl.constexpr,
    scaled: tl.constexpr,
    fp8: tl.constexpr,
):
    """Write some places' outputs times their shares where their pairs belong, in `wide` columns from `first` on."""
    real = place < end
    pair = tl.load(order + place, mask=real, other=0)
    column = first + tl.arange(0, wide)
    if scaled:
        acc *= tl.load(weight_scales + expert * hidden + tl.minimum(column, hidden - 1))[None, :]
    factor = tl.load(shares + pair, mask=real, other=0.0)
    if fp8:
        factor *= tl.load(x_scales + place)
    acc *= factor[:, None]
    target = out + pair.to(tl.int64)[:, None] * hidden + column[None, :]
    tl.store(target, acc.to(out.dtype.element_ty), mask=real[:, None] & (column < hidden)[None, :])


@triton.jit
def down_part(
    x,
    x_more,
    x_scales,
    weight,
    weight_scales,
    order,
    shares,
    out,
    start,
    end,
    expert,
    first,
    hidden: tl.constexpr,
    inner: tl.constexpr,
    block: tl.constexpr,
    more: tl.constexpr,
    wide: tl.constexpr,
    depth: tl.constexpr,
    scaled: tl.constexpr,
    fp8: tl.constexpr,
    swap: tl.constexpr,
    tma: tl.constexpr,
):
    """`down_kernel` for `block` (and `more`) places from `start` on and `wide` columns from `first` on."""
    place = (start + tl.arange(0, block)).to(tl.int64)
    more_place = (start + block + tl.arange(0, more)).to(tl.int64) if more else place
    deep = tl.arange(0, depth)
    if not tma:
        there = tl.minimum(first + tl.arange(0, wide), hidden - 1)
        x_at = x + place[:, None] * inner + deep[None, :]
        more_at = x + more_place[:, None] * inner + deep[None, :]
        w_at = weight + (expert.to(tl.int64) * hidden + there[:, None]) * inner + deep[None, :]
    acc = tl.zeros((wide, block) if swap else (block, wide), tl.float32)
    further = tl.zeros((wide, more), tl.float32) if more else acc
    for step in range(0, inner, depth):
        if tma:
            rows, w = x.load([start, step]), weight.load([expert * hidden + first, step])
        elif inner % depth == 0:
            rows, w = tl.load(x_at + step), tl.load(w_at + step)
        else:
            inside = (step + deep < inner)[None, :]
            rows = tl.load(x_at + step, mask=inside, other=0.0)
            w = tl.load(w_at + step, mask=inside, other=0.0)
        acc = product(rows, w, acc, fp8, swap)
        if more:
            if tma:
                few = x_more.load([start + block, step])
            elif inner % depth == 0:
                few = tl.load(more_at + step)
            else:
                few = tl.load(more_at + step, mask=inside, other=0.0)
            further = product(few, w, further, fp8, True)
    if swap:
        acc = tl.trans(acc)
    put_down(acc, x_scales, weight_scales, order, shares, out, place, end, expert, first, hidden, wide, scaled, fp8)
    if more:
        further = tl.trans(further)
        put_down(further, x_scales, weight_scales, order, shares, out, more_place, end, expert, first, hidden, wide, scaled, fp8)


@triton.jit
def down_kernel(
    x,
    x_half,
    x_join,
    x_scales,
    weight,
    weight_scales,
    order,
    owners,
    ends,
    shares,
    out,
    hidden: tl.constexpr,
    inner: tl.constexpr,
    block: tl.constexpr,
    wide: tl.constexpr,
    depth: tl.constexpr,
    scaled: tl.constexpr,
    fp8: tl.constexpr,
    swap: tl.constexpr,
    halve: tl.constexpr,
    join: tl.constexpr,
    tma: tl.constexpr,
):
    """out[pair] = share[pair] * (x[i] down^T) for the pair at place i of the order. `halve`, `join`: see `gate_up_kernel`.

    `tma`: `x`, `x_half` and `x_join` describe (places, inner) in blocks of `block`, half of it or `join` by `depth`, `weight`
    (experts * hidden, inner) in blocks of `wide` by `depth`.
    """
    tiles: tl.constexpr = (hidden + wide - 1) // wide
    half: tl.constexpr = block // 2 if halve else block
    number, tile = spot(tiles, 1)
    expert = tl.load(owners + number)
    if expert < 0:
        return
    start, first = number * block, tile * wide
    end = tl.load(ends + expert)
    left = end - start
    if join > 0 and taken(owners, number, expert, left, join):
        return
    # fmt: off
    if join > 0 and (left > block) & (left <= block + join):
        down_part(x, x_join, x_scales, weight, weight_scales, order, shares, out, start, end, expert, first,
                  hidden, inner, block, join, wide, depth, scaled, fp8, swap, tma)
    elif not halve or left > half:
        down_part(x, x, x_scales, weight, weight_scales, order, shares, out, start, end, expert, first,
                  hidden, inner, block, 0, wide, depth, scaled, fp8, swap, tma)
    else:
        down_part(x_half, x_half, x_scales, weight, weight_scales, order, shares, out, start, end, expert, first,
                  hidden, inner, half, 0, wide, depth, scaled, fp8, swap, tma)
    # fmt: on
