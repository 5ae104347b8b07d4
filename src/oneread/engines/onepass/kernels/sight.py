"""Attention under the packed rule: which blocks of keys each block of rows must visit, and the visit itself.

See packing.py for the rule. Keys and values stay where the store keeps them; a key's row number leads there.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl


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
    key_nodes,
    key_positions,
    sees,
    nodes,
    rows,
    keys,
    table,
    counts,
    block: tl.constexpr,
    key_block: tl.constexpr,
    sliding: tl.constexpr,
):
    """For one block of rows, the blocks of keys that any of them sees, in order; and how many those are."""
    number = tl.program_id(0)
    row = number * block + tl.arange(0, block)
    real = row < rows
    node = tl.load(nodes_of + row, mask=real, other=0)
    low = tl.load(lows + row, mask=real, other=0)
    high = tl.load(highs + row, mask=real, other=-1)
    blocks = (keys + key_block - 1) // key_block
    found = 0
    for index in range(blocks):
        key = index * key_block + tl.arange(0, key_block)
        known = key < keys
        key_node = tl.load(key_nodes + key, mask=known, other=0)
        key_position = tl.load(key_positions + key, mask=known, other=2**30 + 1)
        any_seen = tl.sum(tl.sum(seen(node, low, high, key_node, key_position, sees, nodes, sliding).to(tl.int32), 1), 0)
        tl.store(table + number * blocks + found, index)
        found += tl.where(any_seen > 0, 1, 0)
    tl.store(counts + number, found)


@triton.jit(do_not_specialize=["nodes", "rows", "keys", "offset", "scratch"])
def attend_kernel(
    query,
    store_keys,
    store_values,
    key_rows,
    nodes_of,
    lows,
    highs,
    key_nodes,
    key_positions,
    sees,
    nodes,
    rows,
    keys,
    table,
    counts,
    offset,
    scratch,
    out,
    heads: tl.constexpr,
    kv_heads: tl.constexpr,
    size: tl.constexpr,
    block: tl.constexpr,
    key_block: tl.constexpr,
    sliding: tl.constexpr,
):
    """One program a block of rows and a key head, with all query heads that share it: softmax(q k^T) v in one sweep."""
    number, kv_head = tl.program_id(0), tl.program_id(1)
    group: tl.constexpr = heads // kv_heads
    line = tl.arange(0, block * group)
    row = number * block + line // group
    head = kv_head * group + line % group
    real = row < rows
    node = tl.load(nodes_of + row, mask=real, other=0)
    low = tl.load(lows + row, mask=real, other=0)
    high = tl.load(highs + row, mask=real, other=-1)
    at = tl.arange(0, size)
    place = (row.to(tl.int64) * heads + head)[:, None] * size + at[None, :]
    q = tl.load(query + place, mask=real[:, None], other=0.0)
    top = tl.full((block * group,), -1e30, tl.float32)
    total = tl.zeros((block * group,), tl.float32)
    acc = tl.zeros((block * group, size), tl.float32)
    blocks = (keys + key_block - 1) // key_block
    for visit in range(tl.load(counts + number)):
        key = tl.load(table + number * blocks + visit) * key_block + tl.arange(0, key_block)
        known = key < keys
        key_node = tl.load(key_nodes + key, mask=known, other=0)
        key_position = tl.load(key_positions + key, mask=known, other=2**30 + 1)
        source = tl.load(key_rows + key, mask=known, other=0).to(tl.int64)
        source += tl.where(source >= scratch, offset, 0)
        source = (source * kv_heads + kv_head)[:, None] * size + at[None, :]
        scores = tl.dot(q, tl.trans(tl.load(store_keys + source)), input_precision="ieee")
        allowed = seen(node, low, high, key_node, key_position, sees, nodes, sliding)
        scores = tl.where(allowed, scores, -1e30)
        higher = tl.maximum(top, tl.max(scores, 1))
        # Rows that have seen nothing yet stay at zero: exp(-1e30 - -1e30) would be one.
        p = tl.where(allowed, tl.exp(scores - higher[:, None]), 0.0)
        fade = tl.exp(top - higher)
        total = total * fade + tl.sum(p, 1)
        v = tl.load(store_values + source)
        acc = acc * fade[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        top = higher
    acc = acc / tl.maximum(total, 1e-30)[:, None]
    tl.store(out + place, acc.to(out.dtype.element_ty), mask=real[:, None])
