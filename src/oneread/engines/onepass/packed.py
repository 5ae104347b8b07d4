"""bf16 weights in 12 bits: nearly all exponents of a row lie among the sixteen up to its largest; four bits say which.

A weight keeps its sign, its seven bits of mantissa and four bits of exponent, counted from 15 below that of its row's largest:
11 bits of magnitude, which read as a bf16 number with high exponent bits of zero, times a power of two. So a weight of at
least 2 ** -14 of the row's largest is kept as it is, and a smaller one to 2 ** -22 of it, as a bf16 subnormal would be.

Bytes lie so that a matrix unit's operand is made with four permutations of bytes for eight weights (kernels/packed.py):

* `low`, int16 (out / 2, in): the low bytes of output n (below) and of output n + out / 2 (above);
* `high`, int16 (out / 2, in / 2): signs and exponents' other three bits, four bits each, of the same two outputs at one input
  and at the one `span_of(in)` further on.
"""

from __future__ import annotations

import torch
from torch import Tensor

ROUNDED_BY = "2^-22"
"""Of a row's largest weight: the most that another one of the row is changed by."""


def span_of(inputs: int) -> int:
    """How far apart the two inputs are that share a number of `high`: half of the blocks of 128 or 64 that inputs come in.

    Raises:
        ValueError: the inputs are no multiple of 64.
    """
    if inputs % 64:
        raise ValueError(f"12 bits a weight need a multiple of 64 inputs, not {inputs}")
    return 64 if inputs % 128 == 0 else 32


def pack(weight: Tensor) -> tuple[Tensor, Tensor, Tensor, int]:
    """One matrix.

    Args:
        weight: bfloat16 (out, in), an even number of outputs and a multiple of 64 inputs.

    Returns:
        low, high; float32 (out,), powers of two that the numbers in low and high are to be multiplied by; and how many
        weights were rounded.

    Raises:
        ValueError: the weight has another dtype or shape, or holds a number of 65,536 or more or none at all.
    """
    if weight.dtype != torch.bfloat16 or weight.ndim != 2 or weight.shape[0] % 2:
        found = f"{weight.dtype} {list(weight.shape)}"
        raise ValueError(f"12 bits a weight need a bfloat16 matrix of an even number of outputs, not {found}")
    span = span_of(weight.shape[1])
    bits = weight.contiguous().view(torch.int16).int() & 0xFFFF
    exponent, mantissa = (bits >> 7) & 0xFF, bits & 0x7F
    base = (exponent.amax(-1, keepdim=True) - 15).clamp_min(0)
    if int(base.max()) > 127:
        raise ValueError("12 bits a weight hold finite numbers below 65,536")
    # A subnormal weight's exponent is written as 0 and counts as 1.
    above = exponent.clamp_min(1) - base
    # Below the row's sixteen exponents a weight's own leading bit moves into the mantissa, and what falls off is rounded to even.
    whole, shift = torch.where(exponent > 0, mantissa + 128, mantissa), (1 - above).clamp(0, 24)
    rounded = (whole + (1 << shift >> 1) - 1 + (whole >> shift & 1)) >> shift
    small = above < 1
    magnitude = torch.where(small, rounded, (exponent - base) << 7 | mantissa)
    low, high = _halves(magnitude & 0xFF, 8), _halves((bits >> 15 << 3) | (magnitude >> 8), 4)
    high = high.view(len(high), -1, 2, span)
    high = (high[:, :, 0] | high[:, :, 1] << 8).flatten(1)
    changed = int((small & (rounded << shift != whole)).sum())
    scale = (base[:, 0] + 127 << 23).view(torch.float32)
    return low.to(torch.int16), high.to(torch.int16), scale, changed


def unpack(low: Tensor, high: Tensor, scale: Tensor, dtype: torch.dtype) -> Tensor:
    """(..., out, in) in a float dtype from what `pack` gives, leading dimensions stacked."""
    pairs = high.view(*high.shape[:-1], -1, 1, span_of(low.shape[-1]))
    wide = torch.cat((pairs & 0xFF, pairs >> 8 & 0xFF), dim=-2).flatten(-3)
    lower = (wide & 0x8) << 12 | (wide & 0x7) << 8 | low & 0xFF
    upper = (wide & 0x80) << 8 | (wide & 0x70) << 4 | low >> 8 & 0xFF
    small = torch.cat((lower, upper), dim=-2).view(torch.bfloat16)
    # In float32, where bf16's smallest numbers are exact.
    return (small.float() * scale[..., None]).to(dtype)


def _halves(values: Tensor, bits: int) -> Tensor:
    """The first half of the rows, and above it by so many bits the second."""
    first, second = values.chunk(2)
    return first | second << bits
