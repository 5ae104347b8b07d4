"""Images in a prompt: transformers' tower, soft tokens that see one another both ways, pages that hold them."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from transformers.cache_utils import DynamicCache

from oneread.engines.base import PromptImage, Read
from oneread.engines.onepass.config import read_config
from oneread.engines.onepass.engine import OnePassModel
from oneread.engines.onepass.options import Options
from oneread.engines.onepass.vision import VisionTower, load_vision
from oneread.engines.onepass.weights import load_weights
from oneread.errors import EngineError, ReaderError

from .tiny import WINDOW, expected, random_read

IMAGE = 7
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def tower(folder: Path) -> VisionTower:
    return load_vision(folder, read_config(folder), CPU, torch.float32)


def picture(tower: VisionTower, seed: int, height: int = 96, width: int = 240) -> PromptImage:
    return tower.prepare(np.random.default_rng(seed).integers(0, 256, (height, width, 3)).astype(np.uint8), 70)


def with_images(read: Read, images: Sequence[tuple[int, PromptImage]]) -> Read:
    """The read with images put into its prompt, each at a position of the text."""
    parts, placed, at, text = [], [], 0, 0
    for where, image in images:
        parts += [read.prompt[text:where], np.full(image.tokens, IMAGE, np.int32)]
        placed.append(replace(image, start=at + where - text))
        at, text = at + where - text + image.tokens, where
    return replace(read, prompt=np.concatenate([*parts, read.prompt[text:]]), images=tuple(placed))


def transformers_logits(model: Any, read: Read) -> torch.Tensor:
    """transformers' two passes with its own masks, as `generate` calls them."""
    ids = torch.from_numpy(read.prompt.astype(np.int64))[None]
    encoder, cache = model.model.encoder, DynamicCache(config=model.config.text_config)
    positions = torch.arange(ids.shape[1])[None]
    with torch.no_grad():
        masks = encoder.create_masks_for_generate(
            config=model.config,
            inputs_embeds=torch.empty(1, ids.shape[1], 0),
            attention_mask=torch.ones(ids.shape, dtype=torch.bool),
            cache=cache,
            position_ids=positions,
            mm_token_type_ids=(ids == IMAGE).long(),
        )
        most = max(len(i.patches) for i in read.images)
        patches = [np.pad(i.patches, ((0, most - len(i.patches)), (0, 0))) for i in read.images]
        where = [np.pad(i.patch_positions, ((0, most - len(i.patches)), (0, 0)), constant_values=-1) for i in read.images]
        encoder(
            input_ids=ids,
            pixel_values=torch.from_numpy(np.stack(patches)),
            image_position_ids=torch.from_numpy(np.stack(where)).long(),
            attention_mask=masks,
            position_ids=positions,
            cache=cache,
        )
        canvas = torch.from_numpy(read.canvas.astype(np.int64))[None]
        at = ids.shape[1] + torch.arange(canvas.shape[1])[None]
        return model(input_ids=None, cache=cache, decoder_input_ids=canvas, decoder_position_ids=at).logits[0]


@pytest.fixture
def engine(folder: Path, tower: VisionTower) -> OnePassModel:
    weights = load_weights(folder, read_config(folder), CPU)
    return OnePassModel(weights, Options(rows=512, kv_bytes=2**20), tower)


def agree(model: Any, engine: OnePassModel, reads: Sequence[Read]) -> None:
    for read, reading in zip(reads, engine.forward(reads), strict=True):
        scores, log_sum_exp = expected(transformers_logits(model, read), read)
        np.testing.assert_allclose(reading.scores, scores, atol=1e-4)
        np.testing.assert_allclose(reading.log_sum_exp, log_sum_exp, atol=1e-4)


def test_reads_with_images_equal_transformers(model: Any, tower: VisionTower, engine: OnePassModel) -> None:
    rng = np.random.default_rng(0)
    small, large = picture(tower, 1), picture(tower, 2, 200, 200)
    assert large.tokens > WINDOW, "an image longer than the window must still see itself whole"
    reads = [
        with_images(random_read(rng, 9, 6), [(4, small)]),
        with_images(random_read(rng, 40, 6), [(3, small), (20, large)]),
        random_read(rng, 30, 6),
    ]
    for read, reading in zip(reads[:2], engine.forward(reads)[:2], strict=True):
        scores, _ = expected(transformers_logits(model, read), read)
        np.testing.assert_allclose(reading.scores, scores, atol=1e-4)


def test_an_image_shared_by_prompts_is_read_whole_by_each(model: Any, tower: VisionTower, engine: OnePassModel) -> None:
    rng = np.random.default_rng(1)
    image, base = picture(tower, 3, 160, 240), random_read(rng, 5, 6)
    reads = [with_images(replace(random_read(rng, 1, 6), prompt=base.prompt), [(5, image)])]
    for more in (3, 20):
        tail = random_read(rng, more, 6)
        reads.append(with_images(replace(tail, prompt=np.concatenate([base.prompt, tail.prompt])), [(5, image)]))
    agree(model, engine, reads)
    again = random_read(rng, 11, 6)
    agree(model, engine, [with_images(replace(again, prompt=np.concatenate([base.prompt, again.prompt])), [(5, image)])])
    assert engine.prefix_stats.hits >= image.tokens


def test_another_image_in_the_same_place_is_not_found_in_the_cache(model: Any, tower: VisionTower, engine: OnePassModel) -> None:
    read = random_read(np.random.default_rng(2), 9, 6)
    agree(model, engine, [with_images(read, [(2, picture(tower, 4))])])
    agree(model, engine, [with_images(read, [(2, picture(tower, 5))])])


def test_an_image_takes_the_tokens_of_its_budget(tower: VisionTower) -> None:
    pixels = np.zeros((480, 640, 3), np.uint8)
    sizes = [tower.prepare(pixels, budget).tokens for budget in (70, 140, 280)]
    assert sizes == sorted(sizes)
    assert all(0.5 * budget < size <= budget for size, budget in zip(sizes, (70, 140, 280), strict=True))
    with pytest.raises(ValueError, match="70, 140, 280, 560, 1120"):
        tower.prepare(pixels, 100)


def test_a_reader_without_its_tower_refuses_images(folder: Path, tower: VisionTower, open_engine: Any) -> None:
    read = with_images(random_read(np.random.default_rng(3), 9, 6), [(2, picture(tower, 6))])
    with pytest.raises(EngineError, match="without its image tower"):
        open_engine().forward([read])


def test_a_checkpoint_without_a_tower_is_refused(folder: Path) -> None:
    config = replace(read_config(folder), vision=None)
    with pytest.raises(ReaderError, match="no image tower"):
        load_vision(folder, config, CPU, torch.float32)


def png(pixels: np.ndarray, **more: Any) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG", **more)
    return stream.getvalue()


def test_grey_of_16_bits_is_seen_as_the_same_grey_of_8(tower: VisionTower) -> None:
    grey = np.arange(96 * 96, dtype=np.uint32).reshape(96, 96) * 255 // (96 * 96)
    eight, sixteen = (
        tower.see(png(grey.astype(np.uint8)), 96, 96, 70),
        tower.see(png((grey * 257).astype(np.uint16)), 96, 96, 70),
    )
    assert np.ptp(eight.patches) > 0.9
    np.testing.assert_array_equal(sixteen.patches, eight.patches)


def test_whatever_is_damaged_in_a_file_is_refused_in_words_of_ours(tower: VisionTower) -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "a description"
    whole = png(np.zeros((6, 9, 3), np.uint8), exif=exif.tobytes())
    chance, said = random.Random(1), set()
    for _ in range(4000):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 2, 5))):
            data[chance.randrange(24, len(data))] = chance.randrange(256)
        try:
            tower.see(bytes(data[: chance.choice((len(data), chance.randrange(24, len(data))))]), 9, 6, 70)
        except ValueError as error:
            said.add(str(error))
    assert said == {"The image's file is damaged"}


def test_what_pillow_raises_over_damage_is_a_damaged_file(tower: VisionTower, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: Any) -> None:
        raise TypeError("bad operand type for abs(): 'str'")

    monkeypatch.setattr("PIL.ImageOps.exif_transpose", fails)
    with pytest.raises(ValueError, match="The image's file is damaged"):
        tower.see(png(np.zeros((6, 9, 3), np.uint8)), 9, 6, 70)
