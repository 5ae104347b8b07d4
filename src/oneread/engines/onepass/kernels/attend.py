"""Attention over the visits of sight.py. Keys and values of a pass lie side by side, or where the store keeps them.

Side by side, a block of them is one load of the card's copy engine: `fetch_kernel` brings cached ones there, heads.py new ones.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl

from .norms import FP8_MAX

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit(do_not_specialize=["offset", "scratch"])
def fetch_kernel(keys, values, rows, near_keys, near_values, offset, scratch, size: tl.constexpr, width: tl.constexpr):
    """One key and its value, all heads of it, from the store."""
    number = tl.program_id(0).to(tl.int64)
    source = tl.load(rows + number).to(tl.int64)
    source += tl.where(source >= scratch, offset, 0)
    at = tl.arange(0, width)
    inside = at < size
    tl.store(near_keys + number * size + at, tl.load(keys + source * size + at, mask=inside), mask=inside)
    tl.store(near_values + number * size + at, tl.load(values + source * size + at, mask=inside), mask=inside)


@triton.jit(do_not_specialize=["rows", "blocks", "offset", "scratch"])
def attend_kernel(
    query,
    keys,
    values,
    counts,
    sources,
    views,
    rows,
    blocks,
    offset,
    scratch,
    out,
    scales,
    heads: tl.constexpr,
    kv_heads: tl.constexpr,
    size: tl.constexpr,
    block: tl.constexpr,
    key_block: tl.constexpr,
    beside: tl.constexpr,
    quantised: tl.constexpr,
):
    """One program a block of rows and a key head, with all query heads that share it: softmax(q k^T) v in one sweep.

    `beside`: `keys` and `values` describe (keys, kv_heads * size) in blocks of `key_block` by `size`, and a visit's sources
    follow one another; else they are the store's.

    `quantised`: out is FP8, and all rows have the scale sqrt(size) / 448, which goes to `scales`. It holds any output, so none
    is measured: values are normed without a weight, which leaves no component beyond sqrt(size), and an output averages values.
    Rounded to bf16, values and weights may exceed that by 2 ** -9 each; up to 464 / 448 of it still rounds to 448, and the
    conversion saturates. Three bits of mantissa are kept down to 2 ** -6 of the scale (5.6e-4 at size 256, 7.9e-4 at 512) and
    steps of 2 ** -9 of it below, while components of a value are about 1, and of an average of 1,000 unlike ones about .03.
    """
    number, kv_head = tl.program_id(0), tl.program_id(1)
    group: tl.constexpr = heads // kv_heads
    line = tl.arange(0, block * group)
    row = number * block + line // group
    head = kv_head * group + line % group
    real = row < rows
    at = tl.arange(0, size)
    column = tl.arange(0, key_block)
    place = (row.to(tl.int64) * heads + head)[:, None] * size + at[None, :]
    q = tl.load(query + place, mask=real[:, None], other=0.0)
    # Far above what an unseen key scores: rows that have seen nothing yet give each key 2 ** (-1e30 + 1e20), which is zero.
    top = tl.full((block * group,), -1e20, tl.float32)
    total = tl.zeros((block * group,), tl.float32)
    acc = tl.zeros((block * group, size), tl.float32)
    source_at = sources + number.to(tl.int64) * blocks * key_block
    view_at = views + number.to(tl.int64) * blocks * block + line // group
    count = tl.load(counts + number)
    start = tl.load(source_at, mask=count > 0, other=0)
    for visit in range(count):
        if beside:
            k = keys.load([start, kv_head * size])
        else:
            source = tl.load(source_at + visit * key_block + column).to(tl.int64)
            source += tl.where(source >= scratch, offset, 0)
            source = (source * kv_heads + kv_head)[:, None] * size + at[None, :]
            k = tl.load(keys + source)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee")
        view = tl.load(view_at + visit * block)
        allowed = ((view[:, None] >> column[None, :].to(view.dtype)) & 1) != 0
        scores = tl.where(allowed, scores, -1e30)
        higher = tl.maximum(top, tl.max(scores, 1))
        p = tl.exp2(scores * LOG2_E - (higher * LOG2_E)[:, None])
        fade = tl.exp2((top - higher) * LOG2_E)
        total = total * fade + tl.sum(p, 1)
        if beside:
            v = values.load([start, kv_head * size])
            # Asked for a visit ahead, so that no load waits for it.
            start = tl.load(source_at + tl.minimum(visit + 1, count - 1) * key_block)
        else:
            v = tl.load(values + source)
        acc = tl.dot(p.to(v.dtype), v, acc * fade[:, None], input_precision="ieee")
        top = higher
    total = tl.maximum(total, 1e-30)
    if quantised:
        scale: tl.constexpr = size**0.5 / FP8_MAX
        total *= scale
        tl.store(scales + row, scale, mask=real & (head == 0))
    acc = acc / total[:, None]
    tl.store(out + place, acc.to(out.dtype.element_ty), mask=real[:, None])
