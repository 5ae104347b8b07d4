"""Matrix weights: in the forms that checkpoints come in, plain, FP8 and NVFP4, and in 12 bits. One matrix, or many experts'."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from . import packed

FP8 = torch.float8_e4m3fn
NVFP4_GROUP = 16
"""Neighbouring inputs that share one scale in NVFP4."""

_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)


@dataclass(slots=True, eq=False)
class Linear:
    """``y = x W^T`` with W of shape (..., out, in); leading dimensions stack experts.

    The form shows in the weight's dtype:

    * a float dtype: W as it is, `scale` and `scale_2` None;
    * float8_e4m3fn: W = weight * scale, with one float32 scale per output, shape (..., out);
    * uint8: NVFP4. Each byte holds two e2m1 numbers, the even input in its low half, so the weight is (..., out, in / 2);
      W = e2m1 * scale * scale_2 with float8_e4m3fn scales (..., out, in / 16) and float32 scale_2 (..., out);
    * int16: bf16 in 12 bits (packed.py). The weight is its `low`, (..., out / 2, in), beside `high` (..., out / 2, in / 2) and
      one float32 scale per output.

    `twin` is the same in 12 bits, where experts of a float dtype are kept in both forms; only who picks a form for a pass sees it
    (`diffusion_gemma.Steps.form_of`).
    """

    weight: Tensor
    scale: Tensor | None = None
    scale_2: Tensor | None = None
    high: Tensor | None = None
    twin: Linear | None = None

    @property
    def outputs(self) -> int:
        return self.weight.shape[-2] * (2 if self.high is not None else 1)

    @property
    def inputs(self) -> int:
        return self.weight.shape[-1] * (2 if self.weight.dtype == torch.uint8 else 1)

    @property
    def nbytes(self) -> int:
        """Bytes on the device, scales and twin included."""
        return sum(t.nbytes for t in (self.weight, self.scale, self.scale_2, self.high, self.twin) if t is not None)

    def __getitem__(self, expert: int) -> Linear:
        """One matrix of a stack, without a copy."""
        parts = (self.weight, self.scale, self.scale_2, self.high, self.twin)
        return Linear(*(None if t is None else t[expert] for t in parts))  # type: ignore[arg-type]

    def dequantised(self, dtype: torch.dtype) -> Tensor:
        """W in a float dtype; the weight itself when it already is."""
        if self.scale is None:
            return self.weight.to(dtype)
        if self.high is not None:
            return packed.unpack(self.weight, self.high, self.scale, dtype)
        if self.scale_2 is None:
            return (self.weight.float() * self.scale[..., None]).to(dtype)
        table = torch.tensor(_E2M1, device=self.weight.device)
        halves = torch.stack((self.weight & 0xF, self.weight >> 4), dim=-1).flatten(-2)
        values = table[halves.int()]
        scales = self.scale.float() * self.scale_2[..., None]
        return (values * scales.repeat_interleave(NVFP4_GROUP, dim=-1)).to(dtype)

    def __call__(self, x: Tensor) -> Tensor:
        """x (rows, in) -> (rows, out), weights widened to x's dtype: the reference for every form."""
        return torch.nn.functional.linear(x, self.dequantised(x.dtype))


def in_12_bits(stack: Tensor) -> Linear:
    """bfloat16 matrices (experts, out, in) in 12 bits, beside what they were: loading packs them as they come."""
    low, high, scale = (torch.stack(part) for part in zip(*(packed.pack(matrix)[:3] for matrix in stack), strict=True))
    return Linear(low, scale, high=high)


def quantise_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """FP8 with one scale per row: (rows, n) -> float8_e4m3fn (rows, n), float32 (rows,). W is close to value * scale."""
    limit = torch.finfo(FP8).max
    scale = (x.float().abs().amax(-1) / limit).clamp_min(1e-12)
    return (x.float() / scale[..., None]).clamp(-limit, limit).to(FP8), scale
