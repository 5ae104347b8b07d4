"""Other ways to write the row kernels of kernels/norms.py and heads.py, for bench/onepass_steps.py to time. No pass uses them.

`width` lanes take a row's first columns and `rest` lanes what is left (0: one masked part).
`early` issues loads before the sums that do not need them; `evict` says that what is read once need not stay in the cache.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl

from oneread.engines.onepass.kernels.heads import put_heads
from oneread.engines.onepass.kernels.norms import gelu, put, rms_of


@triton.jit
def get(source, at, columns: tl.constexpr, whole: tl.constexpr, evict: tl.constexpr):
    """A part of a row in float32, without a mask where it is `whole`."""
    if whole:
        got = tl.load(source + at, eviction_policy="evict_first") if evict else tl.load(source + at)
    else:
        if evict:
            got = tl.load(source + at, mask=at < columns, other=0.0, eviction_policy="evict_first")
        else:
            got = tl.load(source + at, mask=at < columns, other=0.0)
    return got.to(tl.float32)


@triton.jit
def both(source, a_at, b_at, columns: tl.constexpr, width: tl.constexpr, rest: tl.constexpr, evict: tl.constexpr):
    """Both parts of a row; the second is one zero where there is none."""
    a = get(source, a_at, columns, width <= columns, evict)
    b = tl.zeros((1,), tl.float32)
    if rest:
        b = get(source, b_at, columns, width + rest <= columns, evict)
    return a, b


@triton.jit
def gated_variant(
    x, out, scales, columns: tl.constexpr, width: tl.constexpr, rest: tl.constexpr, evict: tl.constexpr, fp8: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    a_at = tl.arange(0, width)
    b_at = width + tl.arange(0, rest if rest else 1)
    gate_a, gate_b = both(x + row * 2 * columns, a_at, b_at, columns, width, rest, evict)
    up_a, up_b = both(x + row * 2 * columns + columns, a_at, b_at, columns, width, rest, evict)
    put(gelu(gate_a) * up_a, gelu(gate_b) * up_b, out, scales, row, columns, width, rest, fp8)


@triton.jit
def after_attention_variant(
    x, attended, attention_norm, dense_norm, experts_norm, router_scale, x_out, dense_out, dense_scales, experts_out,
    experts_scales, router_out, epsilon, columns: tl.constexpr, width: tl.constexpr, rest: tl.constexpr, early: tl.constexpr,
    evict: tl.constexpr, scale: tl.constexpr, fp8: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    a_at = tl.arange(0, width)
    b_at = width + tl.arange(0, rest if rest else 1)
    here = row * columns
    a, b = both(attended + here, a_at, b_at, columns, width, rest, evict)
    if early:
        va, vb = both(x + here, a_at, b_at, columns, width, rest, evict)
        na, nb = both(attention_norm, a_at, b_at, columns, width, rest, False)
        da, db = both(dense_norm, a_at, b_at, columns, width, rest, False)
        ea, eb = both(experts_norm, a_at, b_at, columns, width, rest, False)
        ra, rb = both(router_scale, a_at, b_at, columns, width, rest, False)
    by = rms_of(a, b, columns, rest, epsilon)
    if not early:
        va, vb = both(x + here, a_at, b_at, columns, width, rest, evict)
        na, nb = both(attention_norm, a_at, b_at, columns, width, rest, False)
    va = (va + a * by * na).to(x_out.dtype.element_ty).to(tl.float32)
    vb = (vb + b * by * nb).to(x_out.dtype.element_ty).to(tl.float32)
    put(va, vb, x_out, x_out, row, columns, width, rest, False)
    by = rms_of(va, vb, columns, rest, epsilon)
    va, vb = va * by, vb * by
    if not early:
        da, db = both(dense_norm, a_at, b_at, columns, width, rest, False)
        ea, eb = both(experts_norm, a_at, b_at, columns, width, rest, False)
        ra, rb = both(router_scale, a_at, b_at, columns, width, rest, False)
    put(va * da, vb * db, dense_out, dense_scales, row, columns, width, rest, fp8)
    put(va * ea, vb * eb, experts_out, experts_scales, row, columns, width, rest, fp8)
    put(va * ra * scale, vb * rb * scale, router_out, router_out, row, columns, width, rest, False)


@triton.jit
def after_experts_variant(
    x, dense, pairs, dense_norm, experts_norm, output_norm, following_norm, canvas, prompt_scalar, canvas_scalar, x_out, h_out,
    h_scales, count, epsilon, columns: tl.constexpr, width: tl.constexpr, rest: tl.constexpr, early: tl.constexpr,
    evict: tl.constexpr, k: tl.constexpr, fp8: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    a_at = tl.arange(0, width)
    b_at = width + tl.arange(0, rest if rest else 1)
    here = row * columns
    if early:
        da, db = both(dense + here, a_at, b_at, columns, width, rest, evict)
        va, vb = both(x + here, a_at, b_at, columns, width, rest, evict)
        dna, dnb = both(dense_norm, a_at, b_at, columns, width, rest, False)
        ena, enb = both(experts_norm, a_at, b_at, columns, width, rest, False)
        ona, onb = both(output_norm, a_at, b_at, columns, width, rest, False)
        fna, fnb = both(following_norm, a_at, b_at, columns, width, rest, False)
    on_canvas = tl.load(canvas + row) != 0
    scalar = tl.where(on_canvas, tl.load(canvas_scalar).to(tl.float32), tl.load(prompt_scalar).to(tl.float32))
    ma, mb = tl.zeros((width,), tl.float32), tl.zeros((rest if rest else 1,), tl.float32)
    # A row that is padding is a branch of its own: its pairs are not read, and no load of the others waits for a mask.
    if row < tl.load(count):
        for j in tl.static_range(k):
            pa, pb = both(pairs + (row * k + j) * columns, a_at, b_at, columns, width, rest, evict)
            ma += pa
            mb += pb
    if not early:
        ena, enb = both(experts_norm, a_at, b_at, columns, width, rest, False)
        da, db = both(dense + here, a_at, b_at, columns, width, rest, evict)
        dna, dnb = both(dense_norm, a_at, b_at, columns, width, rest, False)
    m_by, d_by = rms_of(ma, mb, columns, rest, epsilon), rms_of(da, db, columns, rest, epsilon)
    ma, mb = ma * m_by * ena + da * d_by * dna, mb * m_by * enb + db * d_by * dnb
    by = rms_of(ma, mb, columns, rest, epsilon)
    if not early:
        ona, onb = both(output_norm, a_at, b_at, columns, width, rest, False)
        va, vb = both(x + here, a_at, b_at, columns, width, rest, evict)
        fna, fnb = both(following_norm, a_at, b_at, columns, width, rest, False)
    va = ((va + ma * by * ona) * scalar).to(x_out.dtype.element_ty).to(tl.float32)
    vb = ((vb + mb * by * onb) * scalar).to(x_out.dtype.element_ty).to(tl.float32)
    put(va, vb, x_out, x_out, row, columns, width, rest, False)
    by = rms_of(va, vb, columns, rest, epsilon)
    put(va * by * fna, vb * by * fnb, h_out, h_scales, row, columns, width, rest, fp8)


@triton.jit
def some_heads(
    source, weight, target, cosine, sine, first, heads: tl.constexpr, lines: tl.constexpr, half: tl.constexpr, epsilon,
    turned: tl.constexpr,
):  # fmt: skip
    """`lines` of `heads` heads, from `first` on: normed, and weighed and turned if `turned`."""
    head, at = first + tl.arange(0, lines), tl.arange(0, half)
    known = (head < heads)[:, None]
    here = source + head[:, None] * (2 * half) + at[None, :]
    a = tl.load(here, mask=known, other=0.0).to(tl.float32)
    b = tl.load(here + half, mask=known, other=0.0).to(tl.float32)
    by = tl.rsqrt((tl.sum(a * a, 1) + tl.sum(b * b, 1)) / (2 * half) + epsilon)[:, None]
    a, b = a * by, b * by
    if turned:
        dtype: tl.constexpr = target.dtype.element_ty
        a = (a * tl.load(weight + at).to(tl.float32)[None, :]).to(dtype).to(tl.float32)
        b = (b * tl.load(weight + half + at).to(tl.float32)[None, :]).to(dtype).to(tl.float32)
        a, b = a * cosine - b * sine, b * cosine + a * sine
    put_heads(a, b, target, first, heads, lines, half)


@triton.jit(do_not_specialize=["offset", "scratch"])
def heads_variant(
    qkv, query_norm, key_norm, frequencies, table, positions, rows, query, keys, values, offset, scratch, epsilon,
    heads: tl.constexpr, kv_heads: tl.constexpr, lines: tl.constexpr, half: tl.constexpr, own_values: tl.constexpr,
    tabled: tl.constexpr,
):  # fmt: skip
    """A program a row and part of its heads: `lines` queries, or with the last program of a row its keys and values."""
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    at = tl.arange(0, half)
    size: tl.constexpr = 2 * half
    if tabled:
        turn = table + row * size + at
        cosine, sine = tl.load(turn)[None, :], tl.load(turn + half)[None, :]
    else:
        angle = tl.load(positions + row).to(tl.float32) * tl.load(frequencies + at)
        cosine, sine = tl.cos(angle)[None, :], tl.sin(angle)[None, :]
    source = qkv + row * (heads + kv_heads * (2 if own_values else 1)) * size
    if part < heads // lines:
        some_heads(source, query_norm, query + row * heads * size, cosine, sine, part * lines, heads, lines, half, epsilon, True)
    else:
        place = tl.load(rows + row).to(tl.int64)
        place = (place + tl.where(place >= scratch, offset, 0)) * kv_heads * size
        source += heads * size
        some_heads(source, key_norm, keys + place, cosine, sine, 0, kv_heads, kv_heads, half, epsilon, True)
        if own_values:
            source += kv_heads * size
        some_heads(source, key_norm, values + place, cosine, sine, 0, kv_heads, kv_heads, half, epsilon, False)
