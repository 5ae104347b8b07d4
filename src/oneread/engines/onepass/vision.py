"""Images: transformers' Gemma 4 vision tower turns patches into soft tokens of the text model's width."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...errors import MissingExtra, ReaderError
from ..base import PromptImage
from .checkpoint import list_tensors, read_tensors
from .config import Config
from .packing import ImageRows

BUDGETS = (70, 140, 280, 560, 1120)
"""Soft tokens that one image may take at most; the model knows no others."""

TOWER = "model.encoder.vision_tower."
PROJECTION = "model.encoder.embed_vision.embedding_projection.weight"


@dataclass(slots=True, eq=False)
class VisionTower:
    """Prepares images and embeds them.

    Attributes:
        tower: transformers' Gemma4VisionModel.
        projection: (hidden, vision hidden), applied to the tower's normed output.
        processor: transformers' Gemma 4 image processor.
    """

    tower: Any
    projection: Tensor
    processor: Any
    epsilon: float

    def prepare(self, pixels: NDArray[np.uint8], budget: int = 280) -> PromptImage:
        """Resize an image to a token budget, keeping its shape, and cut it into patches. Starts at 0; move it with `replace`.

        Args:
            pixels: uint8 (height, width, 3), RGB.
            budget: one of `BUDGETS`.

        Raises:
            ValueError: the budget is not one of these, or the image is too long and thin for it.
        """
        if budget not in BUDGETS:
            raise ValueError(f"an image's token budget should be one of {', '.join(map(str, BUDGETS))}")
        made = self.processor(pixels, max_soft_tokens=budget, return_tensors="np", input_data_format="channels_last")
        positions = made["image_position_ids"][0].astype(np.int32)
        real = positions[:, 0] >= 0
        digest = hashlib.sha256(pixels.tobytes() + repr((pixels.shape, budget)).encode()).digest()
        patches = made["pixel_values"][0][real].astype(np.float32)
        return PromptImage(0, int(made["num_soft_tokens_per_image"][0]), patches, positions[real], digest)

    def see(self, data: bytes, width: int, height: int, budget: int) -> PromptImage:
        """See `base.Eyes`: decode with Pillow, turn it as its EXIF says, and prepare it."""
        from PIL import Image, ImageOps

        try:
            with Image.open(BytesIO(data), formats=("PNG", "JPEG", "WEBP", "GIF")) as file:
                as_told = file.size == (width, height)
                pixels = _rgb(ImageOps.exif_transpose(file)) if as_told else None
        except MemoryError:
            raise
        except Exception as error:  # damaged bytes make Pillow raise nearly anything, struct.error and TypeError too
            raise ValueError("The image's file is damaged") from error
        if pixels is None:
            raise ValueError("The image is not of the size that its header told")
        try:
            return self.prepare(pixels, budget)
        except ValueError as error:
            raise ValueError(f"The image is too long and thin for {budget} tokens") from error

    @torch.inference_mode()
    def embed(self, images: Sequence[PromptImage]) -> list[Tensor]:
        """(tokens, hidden) for each image, on the tower's device."""
        return [self._embed(image) for image in images]

    def _embed(self, image: PromptImage) -> Tensor:
        device, dtype = self.projection.device, self.projection.dtype
        patches = torch.from_numpy(image.patches).to(device, dtype)[None]
        positions = torch.from_numpy(image.patch_positions).to(device, torch.int64)[None]
        seen = self.tower(pixel_values=patches, pixel_position_ids=positions).last_hidden_state
        wide = seen.float()
        normed = (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.epsilon)).to(dtype)
        return torch.nn.functional.linear(normed, self.projection)


def _rgb(image: Any) -> NDArray[np.uint8]:
    """A Pillow image as uint8 (height, width, 3). Grey of 16 bits is scaled; Pillow would cut it off at 255."""
    if image.mode.startswith("I"):
        grey = np.asarray(image).astype(np.float32) / 257
        return np.repeat(np.clip(np.rint(grey), 0, 255).astype(np.uint8)[..., None], 3, axis=2)
    return np.asarray(image.convert("RGB"))


def load_vision(folder: Path, config: Config, device: torch.device, dtype: torch.dtype) -> VisionTower:
    """Read a checkpoint's image tower onto a device.

    Raises:
        MissingExtra: transformers or Pillow is not installed.
        ReaderError: the checkpoint has no tower, or its tensors do not fit the config.
    """
    try:
        from transformers import Gemma4VisionConfig, Gemma4VisionModel
        from transformers.models.gemma4.image_processing_pil_gemma4 import Gemma4ImageProcessorPil
    except ImportError as error:
        raise MissingExtra("images need the extra 'vision': pip install 'oneread[torch,vision]'") from error
    entries = {name: e for name, e in list_tensors(folder).items() if name.startswith(TOWER) or name == PROJECTION}
    if config.vision is None or PROJECTION not in entries:
        raise ReaderError(f"{folder}: has no image tower")
    settings = Gemma4VisionConfig(**config.vision)
    with torch.device(device):
        tower: Any = Gemma4VisionModel(settings)
    tower.to(dtype).eval()
    found = {name.removeprefix(TOWER): tensor for name, tensor in read_tensors(entries)}
    projection = found.pop(PROJECTION).to(device, dtype)
    try:
        tower.load_state_dict(found)
    except RuntimeError as error:
        raise ReaderError(f"{folder}: the image tower does not fit its config. {error}") from error
    processor = Gemma4ImageProcessorPil(patch_size=settings.patch_size, pooling_kernel_size=settings.pooling_kernel_size)
    return VisionTower(tower, projection, processor, settings.rms_norm_eps)


def image_rows(placed: Sequence[ImageRows], tower: VisionTower) -> tuple[Tensor, Tensor]:
    """Embeddings of a pass's image rows: int64 (i,) row numbers and (i, hidden) values. Each image is embedded once."""
    images = {image.image.digest: image.image for image in placed}
    embedded = dict(zip(images, tower.embed(list(images.values())), strict=True))
    values = torch.cat([embedded[p.image.digest][p.offset : p.offset + p.count] for p in placed])
    rows = np.concatenate([np.arange(p.row, p.row + p.count) for p in placed])
    return torch.from_numpy(rows).to(values.device), values
