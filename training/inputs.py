"""What flows into each matrix of an encoder, gathered over sample rows, for a rounding that knows its inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from bench.torch_encoder import TorchEncoder
from oneread.engines.base import Read
from oneread.engines.encoder import EncoderConfig


@dataclass(frozen=True)
class Inputs:
    """Statistics of the inputs of each matrix, by the matrix's name.

    Attributes:
        largest: (columns,) float32, the largest absolute value of each channel.
        moments: (columns, columns) float32, the mean of x x^T.
    """

    largest: Mapping[str, NDArray[np.float32]]
    moments: Mapping[str, NDArray[np.float32]]


def gather(config: EncoderConfig, weights: Mapping[str, NDArray[np.float32]], reads: Iterable[Read]) -> Inputs:
    """Run the encoder in float32 over the reads. A hundred rows of the kinds that will be served are enough."""
    encoder = _Watched(config, weights)
    with torch.inference_mode():
        for read in reads:
            encoder.scores(read)
    largest = {name: value.numpy() for name, value in encoder.peaks.items()}
    moments = {name: (value / encoder.tokens).numpy() for name, value in encoder.products.items()}
    return Inputs(largest, moments)


class _Watched(TorchEncoder):
    def __init__(self, config: EncoderConfig, weights: Mapping[str, NDArray[np.float32]]) -> None:
        super().__init__(config, weights)
        self.peaks: dict[str, torch.Tensor] = {}
        self.products: dict[str, torch.Tensor] = {}
        self.tokens = 0

    def scores(self, read: Read) -> NDArray[np.float32]:
        self.tokens += len(read.canvas)
        return super().scores(read)

    def linear(self, x: torch.Tensor, name: str) -> torch.Tensor:
        matrix, peak, product = f"{name}.weight", x.abs().amax(dim=0), x.T @ x
        self.peaks[matrix] = torch.maximum(self.peaks[matrix], peak) if matrix in self.peaks else peak
        self.products[matrix] = self.products[matrix] + product if matrix in self.products else product
        return super().linear(x, name)
