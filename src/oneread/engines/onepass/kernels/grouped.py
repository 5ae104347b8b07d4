"""The experts' matrix products: each block of pairs times its expert's weights, streamed once.

Gate and up are multiplied side by side and gated before anything is written, in sorted order. Down writes each pair's
row where the pair belongs, times its share. bf16 (or float32) weights, or FP8 weights with one scale an output; with FP8
rows the rows of either product carry a scale each.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl

from .norms import gelu


@triton.jit
def product(rows, weight, acc, fp8: tl.constexpr, swap: tl.constexpr):
    """acc + rows weight^T, or with `swap` acc + weight rows^T."""
    if not fp8:
        weight = weight.to(rows.dtype)
    left = weight if swap else rows
    right = rows if swap else weight
    return tl.dot(left, tl.trans(right), acc, input_precision="ieee")


@triton.jit
def spot(tiles: tl.constexpr, group: tl.constexpr):
    """A program's block of pairs and tile of columns. `group` blocks of pairs take a tile one after another."""
    program = tl.program_id(0)
    first = program // (group * tiles) * group
    inside = program % (group * tiles)
    blocks = tl.minimum(tl.num_programs(0) // tiles - first, group)
    return first + inside % blocks, inside // blocks


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
    stack,
    expert,
    first,
    hidden: tl.constexpr,
    inner: tl.constexpr,
    block: tl.constexpr,
    gated: tl.constexpr,
    depth: tl.constexpr,
    fp8: tl.constexpr,
    swap: tl.constexpr,
    tma: tl.constexpr,
):
    """`apart` as one product of twice the width: the matrix unit reads the rows from shared memory once."""
    deep, line = tl.arange(0, depth), tl.arange(0, 2 * gated)
    if not tma:
        column = tl.minimum(first + line % gated, inner - 1) + line // gated * inner
        w_at = stack + column[:, None] * hidden + deep[None, :]
    both = tl.zeros((2 * gated, block) if swap else (block, 2 * gated), tl.float32)
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
    if swap:
        both = tl.trans(both)
    return tl.split(tl.permute(tl.reshape(both, (block, 2, gated)), (0, 2, 1)))


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
    gated: tl.constexpr,
    depth: tl.constexpr,
    scaled: tl.constexpr,
    fp8: tl.constexpr,
    swap: tl.constexpr,
    tma: tl.constexpr,
    merge: tl.constexpr,
):
    """`gate_up_kernel` for places `start` onwards and `gated` columns from `first` on."""
    place = start + tl.arange(0, block)
    # Places behind an expert's last pair compute row 0: what they write is there to be read, and nobody uses it.
    pair = tl.load(order + place, mask=place < end, other=0)
    row = pair.to(tl.int64) // k
    column = first + tl.arange(0, gated)
    known = column < inner
    # Columns that do not exist repeat the last one, so that no load of a weight needs a mask.
    there = tl.minimum(column, inner - 1)
    deep = tl.arange(0, depth)
    x_at = x + row[:, None] * hidden + deep[None, :]
    stack = weight
    if not tma:
        stack += expert.to(tl.int64) * 2 * inner * hidden
    if merge:
        gate, up = merged(x_at, stack, expert, first, hidden, inner, block, gated, depth, fp8, swap, tma)
    else:
        gate, up = apart(x_at, stack, expert, first, there, hidden, inner, block, gated, depth, fp8, swap, tma)
    if scaled:
        scales = weight_scales + expert * 2 * inner + there
        gate *= tl.load(scales)[None, :]
        up *= tl.load(scales + inner)[None, :]
    if fp8:
        own = tl.load(x_scales + row)[:, None]
        gate *= own
        up *= own
    value = (gelu(gate) * up).to(out.dtype.element_ty)
    target = out + place.to(tl.int64)[:, None] * inner + column[None, :]
    if inner % gated == 0:
        tl.store(target, value)
    else:
        tl.store(target, value, mask=known[None, :])


@triton.jit
def gate_up_kernel(
    x,
    x_scales,
    weight,
    weight_tail,
    weight_scales,
    order,
    owners,
    ends,
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
    group: tl.constexpr,
    tma: tl.constexpr,
    merge: tl.constexpr,
):
    """out[i] = gelu(x[row] gate^T) * (x[row] up^T) for the pair at place i of the order.

    `scaled`: FP8 weights; `fp8`: FP8 rows too. `tail`: the width of the last program of a block of pairs, where `gated` does
    not divide `inner`. `halve`: a block that is at most half full is multiplied as half a block; the rest stays unwritten.
    `tma`: `weight` and `weight_tail` describe (experts, 2, inner, hidden) in blocks of `gated` or `tail` by `depth`, of gate and
    up at once if `merge`, which multiplies both as one matrix.
    """
    tiles: tl.constexpr = (inner + gated - 1) // gated
    half: tl.constexpr = block // 2 if halve else block
    number, tile = spot(tiles, group)
    expert = tl.load(owners + number)
    if expert < 0:
        return
    start, first = number * block, tile * gated
    end = tl.load(ends + expert)
    whole = end - start > half
    # fmt: off
    if tail == gated or tile < tiles - 1:
        if not halve or whole:
            gate_up_part(x, x_scales, weight, weight_scales, order, out, start, end, expert, first,
                         hidden, inner, k, block, gated, depth, scaled, fp8, swap, tma, merge)
        else:
            gate_up_part(x, x_scales, weight, weight_scales, order, out, start, end, expert, first,
                         hidden, inner, k, half, gated, depth, scaled, fp8, swap, tma, merge)
    else:
        if not halve or whole:
            gate_up_part(x, x_scales, weight_tail, weight_scales, order, out, start, end, expert, first,
                         hidden, inner, k, block, tail, depth, scaled, fp8, swap, tma, merge)
        else:
            gate_up_part(x, x_scales, weight_tail, weight_scales, order, out, start, end, expert, first,
                         hidden, inner, k, half, tail, depth, scaled, fp8, swap, tma, merge)
    # fmt: on


@triton.jit
def down_part(
    x,
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
    wide: tl.constexpr,
    depth: tl.constexpr,
    scaled: tl.constexpr,
    fp8: tl.constexpr,
    swap: tl.constexpr,
    tma: tl.constexpr,
):
    """`down_kernel` for places `start` onwards and `wide` columns from `first` on."""
    place = (start + tl.arange(0, block)).to(tl.int64)
    real = place < end
    pair = tl.load(order + place, mask=real, other=0)
    column = first + tl.arange(0, wide)
    known = column < hidden
    there = tl.minimum(column, hidden - 1)
    deep = tl.arange(0, depth)
    if not tma:
        x_at = x + place[:, None] * inner + deep[None, :]
        w_at = weight + (expert.to(tl.int64) * hidden + there[:, None]) * inner + deep[None, :]
    acc = tl.zeros((wide, block) if swap else (block, wide), tl.float32)
    for step in range(0, inner, depth):
        if tma:
            rows, w = x.load([start, step]), tl.reshape(weight.load([expert, 0, first, step]), (wide, depth))
        elif inner % depth == 0:
            rows, w = tl.load(x_at + step), tl.load(w_at + step)
        else:
            inside = (step + deep < inner)[None, :]
            rows = tl.load(x_at + step, mask=inside, other=0.0)
            w = tl.load(w_at + step, mask=inside, other=0.0)
        acc = product(rows, w, acc, fp8, swap)
    if swap:
        acc = tl.trans(acc)
    if scaled:
        acc *= tl.load(weight_scales + expert * hidden + there)[None, :]
    factor = tl.load(shares + pair, mask=real, other=0.0)
    if fp8:
        factor *= tl.load(x_scales + place)
    acc *= factor[:, None]
    target = out + pair.to(tl.int64)[:, None] * hidden + column[None, :]
    tl.store(target, acc.to(out.dtype.element_ty), mask=real[:, None] & known[None, :])


@triton.jit
def down_kernel(
    x,
    x_half,
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
    tma: tl.constexpr,
):
    """out[pair] = share[pair] * (x[i] down^T) for the pair at place i of the order. `halve`: see `gate_up_kernel`.

    `tma`: `x` and `x_half` describe (places, inner) in blocks of `block` or half of it by `depth`, `weight` (experts, 1, hidden,
    inner) in blocks of `wide` by `depth`.
    """
    tiles: tl.constexpr = (hidden + wide - 1) // wide
    half: tl.constexpr = block // 2 if halve else block
    number, tile = spot(tiles, 1)
    expert = tl.load(owners + number)
    if expert < 0:
        return
    start, first = number * block, tile * wide
    end = tl.load(ends + expert)
    # fmt: off
    if not halve or end - start > half:
        down_part(x, x_scales, weight, weight_scales, order, shares, out, start, end, expert, first,
                  hidden, inner, block, wide, depth, scaled, fp8, swap, tma)
    else:
        down_part(x_half, x_scales, weight, weight_scales, order, shares, out, start, end, expert, first,
                  hidden, inner, half, wide, depth, scaled, fp8, swap, tma)
    # fmt: on
