"""A plain torch forward of the encoder, in float32: what every engine's scores are held against."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

from oneread.engines.base import Read
from oneread.engines.encoder import EncoderConfig


class TorchEncoder:
    """One row at a time, no padding.

    Args:
        weights: float32 arrays by the names of `EncoderConfig.shapes`.

    Attributes:
        largest: the largest absolute input that each linear layer has seen, by its name.
    """

    def __init__(self, config: EncoderConfig, weights: Mapping[str, NDArray[np.float32]]) -> None:
        self.config = config
        self.weights = {name: torch.from_numpy(value) for name, value in weights.items()}
        self.largest: dict[str, float] = {}

    def scores(self, read: Read) -> NDArray[np.float32]:
        """Raw scores of the read's slots."""
        c, w, n = self.config, self.weights, len(read.canvas)
        at = torch.arange(n) if read.positions is None else torch.from_numpy(read.positions).long()
        bias = torch.zeros(1, n, n)
        if c.relative_buckets:
            bias = w["rb.weight"][self._buckets(at[None, :] - at[:, None])].permute(2, 0, 1)
        if read.segments is not None and read.sees is not None:
            segments = torch.from_numpy(read.segments).long()
            bias = bias.masked_fill(~torch.from_numpy(read.sees)[segments[:, None], segments[None, :]], -torch.inf)
        x = w["we.weight"][torch.from_numpy(read.canvas).long()] + w["pe.weight"][at + c.position_offset]
        x = self._norm(x, "ln0")
        for i in range(c.layers):
            name = f"lay.{i}."
            q, k, v = (t.view(n, c.heads, -1).transpose(0, 1) for t in self.linear(x, f"{name}qkv").split(c.width, dim=-1))
            weights = torch.softmax(q @ k.transpose(1, 2) / (c.width // c.heads) ** 0.5 + bias, dim=-1)
            attended = (weights @ v).transpose(0, 1).reshape(n, c.width)
            x = self._norm(x + self.linear(attended, f"{name}o"), f"{name}n1")
            hidden = F.gelu(self.linear(x, f"{name}f1"), approximate="none" if c.gelu == "erf" else "tanh")
            x = self._norm(x + self.linear(hidden, f"{name}f2"), f"{name}n2")
        found: NDArray[np.float32] = (x[[slot.position for slot in read.slots]] @ w["head.w"]).numpy()
        return found

    def linear(self, x: torch.Tensor, name: str) -> torch.Tensor:
        self.largest[name] = max(self.largest.get(name, 0.0), float(x.abs().max()))
        return F.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def _norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return F.layer_norm(x, x.shape[-1:], self.weights[f"{name}.weight"], self.weights[f"{name}.bias"], self.config.eps)

    def _buckets(self, distance: torch.Tensor) -> torch.Tensor:
        half = self.config.relative_buckets // 2
        exact = half // 2
        size = distance.abs()
        far = exact + (
            torch.log(size.clamp(min=1).float() / exact) / np.log(self.config.relative_distance / exact) * (half - exact)
        ).to(torch.long)
        return (distance > 0).long() * half + torch.where(size < exact, size, far.clamp(max=half - 1))
