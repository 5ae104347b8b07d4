"""A pass's two ends: rows of the embedding for tokens, and what slots say of the vocabulary."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl

from .attend import LOG2_E
from .norms import rms_of

LN_2 = tl.constexpr(0.6931471805599453)


@triton.jit
def embed_kernel(tokens, canvas, embedding, out, scale, epsilon, columns: tl.constexpr, width: tl.constexpr):
    """A token's embedding times a scale; normed where the row is of a canvas."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, width)
    inside = at < columns
    token = tl.load(tokens + row).to(tl.int64)
    v = tl.load(embedding + token * columns + at, mask=inside, other=0.0).to(tl.float32) * scale
    # Rounded before it is normed, as the reference does.
    v = v.to(out.dtype.element_ty).to(tl.float32)
    v = tl.where(tl.load(canvas + row) != 0, v * rms_of(v, v, columns, 0, epsilon), v)
    tl.store(out + row * columns + at, v.to(out.dtype.element_ty), mask=inside)


@triton.jit
def labels_kernel(hidden, embedding, labels, label_slots, out, softcap, columns: tl.constexpr, width: tl.constexpr):
    """The softcapped logit of one label of one slot."""
    number = tl.program_id(0)
    at = tl.arange(0, width)
    inside = at < columns
    slot, label = tl.load(label_slots + number).to(tl.int64), tl.load(labels + number).to(tl.int64)
    h = tl.load(hidden + slot * columns + at, mask=inside, other=0.0).to(tl.float32)
    e = tl.load(embedding + label * columns + at, mask=inside, other=0.0).to(tl.float32)
    logit = tl.sum(h * e, 0)
    # softcap tanh(logit / softcap)
    tl.store(out + number, softcap - 2.0 * softcap / (1.0 + tl.exp2(logit * (2.0 * LOG2_E / softcap))))


@triton.jit(do_not_specialize=["first", "parts"])
def sums_kernel(logits, sums, softcap, columns, first, parts, block: tl.constexpr, span: tl.constexpr):
    """Sum of exp(softcapped logit - softcap) over `block` of a slot's logits, into place `first` + part of the slot's `parts`.

    softcap tanh(x / softcap) - softcap is written as -2 softcap / (1 + exp(2 x / softcap)).
    """
    slot, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    total = tl.zeros((span,), tl.float32)
    for step in tl.static_range(block // span):
        at = part * block + step * span + tl.arange(0, span)
        x = tl.load(logits + slot * columns + at, mask=at < columns, other=0.0)
        term = tl.exp2(-2.0 * LOG2_E * softcap / (1.0 + tl.exp2(x * (2.0 * LOG2_E / softcap))))
        total += tl.where(at < columns, term, 0.0)
    tl.store(sums + slot * parts + first + part, tl.sum(total, 0))


@triton.jit(do_not_specialize=["first", "parts"])
def log_sums_kernel(sums, out, softcap, first, parts, width: tl.constexpr):
    """A slot's log-sum-exp from its parts, into place `first` + slot of `out`."""
    slot = tl.program_id(0)
    at = tl.arange(0, width)
    total = tl.sum(tl.load(sums + slot * parts + at, mask=at < parts, other=0.0), 0)
    tl.store(out + first + slot, tl.log2(total) * LN_2 + softcap)
