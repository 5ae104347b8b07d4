"""What the experts' two matrix products share: gate_up.py and down.py."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl


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
def columns(first, count: tl.constexpr, there: tl.constexpr):
    """`count` columns from `first` on. Those behind the last that is there repeat it, so no load of a weight needs a mask."""
    return tl.minimum(first + tl.arange(0, count), there - 1)


@triton.jit
def bounds(owners, limits, number, join: tl.constexpr):
    """A block's expert and limit, and with `join` the expert of the block before, for loads that do not wait for each other.

    The first branch must ask for expert and limit, or the compiler puts one load off until behind it.
    """
    expert = tl.load(owners + number)
    end = tl.load(limits + number)
    before = tl.load(owners + number - 1, mask=number > 0, other=-1) if join else -1
    return expert, end, before
