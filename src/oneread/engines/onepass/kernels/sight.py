"""Attention under the packed rule: which blocks of keys each block of rows must visit, and the visit itself.

See packing.py for the rule. Keys and values stay where the store keeps them; a key's row number leads there.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def seen(node, low, high, key_node, key_position, sees, nodes, sliding: tl.constexpr):
    """bool (rows, keys): whether each row sees each key."""
    allowed = (key_position[None, :] <= high[:, None]) & (tl.load(sees + node[:, None] * nodes + key_node[None, :]) != 0)
    if sliding:
        allowed = allowed & (key_position[None, :] >= low[:, None])
    return allowed


@triton.jit(do_not_specialize=["nodes", "rows", "keys"])
def visits_kernel(
    nodes_of,
    lows,
    highs,
    key_rows,
    key_nodes,
    key_positions,
    sees,
    nodes,
    rows,
    keys,
    counts,
    sources,
    views,
    block: tl.constexpr,
    key_block: tl.constexpr,
    span: tl.constexpr,
    sliding: tl.constexpr,
):
    """For one block of rows: how many blocks of keys any of them sees, and for each of those, in order, its keys' rows in the
    store and what each row sees of it, a bit a key. All layers of a kind use them, so that none asks again."""
    number = tl.program_id(0)
    row = number * block + tl.arange(0, block)
    real = row < rows
    node = tl.load(nodes_of + row, mask=real, other=0)
    low = tl.load(lows + row, mask=real, other=0)
    high = tl.load(highs + row, mask=real, other=-1)
    blocks = (keys + key_block - 1) // key_block
    column = tl.arange(0, key_block)
    found = 0
    # `span` blocks of keys at a time: one after another, a pass of many keys would wait for as many loads.
    for base in range(0, blocks, span):
        key = base * key_block + tl.arange(0, span * key_block)
        known = key < keys
        key_node = tl.load(key_nodes + key, mask=known, other=0)
        key_position = tl.load(key_positions + key, mask=known, other=2**30 + 1)
        allowed = seen(node, low, high, key_node, key_position, sees, nodes, sliding)
        bits = tl.reshape(allowed.to(tl.int64), (block, span, key_block)) << column[None, None, :].to(tl.int64)
        view = tl.sum(bits, 2)
        visited = tl.max((view != 0).to(tl.int32), 0)
        at = number.to(tl.int64) * blocks + found + tl.cumsum(visited, 0) - visited
        tl.store(views + at[None, :] * block + tl.arange(0, block)[:, None], view, mask=visited[None, :] != 0)
        source = tl.reshape(tl.load(key_rows + key, mask=known, other=0), (span, key_block))
        tl.store(sources + at[:, None] * key_block + column[None, :], source, mask=visited[:, None] != 0)
        found += tl.sum(visited, 0)
    tl.store(counts + number, found)


@triton.jit(do_not_specialize=["rows", "blocks", "offset", "scratch"])
def attend_kernel(
    query,
    store_keys,
    store_values,
    counts,
    sources,
    views,
    rows,
    blocks,
    offset,
    scratch,
    out,
    heads: tl.constexpr,
    kv_heads: tl.constexpr,
    size: tl.constexpr,
    block: tl.constexpr,
    key_block: tl.constexpr,
):
    """One program a block of rows and a key head, with all query heads that share it: softmax(q k^T) v in one sweep."""
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
    top = tl.full((block * group,), -1e30, tl.float32)
    total = tl.zeros((block * group,), tl.float32)
    acc = tl.zeros((block * group, size), tl.float32)
    source_at = sources + number.to(tl.int64) * blocks * key_block + column
    view_at = views + number.to(tl.int64) * blocks * block + line // group
    for visit in range(tl.load(counts + number)):
        source = tl.load(source_at + visit * key_block).to(tl.int64)
        source += tl.where(source >= scratch, offset, 0)
        source = (source * kv_heads + kv_head)[:, None] * size + at[None, :]
        scores = tl.dot(q, tl.trans(tl.load(store_keys + source)), input_precision="ieee")
        view = tl.load(view_at + visit * block)
        allowed = ((view[:, None] >> column[None, :].to(tl.int64)) & 1) != 0
        scores = tl.where(allowed, scores * LOG2_E, -1e30)
        higher = tl.maximum(top, tl.max(scores, 1))
        # Rows that have seen nothing yet stay at zero: 2 ** (-1e30 - -1e30) would be one.
        p = tl.where(allowed, tl.exp2(scores - higher[:, None]), 0.0)
        fade = tl.exp2(top - higher)
        total = total * fade + tl.sum(p, 1)
        v = tl.load(store_values + source)
        acc = tl.dot(p.to(v.dtype), v, acc * fade[:, None], input_precision="ieee")
        top = higher
    acc = acc / tl.maximum(total, 1e-30)[:, None]
    tl.store(out + place, acc.to(out.dtype.element_ty), mask=real[:, None])
