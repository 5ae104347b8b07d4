"""From projected queries, keys and values to attention's inputs: split, norm, turn, and store keys and values."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def normed(source, weight, first, heads: tl.constexpr, width: tl.constexpr, half: tl.constexpr, epsilon, weighed: tl.constexpr):
    """The two halves of `width` of a row's heads from `first` on, (width, half) each: normed, times a weight if `weighed`."""
    head, at = first + tl.arange(0, width), tl.arange(0, half)
    size: tl.constexpr = 2 * half
    known = (head < heads)[:, None]
    here = source + head[:, None] * size + at[None, :]
    a = tl.load(here, mask=known, other=0.0).to(tl.float32)
    b = tl.load(here + half, mask=known, other=0.0).to(tl.float32)
    root = tl.rsqrt((tl.sum(a * a, 1) + tl.sum(b * b, 1)) / size + epsilon)[:, None]
    a, b = a * root, b * root
    if weighed:
        a *= tl.load(weight + at).to(tl.float32)[None, :]
        b *= tl.load(weight + half + at).to(tl.float32)[None, :]
    return a, b


@triton.jit
def put_heads(a, b, target, first, heads: tl.constexpr, width: tl.constexpr, half: tl.constexpr):
    """Write both halves of each head."""
    head, at = first + tl.arange(0, width), tl.arange(0, half)
    known = (head < heads)[:, None]
    here = target + head[:, None] * (2 * half) + at[None, :]
    tl.store(here, a.to(target.dtype.element_ty), mask=known)
    tl.store(here + half, b.to(target.dtype.element_ty), mask=known)


@triton.jit
def turned(source, weight, cosine, sine, first, heads: tl.constexpr, width: tl.constexpr, half: tl.constexpr, epsilon):
    """The two halves of `width` heads from `first` on, normed and turned against one another."""
    a, b = normed(source, weight, first, heads, width, half, epsilon, True)
    # Rounded before the turn, as the reference's norm does.
    dtype = source.dtype.element_ty
    a, b = a.to(dtype).to(tl.float32), b.to(dtype).to(tl.float32)
    return a * cosine - b * sine, b * cosine + a * sine


@triton.jit
def put_turned(
    source, weight, target, cosine, sine, first, heads: tl.constexpr, width: tl.constexpr, half: tl.constexpr, epsilon
):
    """Norm, turn and write some queries."""
    a, b = turned(source, weight, cosine, sine, first, heads, width, half, epsilon)
    put_heads(a, b, target, first, heads, width, half)


@triton.jit
def put_near_and_far(
    a, b, near, far, keep, kv_heads: tl.constexpr, width: tl.constexpr, half: tl.constexpr, beside: tl.constexpr
):
    """Write a row's keys or values to the store; with `beside` next to the pass's others, and to the store if `keep`."""
    if beside:
        put_heads(a, b, near, 0, kv_heads, width, half)
        if keep:
            put_heads(a, b, far, 0, kv_heads, width, half)
    else:
        put_heads(a, b, far, 0, kv_heads, width, half)


@triton.jit(do_not_specialize=["offset", "scratch", "past"])
def heads_kernel(
    qkv,
    query_norm,
    key_norm,
    frequencies,
    positions,
    rows,
    query,
    keys,
    values,
    near_keys,
    near_values,
    offset,
    scratch,
    past,
    epsilon,
    heads: tl.constexpr,
    kv_heads: tl.constexpr,
    width: tl.constexpr,
    kv_width: tl.constexpr,
    half: tl.constexpr,
    own_values: tl.constexpr,
    beside: tl.constexpr,
):
    """A row's heads, which stand in the order queries, keys, values: pair i turns by position * frequencies[i].

    Keys and values go to the row's place in the store. With `beside` they go beside those of `past` cached keys, and to the store
    only what it is to keep.

    One program a row if `width` holds all queries; else one for each `width` queries, and one more for keys and values.
    """
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    at = tl.arange(0, half)
    size: tl.constexpr = 2 * half
    parts: tl.constexpr = heads + kv_heads * (2 if own_values else 1)
    split: tl.constexpr = width < heads
    angle = tl.load(positions + row).to(tl.float32) * tl.load(frequencies + at)
    cosine, sine = tl.cos(angle)[None, :], tl.sin(angle)[None, :]
    source = qkv + row * parts * size
    if split:
        if part * width < heads:
            put_turned(source, query_norm, query + row * heads * size, cosine, sine, part * width, heads, width, half, epsilon)
            return
    else:
        put_turned(source, query_norm, query + row * heads * size, cosine, sine, 0, heads, width, half, epsilon)
    place = tl.load(rows + row).to(tl.int64)
    keep = place >= scratch
    place += tl.where(place >= scratch, offset, 0)
    place *= kv_heads * size
    next_to = (past + row) * kv_heads * size
    source += heads * size
    a, b = turned(source, key_norm, cosine, sine, 0, kv_heads, kv_width, half, epsilon)
    put_near_and_far(a, b, near_keys + next_to, keys + place, keep, kv_heads, kv_width, half, beside)
    if own_values:
        source += kv_heads * size
    a, b = normed(source, key_norm, 0, kv_heads, kv_width, half, epsilon, False)
    put_near_and_far(a, b, near_values + next_to, values + place, keep, kv_heads, kv_width, half, beside)
