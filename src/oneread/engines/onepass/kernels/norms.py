"""The row-wise steps between matrix products, each one kernel: norms, residual sums, gating, FP8 rounding.

One program takes one row whole. Everything is computed in float32 and rounded once, on the way out.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl

FP8_MAX = tl.constexpr(448.0)


@triton.jit
def rms(x, columns: tl.constexpr, epsilon):
    """1 / root mean square of a row."""
    return tl.rsqrt(tl.sum(x * x, 0) / columns + epsilon)


@triton.jit
def put(values, out, scales, row, at, columns: tl.constexpr, quantised: tl.constexpr):
    """Write a row in the output's dtype; as FP8 with the row's own scale if `quantised`."""
    inside = at < columns
    if quantised:
        scale = tl.maximum(tl.max(tl.abs(values), 0) / FP8_MAX, 1e-12)
        tl.store(scales + row, scale)
        values = values / scale
    tl.store(out + row * columns + at, values.to(out.dtype.element_ty), mask=inside)


@triton.jit
def norm_kernel(
    x,
    weight,
    out,
    scales,
    epsilon,
    columns: tl.constexpr,
    width: tl.constexpr,
    quantised: tl.constexpr,
):
    """RMS norm of a row, times a weight."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, width)
    inside = at < columns
    v = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    w = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
    put(v * rms(v, columns, epsilon) * w, out, scales, row, at, columns, quantised)


@triton.jit
def quantise_kernel(x, out, scales, columns: tl.constexpr, width: tl.constexpr):
    """A row as FP8 with its own scale."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, width)
    v = tl.load(x + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
    put(v, out, scales, row, at, columns, True)


@triton.jit
def quantise_places_kernel(
    x,
    out,
    scales,
    owners,
    columns: tl.constexpr,
    width: tl.constexpr,
    block: tl.constexpr,
    lines: tl.constexpr,
):
    """Some rows of the experts' gated values as FP8 with a scale each; nothing for blocks that no expert owns."""
    first = tl.program_id(0) * lines
    if tl.load(owners + first // block) < 0:
        return
    row = first.to(tl.int64) + tl.arange(0, lines)
    at = tl.arange(0, width)
    inside = (at < columns)[None, :]
    here = row[:, None] * columns + at[None, :]
    v = tl.load(x + here, mask=inside, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(v), 1) / FP8_MAX, 1e-12)
    tl.store(scales + row, scale)
    tl.store(out + here, (v / scale[:, None]).to(out.dtype.element_ty), mask=inside)


@triton.jit
def gelu(x):
    """gelu_pytorch_tanh: x sigmoid(2 z) = x (1 + tanh z) / 2 with z = sqrt(2 / pi) (x + 0.044715 x^3).

    Written as x / (1 + 2 ** y), y = -2 z log2(e): it ends every tile of the experts' first product.
    """
    return x / (1.0 + tl.exp2(x * (-2.302208198144325 - 0.1029432395800235 * x * x)))


@triton.jit
def gated_kernel(x, out, scales, columns: tl.constexpr, width: tl.constexpr, quantised: tl.constexpr):
    """gelu(first half) * second half of a row of 2 * columns."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, width)
    inside = at < columns
    gate = tl.load(x + row * 2 * columns + at, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(x + row * 2 * columns + columns + at, mask=inside, other=0.0).to(tl.float32)
    put(gelu(gate) * up, out, scales, row, at, columns, quantised)


@triton.jit
def after_attention_kernel(
    x,
    attended,
    attention_norm,
    dense_norm,
    experts_norm,
    router_scale,
    x_out,
    dense_out,
    dense_scales,
    experts_out,
    experts_scales,
    router_out,
    epsilon,
    columns: tl.constexpr,
    width: tl.constexpr,
    root: tl.constexpr,
    dense_quantised: tl.constexpr,
    experts_quantised: tl.constexpr,
):
    """x + norm(attended), and that sum normed for the dense MLP, for the experts and for the router."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, width)
    inside = at < columns
    here = row * columns + at
    a = tl.load(attended + here, mask=inside, other=0.0).to(tl.float32)
    a = a * rms(a, columns, epsilon) * tl.load(attention_norm + at, mask=inside, other=0.0).to(tl.float32)
    # The sum is rounded before it is normed, as it is when it is kept.
    v = (tl.load(x + here, mask=inside, other=0.0).to(tl.float32) + a).to(x_out.dtype.element_ty).to(tl.float32)
    tl.store(x_out + here, v.to(x_out.dtype.element_ty), mask=inside)
    normed = v * rms(v, columns, epsilon)
    dense = normed * tl.load(dense_norm + at, mask=inside, other=0.0).to(tl.float32)
    put(dense, dense_out, dense_scales, row, at, columns, dense_quantised)
    experts = normed * tl.load(experts_norm + at, mask=inside, other=0.0).to(tl.float32)
    put(experts, experts_out, experts_scales, row, at, columns, experts_quantised)
    router = normed * tl.load(router_scale + at, mask=inside, other=0.0).to(tl.float32) * root
    tl.store(router_out + here, router.to(router_out.dtype.element_ty), mask=inside)


@triton.jit
def after_experts_kernel(
    x,
    dense,
    pairs,
    dense_norm,
    experts_norm,
    output_norm,
    following_norm,
    canvas,
    prompt_scalar,
    canvas_scalar,
    x_out,
    h_out,
    h_scales,
    count,
    epsilon,
    columns: tl.constexpr,
    width: tl.constexpr,
    k: tl.constexpr,
    last: tl.constexpr,
    quantised: tl.constexpr,
):
    """Sum a row's k expert outputs, add the dense MLP's, norm, add to x, scale by the row's kind; norm for the next layer.

    Rows from `count` on are padding: no expert wrote their pairs, so what stands there is not read. It may not be a number,
    and a padding row's value reaches real rows: attention multiplies it by zero.
    """
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, width)
    inside = at < columns
    here = row * columns + at
    mixed = tl.zeros((width,), tl.float32)
    written = inside & (row < tl.load(count))
    for j in tl.static_range(k):
        mixed += tl.load(pairs + (row * k + j) * columns + at, mask=written, other=0.0).to(tl.float32)
    mixed = mixed * rms(mixed, columns, epsilon) * tl.load(experts_norm + at, mask=inside, other=0.0).to(tl.float32)
    d = tl.load(dense + here, mask=inside, other=0.0).to(tl.float32)
    both = mixed + d * rms(d, columns, epsilon) * tl.load(dense_norm + at, mask=inside, other=0.0).to(tl.float32)
    both = both * rms(both, columns, epsilon) * tl.load(output_norm + at, mask=inside, other=0.0).to(tl.float32)
    on_canvas = tl.load(canvas + row) != 0
    scalar = tl.where(on_canvas, tl.load(canvas_scalar).to(tl.float32), tl.load(prompt_scalar).to(tl.float32))
    v = (tl.load(x + here, mask=inside, other=0.0).to(tl.float32) + both) * scalar
    v = v.to(x_out.dtype.element_ty).to(tl.float32)
    tl.store(x_out + here, v.to(x_out.dtype.element_ty), mask=inside)
    if not last:
        w = tl.load(following_norm + at, mask=inside, other=0.0).to(tl.float32)
        put(v * rms(v, columns, epsilon) * w, h_out, h_scales, row, at, columns, quantised)
