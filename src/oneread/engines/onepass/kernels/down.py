"""The experts' second product: each pair's row of gated values, written where the pair belongs, times its share.

Weights and rows in the forms of gate_up.py.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl

from .grouped import bounds, columns, product, spot


@triton.jit
def put_down(
    acc,
    pair,
    share,
    own,
    scale,
    out,
    real,
    first,
    hidden: tl.constexpr,
    wide: tl.constexpr,
    scaled: tl.constexpr,
    fp8: tl.constexpr,
):
    """Write some places' outputs times their shares where their pairs belong, in `wide` columns from `first` on.

    `own`: the scales of FP8 rows; `scale`: those of FP8 weights.
    """
    column = first + tl.arange(0, wide)
    if scaled:
        acc *= scale[None, :]
    factor = share * own if fp8 else share
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
    """`down_kernel` for `block` (and `more`) places from `start` on and `wide` columns from `first` on.

    What the product is multiplied by is on its way while it is computed.
    """
    place = (start + tl.arange(0, block)).to(tl.int64)
    more_place = (start + block + tl.arange(0, more)).to(tl.int64) if more else place
    real = tl.arange(0, block) < end - start
    more_real = tl.arange(0, more) < end - start - block if more else real
    # Behind an expert's last pair stands anything, and is not used.
    pair = tl.load(order + place)
    more_pair = tl.load(order + more_place) if more else pair
    # Where rows are not FP8, weights are widened for the product, which leaves no registers for their scales.
    scale = tl.load(weight_scales + expert * hidden + columns(first, wide, hidden)) if scaled and fp8 else 1.0
    own = tl.load(x_scales + place) if fp8 else 1.0
    more_own = tl.load(x_scales + more_place) if fp8 and more else own
    share = tl.load(shares + pair, mask=real, other=0.0)
    more_share = tl.load(shares + more_pair, mask=more_real, other=0.0) if more else share
    deep = tl.arange(0, depth)
    if not tma:
        there = columns(first, wide, hidden)
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
    if scaled and not fp8:
        scale = tl.load(weight_scales + expert * hidden + columns(first, wide, hidden))
    if swap:
        acc = tl.trans(acc)
    put_down(acc, pair, share, own, scale, out, real, first, hidden, wide, scaled, fp8)
    if more:
        further = tl.trans(further)
        put_down(further, more_pair, more_share, more_own, scale, out, more_real, first, hidden, wide, scaled, fp8)


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
    limits,
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
    start, first = number * block, tile * wide
    expert, end, before = bounds(owners, limits, number, join)
    left = end - start
    if (expert < 0) | (left <= 0):
        return
    if join > 0 and (left <= join) & (before == expert):
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
