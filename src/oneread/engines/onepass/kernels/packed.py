"""Both products of the experts where weights have 12 bits: read as they lie, widened between shared memory and the matrix unit.

See `..packed` for the form. Numbers as they lie read as tiny bf16 ones, many of them subnormal; rows are multiplied by LIFT
beforehand, so that sums of products stay where float32 has all its bits, and each output's scale brings them back. Weights are
the left side: what is computed can go to the matrix unit from registers on that side only.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl

from .grouped import bounds, columns, spot
from .norms import gelu

LIFT = 2.0**64
"""What rows, and values between the products, are multiplied by: bf16 holds them still, exactly."""

_RAISED = tl.constexpr(LIFT)
_LOWERED = tl.constexpr(1 / LIFT)
_WIDEN = tl.constexpr(
    """{ .reg .b32 a, b, c, d;
    shl.b32 a, $6, 4; and.b32 b, $6, 0x07070707; lop3.b32 a, a, 0x80808080, b, 0xea;
    shr.u32 c, $6, 4; and.b32 d, $6, 0x80808080; lop3.b32 c, c, 0x07070707, d, 0xea;
    prmt.b32 $0, $4, a, 0x6240; prmt.b32 $1, $4, c, 0x6341;
    prmt.b32 $2, $5, a, 0x7250; prmt.b32 $3, $5, c, 0x7351; }"""
)


@triton.jit
def float_of(bits, dtype: tl.constexpr):
    """bf16's sixteen bits, in an int32, as a number."""
    return (bits << 16).to(tl.float32, bitcast=True).to(dtype)


@triton.jit
def widened(first, second, high, dtype: tl.constexpr):
    """Weights of two outputs at two inputs, (outputs, inputs) each: of the lower and the upper output at the first input, then at
    the second. `first`, `second`: their low bytes, `high`: what is above, int16.

    In bf16 two of each at once: bytes 0 and 2 of `a` are the high bytes of the lower output at the first input, bytes 1 and 3
    at the second; `c` has those of the upper output.
    """
    if dtype == tl.bfloat16:
        return tl.inline_asm_elementwise(
            _WIDEN,
            "=r,=r,=r,=r,r,r,r",
            [first, second, high],
            dtype=(tl.bfloat16, tl.bfloat16, tl.bfloat16, tl.bfloat16),
            is_pure=True,
            pack=2,
        )
    first, second, high = first.to(tl.int32), second.to(tl.int32), high.to(tl.int32)
    return (
        float_of((high & 0x8) << 12 | (high & 0x7) << 8 | first & 0xFF, dtype),
        float_of((high & 0x80) << 8 | (high & 0x70) << 4 | first >> 8 & 0xFF, dtype),
        float_of((high & 0x800) << 4 | high & 0x700 | second & 0xFF, dtype),
        float_of(high & 0x8000 | (high & 0x7000) >> 4 | second >> 8 & 0xFF, dtype),
    )


@triton.jit
def both(
    x_at, low_at, high_at, inputs: tl.constexpr, span: tl.constexpr, block: tl.constexpr, wide: tl.constexpr, depth: tl.constexpr
):
    """The lower and the upper outputs' weights times the rows, float32 (wide, block) each, `depth` pairs of inputs at a time:
    a divisor of `span`."""
    dtype: tl.constexpr = x_at.dtype.element_ty
    lower = tl.zeros((wide, block), tl.float32)
    upper = tl.zeros((wide, block), tl.float32)
    for step in range(0, inputs // 2, depth):
        # Said, as it is not seen: it decides how wide the loads are.
        at = tl.multiple_of(step // span * (2 * span) + step % span, depth)
        high = tl.load(high_at + step)
        a, b, c, d = widened(tl.load(low_at + at), tl.load(low_at + at + span), high, dtype)
        rows, more = tl.load(x_at + at), tl.load(x_at + at + span)
        lower = tl.dot(a, tl.trans(rows), lower, input_precision="ieee")
        upper = tl.dot(b, tl.trans(rows), upper, input_precision="ieee")
        lower = tl.dot(c, tl.trans(more), lower, input_precision="ieee")
        upper = tl.dot(d, tl.trans(more), upper, input_precision="ieee")
    return lower, upper


@triton.jit
def packed_gate_up_kernel(
    x,
    low,
    high,
    scale,
    order,
    owners,
    limits,
    out,
    hidden: tl.constexpr,
    inner: tl.constexpr,
    k: tl.constexpr,
    block: tl.constexpr,
    gated: tl.constexpr,
    depth: tl.constexpr,
    span: tl.constexpr,
    group: tl.constexpr,
):
    """`gate_up.gate_up_kernel` over weights of 12 bits: a gate's output is the lower one, its up's the upper."""
    number, tile = spot((inner + gated - 1) // gated, group)
    start, first = number * block, tile * gated
    expert, end, _ = bounds(owners, limits, number, 0)
    if (expert < 0) | (end <= start):
        return
    place = start + tl.arange(0, block)
    row = tl.load(order + place, mask=place < end, other=0).to(tl.int64) // k
    deep, there = tl.arange(0, depth), columns(first, gated, inner)
    line = expert.to(tl.int64) * inner + there
    low_at, high_at = low + line[:, None] * hidden + deep[None, :], high + line[:, None] * (hidden // 2) + deep[None, :]
    gate, up = both(x + row[:, None] * hidden + deep[None, :], low_at, high_at, hidden, span, block, gated, depth)
    scale_at = scale + expert * (2 * inner) + there
    gate *= (tl.load(scale_at) * _LOWERED)[:, None]
    up *= (tl.load(scale_at + inner) * _LOWERED)[:, None]
    value = tl.trans(gelu(gate) * up * _RAISED)
    column = first + tl.arange(0, gated)
    target = out + place.to(tl.int64)[:, None] * inner + column[None, :]
    tl.store(target, value.to(out.dtype.element_ty), mask=(column < inner)[None, :])


@triton.jit
def packed_down_kernel(
    x,
    low,
    high,
    scale,
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
    span: tl.constexpr,
):
    """`down.down_kernel` over weights of 12 bits: a program has `wide` outputs of the lower half and those of the upper."""
    half: tl.constexpr = hidden // 2
    number, tile = spot((half + wide - 1) // wide, 1)
    start, first = number * block, tile * wide
    expert, end, _ = bounds(owners, limits, number, 0)
    if (expert < 0) | (end <= start):
        return
    place = start + tl.arange(0, block)
    real = place < end
    pair = tl.load(order + place, mask=real, other=0)
    share = tl.load(shares + pair, mask=real, other=0.0) * _LOWERED
    deep, there = tl.arange(0, depth), columns(first, wide, half)
    line = expert.to(tl.int64) * half + there
    low_at, high_at = low + line[:, None] * inner + deep[None, :], high + line[:, None] * (inner // 2) + deep[None, :]
    x_at = x + place.to(tl.int64)[:, None] * inner + deep[None, :]
    lower, upper = both(x_at, low_at, high_at, inner, span, block, wide, depth)
    scale_at = scale + expert * hidden + there
    lower = tl.trans(lower * tl.load(scale_at)[:, None]) * share[:, None]
    upper = tl.trans(upper * tl.load(scale_at + half)[:, None]) * share[:, None]
    column = first + tl.arange(0, wide)
    target = out + pair.to(tl.int64)[:, None] * hidden + column[None, :]
    there = real[:, None] & (column < half)[None, :]
    tl.store(target, lower.to(out.dtype.element_ty), mask=there)
    tl.store(target + half, upper.to(out.dtype.element_ty), mask=there)
