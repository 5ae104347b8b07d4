"""Which blocks of keys each block of rows must visit, by the packed rule (packing.py), and what it sees there."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def seen(node, sees, nodes, key_node, near):
    """bool (keys,): whether a node sees each key, where that is near."""
    return tl.load(sees + node * nodes + key_node, mask=near, other=0) != 0


@triton.jit
def as_bits(hit, key_block: tl.constexpr):
    """bool (keys,) as uint32 (blocks,), or uint64 where a block has more than 32 keys: a bit a key."""
    word: tl.constexpr = tl.uint32 if key_block <= 32 else tl.uint64
    bit = tl.reshape(hit, (hit.shape[0] // key_block, key_block)).to(word) << tl.arange(0, key_block)[None, :].to(word)
    return tl.sum(bit, 1)


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
    together: tl.constexpr,
    span: tl.constexpr,
    sliding: tl.constexpr,
):
    """For `together` blocks of rows: how many blocks of keys any row of each sees, and for each of those, in order, its keys'
    `key_rows` and what each row sees of it, a bit a key. All layers of a kind use them, so that none asks again.

    Neighbouring rows are of few nodes, and those see few of a pass's keys. So `span` blocks of keys at a time, every node is
    asked once for all its rows what it sees; only where that is anything, every row is asked how far it looks.
    """
    word: tl.constexpr = tl.uint32 if key_block <= 32 else tl.uint64
    number = tl.program_id(0) * together + tl.arange(0, together)
    row = tl.program_id(0) * together * block + tl.arange(0, together * block)
    at = tl.minimum(row, rows - 1)
    node = tl.load(nodes_of + at)
    low = tl.load(lows + at)
    high = tl.where(row < rows, tl.load(highs + at), -1)
    lowest, highest = tl.min(low, 0), tl.max(high, 0)
    first, last = tl.min(node, 0), tl.max(node, 0)
    second = tl.min(tl.where(node > first, node, last), 0)
    blocks = (keys + key_block - 1) // key_block
    column = tl.arange(0, key_block)
    start = number.to(tl.int64) * blocks
    found = tl.zeros((together,), tl.int32)
    for base in range(0, blocks, span):
        key = base * key_block + tl.arange(0, span * key_block)
        known = key < keys
        key_node = tl.load(key_nodes + key, mask=known, other=0)
        key_position = tl.load(key_positions + key, mask=known, other=2**30 + 1)
        near = key_position <= highest
        if sliding:
            near = near & (key_position >= lowest)
        by_first, by_last = seen(first, sees, nodes, key_node, near), seen(last, sees, nodes, key_node, near)
        by_any = by_first | by_last
        between = second
        while between < last:
            by_any |= seen(between, sees, nodes, key_node, near)
            between = tl.min(tl.where(node > between, node, last), 0)
        if tl.max(by_any.to(tl.int32), 0) != 0:
            view = tl.where((node == last)[None, :], as_bits(by_last, key_block)[:, None], as_bits(by_first, key_block)[:, None])
            between = second
            while between < last:
                by = as_bits(seen(between, sees, nodes, key_node, near), key_block)
                view = tl.where((node == between)[None, :], by[:, None], view)
                between = tl.min(tl.where(node > between, node, last), 0)
            # A block's keys come first, so that one thread has all bits of a view.
            position = tl.trans(tl.reshape(key_position, (span, key_block)))[:, :, None]
            within = position <= high[None, None, :]
            if sliding:
                within = within & (position >= low[None, None, :])
            view &= tl.sum(within.to(word) << column[:, None, None].to(word), 0)
            view = tl.reshape(view, (span, together, block))
            visited = tl.max((view != 0).to(tl.int32), 2)
            visit = (found[None, :] + tl.cumsum(visited, 0) - visited)[:, :, None]
            chosen = visited[:, :, None] != 0
            place = (start * block)[None, :, None] + (visit * block + tl.arange(0, block)[None, None, :])
            tl.store(views + place, view.to(tl.int64), mask=chosen)
            source = tl.reshape(tl.load(key_rows + key, mask=known, other=0), (span, key_block))
            place = (start * key_block)[None, :, None] + (visit * key_block + column[None, None, :])
            tl.store(sources + place, source[:, None, :], mask=chosen)
            found += tl.sum(visited, 0)
    tl.store(counts + number, found, mask=number * block < rows)
