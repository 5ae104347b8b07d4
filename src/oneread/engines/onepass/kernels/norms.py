"""The row-wise steps between matrix products, each one kernel: norms, residual sums, gating, FP8 rounding.

One program takes one row whole. Everything is computed in float32 and rounded once, on the way out.

A row is held in two parts, `a` and `b`, of `width` and `rest` lanes (see `parts`): fewer lanes idle than in one part of a
power of two, and where there are two the first needs no mask. Without a `rest`, `b` is one zero.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl

FP8_MAX = tl.constexpr(448.0)


def parts(columns: int) -> tuple[int, int]:
    """Lanes of a row's two parts: the largest power of two within it, and the next one that holds what is left.

    One part where two would take as many lanes.
    """
    whole = triton.next_power_of_2(columns)
    if whole == columns:
        return whole, 0
    rest = triton.next_power_of_2(columns - whole // 2)
    return (whole, 0) if rest == whole // 2 else (whole // 2, rest)


@triton.jit
def read_part(source, first: tl.constexpr, lanes: tl.constexpr, columns: tl.constexpr):
    """A part of a row in float32."""
    at = first + tl.arange(0, lanes)
    values = tl.load(source + at) if first + lanes <= columns else tl.load(source + at, mask=at < columns, other=0.0)
    return values.to(tl.float32)


@triton.jit
def read(source, columns: tl.constexpr, width: tl.constexpr, rest: tl.constexpr):
    """Both parts of a row."""
    a = read_part(source, 0, width, columns)
    b = read_part(source, width, rest, columns) if rest else tl.zeros((1,), tl.float32)
    return a, b


@triton.jit
def write_part(values, out, first: tl.constexpr, lanes: tl.constexpr, columns: tl.constexpr):
    """Write a part of a row in the output's dtype."""
    at = first + tl.arange(0, lanes)
    if first + lanes <= columns:
        tl.store(out + at, values.to(out.dtype.element_ty))
    else:
        tl.store(out + at, values.to(out.dtype.element_ty), mask=at < columns)


@triton.jit
def write(a, b, out, columns: tl.constexpr, width: tl.constexpr, rest: tl.constexpr):
    """Write both parts of a row."""
    write_part(a, out, 0, width, columns)
    if rest:
        write_part(b, out, width, rest, columns)


@triton.jit
def put(a, b, out, scales, row, columns: tl.constexpr, width: tl.constexpr, rest: tl.constexpr, quantised: tl.constexpr):
    """Write a row in the output's dtype; as FP8 with the row's own scale if `quantised`."""
    if quantised:
        top = tl.max(tl.abs(a), 0)
        if rest:
            top = tl.maximum(top, tl.max(tl.abs(b), 0))
        scale = tl.maximum(top / FP8_MAX, 1e-12)
        tl.store(scales + row, scale)
        a, b = a / scale, b / scale
    write(a, b, out + row * columns, columns, width, rest)


@triton.jit
def rms_of(a, b, columns: tl.constexpr, rest: tl.constexpr, epsilon):
    """1 / root mean square of a row; of its first part alone where there is no rest."""
    total = tl.sum(a * a, 0)
    if rest:
        total += tl.sum(b * b, 0)
    return tl.rsqrt(total / columns + epsilon)


@triton.jit
def norm_kernel(
    x,
    weight,
    out,
    scales,
    epsilon,
    columns: tl.constexpr,
    width: tl.constexpr,
    rest: tl.constexpr,
    quantised: tl.constexpr,
):
    """RMS norm of a row, times a weight."""
    row = tl.program_id(0).to(tl.int64)
    a, b = read(x + row * columns, columns, width, rest)
    wa, wb = read(weight, columns, width, rest)
    by = rms_of(a, b, columns, rest, epsilon)
    put(a * by * wa, b * by * wb, out, scales, row, columns, width, rest, quantised)


@triton.jit
def quantise_kernel(x, out, scales, columns: tl.constexpr, width: tl.constexpr, rest: tl.constexpr):
    """A row as FP8 with its own scale."""
    row = tl.program_id(0).to(tl.int64)
    a, b = read(x + row * columns, columns, width, rest)
    put(a, b, out, scales, row, columns, width, rest, True)


@triton.jit
def quantise_places_kernel(
    x,
    out,
    scales,
    owners,
    columns: tl.constexpr,
    width: tl.constexpr,
    rest: tl.constexpr,
    block: tl.constexpr,
    lines: tl.constexpr,
):
    """Some rows of the experts' gated values as FP8 with a scale each; nothing for blocks that no expert owns."""
    first = tl.program_id(0).to(tl.int64) * lines
    if tl.load(owners + first // block) < 0:
        return
    row = first + tl.arange(0, lines)
    a_at, b_at = tl.arange(0, width)[None, :], width + tl.arange(0, rest if rest else 1)[None, :]
    a_here, b_here = row[:, None] * columns + a_at, row[:, None] * columns + b_at
    a = tl.load(x + a_here, mask=a_at < columns, other=0.0).to(tl.float32)
    b = tl.load(x + b_here, mask=b_at < columns, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.maximum(tl.max(tl.abs(a), 1), tl.max(tl.abs(b), 1)) / FP8_MAX, 1e-12)
    tl.store(scales + row, scale)
    tl.store(out + a_here, (a / scale[:, None]).to(out.dtype.element_ty), mask=a_at < columns)
    tl.store(out + b_here, (b / scale[:, None]).to(out.dtype.element_ty), mask=b_at < columns)


@triton.jit
def gelu(x):
    """gelu_pytorch_tanh: x sigmoid(2 z) = x (1 + tanh z) / 2 with z = sqrt(2 / pi) (x + 0.044715 x^3).

    Written as x / (1 + 2 ** y), y = -2 z log2(e): it ends every tile of the experts' first product.
    """
    return x / (1.0 + tl.exp2(x * (-2.302208198144325 - 0.1029432395800235 * x * x)))


@triton.jit
def gated_kernel(x, out, scales, columns: tl.constexpr, width: tl.constexpr, rest: tl.constexpr, quantised: tl.constexpr):
    """gelu(first half) * second half of a row of 2 * columns."""
    row = tl.program_id(0).to(tl.int64)
    a, b = read(x + row * 2 * columns, columns, width, rest)
    up_a, up_b = read(x + row * 2 * columns + columns, columns, width, rest)
    put(gelu(a) * up_a, gelu(b) * up_b, out, scales, row, columns, width, rest, quantised)


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
    rest: tl.constexpr,
    root: tl.constexpr,
    lift: tl.constexpr,
    dense_quantised: tl.constexpr,
    experts_quantised: tl.constexpr,
):
    """x + norm(attended), and that sum normed for the dense MLP, for the experts (times `lift`) and for the router."""
    row = tl.program_id(0).to(tl.int64)
    here = row * columns
    a, b = read(attended + here, columns, width, rest)
    by = rms_of(a, b, columns, rest, epsilon)
    xa, xb = read(x + here, columns, width, rest)
    wa, wb = read(attention_norm, columns, width, rest)
    # The sum is rounded before it is normed, as it is when it is kept.
    a = (xa + a * by * wa).to(x_out.dtype.element_ty).to(tl.float32)
    b = (xb + b * by * wb).to(x_out.dtype.element_ty).to(tl.float32)
    write(a, b, x_out + here, columns, width, rest)
    by = rms_of(a, b, columns, rest, epsilon)
    a, b = a * by, b * by
    # Stores hold back the loads that follow them, so all weights come before the three stores below.
    da, db = read(dense_norm, columns, width, rest)
    ea, eb = read(experts_norm, columns, width, rest)
    ra, rb = read(router_scale, columns, width, rest)
    put(a * da, b * db, dense_out, dense_scales, row, columns, width, rest, dense_quantised)
    put(a * ea * lift, b * eb * lift, experts_out, experts_scales, row, columns, width, rest, experts_quantised)
    write(a * ra * root, b * rb * root, router_out + here, columns, width, rest)


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
    rest: tl.constexpr,
    k: tl.constexpr,
    last: tl.constexpr,
    quantised: tl.constexpr,
):
    """Sum a row's k expert outputs, add the dense MLP's, norm, add to x, scale by the row's kind; norm for the next layer.

    Rows from `count` on are padding: no expert wrote their pairs, so what stands there is not read. It may not be a number,
    and a padding row's value reaches real rows: attention multiplies it by zero.
    """
    row = tl.program_id(0).to(tl.int64)
    here = row * columns
    # All that no sum decides is asked for first, and comes while the pairs do.
    da, db = read(dense + here, columns, width, rest)
    xa, xb = read(x + here, columns, width, rest)
    dwa, dwb = read(dense_norm, columns, width, rest)
    ewa, ewb = read(experts_norm, columns, width, rest)
    owa, owb = read(output_norm, columns, width, rest)
    if not last:
        fwa, fwb = read(following_norm, columns, width, rest)
    on_canvas = tl.load(canvas + row) != 0
    scalar = tl.where(on_canvas, tl.load(canvas_scalar).to(tl.float32), tl.load(prompt_scalar).to(tl.float32))
    a, b = tl.zeros_like(da), tl.zeros_like(db)
    if row < tl.load(count):
        for j in tl.static_range(k):
            pa, pb = read(pairs + (row * k + j) * columns, columns, width, rest)
            a += pa
            b += pb
    by, d_by = rms_of(a, b, columns, rest, epsilon), rms_of(da, db, columns, rest, epsilon)
    a, b = a * by * ewa + da * d_by * dwa, b * by * ewb + db * d_by * dwb
    by = rms_of(a, b, columns, rest, epsilon)
    a = ((xa + a * by * owa) * scalar).to(x_out.dtype.element_ty).to(tl.float32)
    b = ((xb + b * by * owb) * scalar).to(x_out.dtype.element_ty).to(tl.float32)
    write(a, b, x_out + here, columns, width, rest)
    if not last:
        by = rms_of(a, b, columns, rest, epsilon)
        put(a * by * fwa, b * by * fwb, h_out, h_scales, row, columns, width, rest, quantised)
