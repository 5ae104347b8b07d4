"""The experts' second product of many FP8 rows: a tile of an expert's weights stays in shared memory while its rows pass by.

A program loads 256 outputs' weights of one expert once, whole, and multiplies every block of that expert's pairs with them. What
streams is rows alone, a third of what tiles of rows and weights would load: with FP8 products it is loads from the second cache
that bound those, not the matrix unit.

Written in Gluon, Triton's lower level, as warps have parts here. One loads (`fetch`). Two groups of four multiply (`multiply`),
each half of the blocks of pairs, in turn: while one has the matrix unit, the other writes what it has computed. Loads end at
barriers in shared memory. A ring of places for rows passes from the loading warp (`full`) to the group whose turn it is and back
(`free`); a part of the weights is free as soon as the place beside which it was last used is, since the ring has at most as many
places as weights have parts.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma, warpgroup_mma, warpgroup_mma_wait

from .hopper import DEPTH, PART, WIDE

_PART, _WIDE, _DEPTH = gl.constexpr(PART), gl.constexpr(WIDE), gl.constexpr(DEPTH)


@gluon.jit
def tile_of(unit, used):
    """Units of work go through all blocks of pairs for one tile of outputs, then for the next."""
    return unit // used, unit % used


@gluon.jit
def fetch(
    rows,
    stack,
    owners,
    limits,
    rows_at,
    stack_at,
    full,
    free,
    loaded,
    begin,
    end,
    used,
    hidden: gl.constexpr,
    block: gl.constexpr,
    parts: gl.constexpr,
    slots: gl.constexpr,
):
    """Load rows into the ring, and beside the first ones of an expert its weights, part by part."""
    taken, expert, tile = 0, -1, -1
    for unit in range(begin, end):
        own_tile, number = tile_of(unit, used)
        owner, limit = gl.load(owners + number), gl.load(limits + number)
        fresh = (owner != expert) | (own_tile != tile)
        expert, tile = owner, own_tile
        for start in range(number * block, gl.minimum(limit, (number + 1) * block), _PART):
            for part in gl.static_range(parts):
                slot = taken % slots
                mbarrier.wait(free.index(slot), ((taken // slots) & 1) ^ 1)
                if fresh:
                    first = (owner * hidden + tile * _WIDE) // 32
                    mbarrier.expect(loaded.index(part), _WIDE * _DEPTH)
                    tma.async_copy_global_to_shared(
                        stack, [first, 0, 0, 0, part * _DEPTH], loaded.index(part), stack_at.index(part)
                    )
                mbarrier.expect(full.index(slot), _PART * _DEPTH)
                tma.async_copy_global_to_shared(rows, [start, part * _DEPTH], full.index(slot), rows_at.index(slot))
                taken += 1
            # Other rows of the block have the same weights. Anded, as it is to stay a number of the device.
            fresh = fresh & False


@gluon.jit
def multiply(
    group: gl.constexpr,
    scales,
    stack_scales,
    order,
    owners,
    limits,
    shares,
    out,
    rows_at,
    stack_at,
    full,
    free,
    loaded,
    turns,
    begin,
    end,
    used,
    hidden: gl.constexpr,
    block: gl.constexpr,
    parts: gl.constexpr,
    slots: gl.constexpr,
):
    """Multiply one half of each block, where it has pairs, and write the outputs where the pairs belong."""
    sums: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, _WIDE, 32])
    # Each thread has eight outputs side by side: see `hopper.stack_of`.
    lines: gl.constexpr = gl.DistributedLinearLayout(
        [[0, 1], [0, 2], [0, 4], [8, 0], [0, 32], [0, 64], [0, 128]],
        [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]],
        [[16, 0], [32, 0]],
        [],
        [_PART, _WIDE],
    )
    line = gl.arange(0, _PART, gl.SliceLayout(1, lines))
    at = gl.arange(0, _WIDE, gl.SliceLayout(0, lines))
    taken, matrices, expert, tile = 0, 0, -1, -1
    # What a unit begins with is asked for while the one before it is multiplied.
    number = begin % used
    owner, limit = gl.load(owners + number), gl.load(limits + number)
    pair = gl.load(order + number * block + group * _PART + line)
    for unit in range(begin, end):
        own_tile, number = tile_of(unit, used)
        matrices += ((owner != expert) | (own_tile != tile)).to(gl.int32)
        expert, tile, until, target = owner, own_tile, limit, pair
        start = number * block + group * _PART
        first = taken + group * parts
        taken += gl.where(number * block + _PART < until, 2 * parts, parts)
        real = start + line < until
        share = gl.load(shares + target, mask=real, other=0.0)
        own = gl.load(scales + start + line)
        column = tile * _WIDE + at
        scale = gl.load(stack_scales + expert * hidden + column)
        following = (unit + 1) % used
        owner, limit = gl.load(owners + following), gl.load(limits + following)
        pair = gl.load(order + following * block + group * _PART + line)
        # Before any other wait: whose turn it is knows that all rows and weights before its own have come.
        mbarrier.wait(turns.index(group), ((unit - begin) & 1) ^ (1 - group))
        if start < until:
            acc = gl.zeros((_PART, _WIDE), gl.float32, sums)
            for part in gl.static_range(parts):
                slot = (first + part) % slots
                mbarrier.wait(loaded.index(part), (matrices & 1) ^ 1)
                mbarrier.wait(full.index(slot), ((first + part) // slots) & 1)
                weights = stack_at.index(part).reshape((_WIDE, _DEPTH)).permute((1, 0))
                acc = warpgroup_mma(rows_at.index(slot), weights, acc, use_acc=part > 0, is_async=True)
                if part > 0:
                    acc = warpgroup_mma_wait(1, deps=(acc,))
                    mbarrier.arrive(free.index((first + part - 1) % slots))
            mbarrier.arrive(turns.index(1 - group))
            acc = warpgroup_mma_wait(0, deps=(acc,))
            mbarrier.arrive(free.index((first + parts - 1) % slots))
            value = gl.permute(gl.reshape(acc, (_PART, _WIDE // 32, 4, 4, 2)), (0, 1, 3, 2, 4))
            value = gl.convert_layout(gl.reshape(value, (_PART, _WIDE)), lines)
            value = value * scale[None, :] * (share * own)[:, None]
            place = out + target.to(gl.int64)[:, None] * hidden + column[None, :]
            gl.store(place, value.to(out.dtype.element_ty), mask=real[:, None])
        else:
            mbarrier.arrive(turns.index(1 - group))


@gluon.jit(do_not_specialize=["blocks"])
def stationary_kernel(
    rows,
    scales,
    stack,
    stack_scales,
    order,
    owners,
    limits,
    totals,
    shares,
    out,
    blocks,
    hidden: gl.constexpr,
    inner: gl.constexpr,
    experts: gl.constexpr,
    width: gl.constexpr,
    block: gl.constexpr,
    slots: gl.constexpr,
    num_warps: gl.constexpr,
):
    """out[pair] = share[pair] * (rows[i] down^T) for the pair at place i of the order, in blocks of two `PART`s.

    Rows and weights are float8_e4m3fn, their scales, shares float32; out is bfloat16 (pairs, hidden). `order`, `owners`, `limits`
    and `totals` (experts,) are int32, as in routing.py, of at most `blocks` blocks; `width`: `experts` as a power of two.
    `slots`: places of the ring.

    `rows` describes (places, inner) in blocks of `PART` by `DEPTH`, `stack` (experts * hidden, inner) in blocks of `WIDE` by
    `DEPTH`, as `hopper.stack_of` has it.
    """
    parts: gl.constexpr = inner // _DEPTH
    # A place is freed one part after it was multiplied: with fewer than two, the one that loads would wait for ever.
    gl.static_assert((slots <= parts) & (slots >= min(2, parts)))
    at = gl.arange(0, width, gl.BlockedLayout([1], [32], [4], [0]))
    total = gl.load(totals + at, mask=at < experts, other=0)
    used = gl.minimum(gl.sum((total + block - 1) // block, 0), blocks)
    units = used * (hidden // _WIDE)
    used = gl.maximum(used, 1)
    program, programs = gl.program_id(0).to(gl.int64), gl.num_programs(0)
    begin = (units * program // programs).to(gl.int32)
    end = (units * (program + 1) // programs).to(gl.int32)
    rows_at = gl.allocate_shared_memory(rows.dtype, [slots, _PART, _DEPTH], rows.layout)
    stack_at = gl.allocate_shared_memory(stack.dtype, [parts, _WIDE // 32, 4, 4, 2, _DEPTH], stack.layout)
    full = gl.allocate_shared_memory(gl.int64, [slots, 1], mbarrier.MBarrierLayout())
    free = gl.allocate_shared_memory(gl.int64, [slots, 1], mbarrier.MBarrierLayout())
    loaded = gl.allocate_shared_memory(gl.int64, [parts, 1], mbarrier.MBarrierLayout())
    turns = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for slot in gl.static_range(slots):
        mbarrier.init(full.index(slot), count=1)
        mbarrier.init(free.index(slot), count=1)
    for part in gl.static_range(parts):
        mbarrier.init(loaded.index(part), count=1)
    for group in gl.static_range(2):
        mbarrier.init(turns.index(group), count=1)
    # fmt: off
    gl.warp_specialize([
        (multiply, (0, scales, stack_scales, order, owners, limits, shares, out, rows_at, stack_at, full, free, loaded, turns,
                    begin, end, used, hidden, block, parts, slots)),
        (multiply, (1, scales, stack_scales, order, owners, limits, shares, out, rows_at, stack_at, full, free, loaded, turns,
                    begin, end, used, hidden, block, parts, slots)),
        (fetch, (rows, stack, owners, limits, rows_at, stack_at, full, free, loaded,
                 begin, end, used, hidden, block, parts, slots)),
    ], [4, 1], [240, 24])
    # fmt: on
