"""From projected queries, keys and values to attention's inputs: split, norm, turn, and store keys and values."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["offset", "scratch"])
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
    offset,
    scratch,
    epsilon,
    heads: tl.constexpr,
    kv_heads: tl.constexpr,
    half: tl.constexpr,
    own_values: tl.constexpr,
):
    """One program a row and head. Heads: the queries', then the keys', which also do their value.

    A head's two halves turn against one another: pair i by position * frequencies[i].
    """
    row = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    at = tl.arange(0, half)
    size: tl.constexpr = 2 * half
    parts: tl.constexpr = heads + kv_heads * (2 if own_values else 1)
    source = qkv + (row * parts + head) * size
    first, second = tl.load(source + at).to(tl.float32), tl.load(source + half + at).to(tl.float32)
    root = tl.rsqrt((tl.sum(first * first, 0) + tl.sum(second * second, 0)) / size + epsilon)
    angle = tl.load(positions + row).to(tl.float32) * tl.load(frequencies + at)
    cosine, sine = tl.cos(angle), tl.sin(angle)
    is_query = head < heads
    if is_query:
        a = first * root * tl.load(query_norm + at).to(tl.float32)
        b = second * root * tl.load(query_norm + half + at).to(tl.float32)
    else:
        a = first * root * tl.load(key_norm + at).to(tl.float32)
        b = second * root * tl.load(key_norm + half + at).to(tl.float32)
    # Rounded before the turn, as the reference's norm does.
    a, b = a.to(query.dtype.element_ty).to(tl.float32), b.to(query.dtype.element_ty).to(tl.float32)
    turned_a, turned_b = a * cosine - b * sine, b * cosine + a * sine
    if is_query:
        out = query + (row * heads + head) * size
        tl.store(out + at, turned_a.to(query.dtype.element_ty))
        tl.store(out + half + at, turned_b.to(query.dtype.element_ty))
    else:
        place = tl.load(rows + row).to(tl.int64)
        place += tl.where(place >= scratch, offset, 0)
        place = (place * kv_heads + head - heads) * size
        tl.store(keys + place + at, turned_a.to(keys.dtype.element_ty))
        tl.store(keys + place + half + at, turned_b.to(keys.dtype.element_ty))
        if own_values:
            source += kv_heads * size
            first, second = tl.load(source + at).to(tl.float32), tl.load(source + half + at).to(tl.float32)
            root = tl.rsqrt((tl.sum(first * first, 0) + tl.sum(second * second, 0)) / size + epsilon)
        tl.store(values + place + at, (first * root).to(values.dtype.element_ty))
        tl.store(values + place + half + at, (second * root).to(values.dtype.element_ty))
