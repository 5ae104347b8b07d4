"""Images: transformers' Gemma 4 vision tower turns patches into soft tokens of the text model's width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from ..base import PromptImage
from .packing import ImageRows


class VisionTower(Protocol):
    """Images -> soft tokens."""

    def embed(self, images: Sequence[PromptImage]) -> list[Tensor]:
        """(tokens, hidden) for each image, on the model's device."""
        ...


def image_rows(placed: Sequence[ImageRows], tower: VisionTower) -> tuple[Tensor, Tensor]:
    """Embeddings of a pass's image rows: int64 (i,) row numbers and (i, hidden) values. Each image is embedded once."""
    images = {image.image.digest: image.image for image in placed}
    embedded = dict(zip(images, tower.embed(list(images.values())), strict=True))
    values = torch.cat([embedded[p.image.digest][p.offset : p.offset + p.count] for p in placed])
    rows = np.concatenate([np.arange(p.row, p.row + p.count) for p in placed])
    return torch.from_numpy(rows).to(values.device), values
