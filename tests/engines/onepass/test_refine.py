"""Reads of several steps: only the slots move, and the last step is what transformers would read there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from transformers.cache_utils import DynamicCache

from oneread.engines.base import PAGE, Read, Slot, new_tokens
from oneread.engines.drain import DrainRate
from oneread.engines.onepass import refine
from oneread.engines.onepass.engine import OnePassModel
from oneread.engines.turns import Call, Turns

from .tiny import expected, random_read, two_pass_logits

Open = Callable[..., OnePassModel]


def second_canvas(engine: OnePassModel, read: Read, logits: torch.Tensor) -> tuple[np.ndarray, torch.Tensor]:
    """What a first step of two makes of a read's slots: the next canvas, and the tempered logits that condition it."""
    rows = logits[[slot.position for slot in read.slots]] / engine.sampler.temperature(1.0)
    chance = torch.Generator().manual_seed(refine._seed(read))
    return refine._next(read, rows, engine.sampler, chance), rows


def test_a_second_step_equals_transformers_where_every_position_is_a_slot(model: Any, open_engine: Open) -> None:
    engine = open_engine()
    read = random_read(np.random.default_rng(0), 30, 6)
    read = replace(read, slots=tuple(Slot(i, (20 + i, 90 + i)) for i in range(6)), steps=2)
    with torch.no_grad():
        cache = DynamicCache(config=model.config.text_config)
        model.model.encoder(input_ids=torch.from_numpy(read.prompt.astype(np.int64))[None], cache=cache)
        canvas, conditions = second_canvas(engine, read, two_pass_logits(model, read))
        logits = model(
            input_ids=None,
            cache=cache,
            decoder_input_ids=torch.from_numpy(canvas.astype(np.int64))[None],
            decoder_position_ids=30 + torch.arange(6)[None],
            self_conditioning_logits=conditions[None],
        ).logits[0]
    (reading,) = engine.forward([read])
    scores, log_sum_exp = expected(logits, read)
    np.testing.assert_allclose(reading.scores, scores, atol=1e-3)
    np.testing.assert_allclose(reading.log_sum_exp, log_sum_exp, atol=1e-3)
    (once,) = engine.forward([replace(read, steps=1)])
    assert np.abs(once.scores - reading.scores).max() > 0.05


def test_all_but_the_slots_stays_pinned(model: Any, open_engine: Open) -> None:
    engine = open_engine()
    read = replace(random_read(np.random.default_rng(1), 30, 8), steps=2)
    canvas, conditions = second_canvas(engine, read, two_pass_logits(model, read))
    slots = [slot.position for slot in read.slots]
    pinned = np.setdiff1d(np.arange(8), slots)
    np.testing.assert_array_equal(canvas[pinned], read.canvas[pinned])
    soft = torch.zeros(8, engine.weights.config.hidden)
    with torch.inference_mode():
        soft[slots] = engine.expected_embeddings(conditions)
        scores, _ = expected(engine.denoise(replace(read, canvas=canvas), soft), read)
    np.testing.assert_allclose(engine.forward([read])[0].scores, scores, atol=1e-3)


def test_a_reading_of_several_steps_depends_on_nothing_beside_it(open_engine: Open) -> None:
    rng = np.random.default_rng(5)
    mixed = [
        replace(random_read(rng, 20, 6), steps=steps, full=full) for steps, full in ((1, False), (3, False), (3, True), (1, True))
    ]
    engine = open_engine(kv_bytes=2**22)
    together = engine.forward(mixed)
    for read, reading in zip(mixed, together, strict=True):
        (alone,) = engine.forward([read])
        np.testing.assert_allclose(alone.scores, reading.scores, atol=1e-3)
        assert (reading.tops is None) is not read.full


def test_a_full_read_names_the_most_probable_token(model: Any, open_engine: Open) -> None:
    read = replace(random_read(np.random.default_rng(3), 20, 6), full=True)
    (reading,) = open_engine().forward([read])
    logits = two_pass_logits(model, read)
    assert reading.tops is not None
    assert reading.tops.tolist() == [int(logits[slot.position].argmax()) for slot in read.slots]
    (plain,) = open_engine().forward([replace(read, full=False)])
    np.testing.assert_allclose(plain.scores, reading.scores, atol=1e-5)


def test_a_shared_prompt_is_counted_once() -> None:
    read = random_read(np.random.default_rng(4), 40, 6)
    assert new_tokens(read, None) == 46
    assert new_tokens(replace(read, prompt=read.prompt.copy()), read) == 6
    longer = replace(read, prompt=np.concatenate([read.prompt[:35], read.prompt[:9]]))
    assert new_tokens(longer, read) == 50 - (35 - PAGE + 1)
    assert new_tokens(random_read(np.random.default_rng(5), 40, 6), read) == 46


def test_reads_of_one_prompt_fill_a_pass_by_what_is_computed() -> None:
    read = random_read(np.random.default_rng(6), 60, 4, slots=1)
    same = [replace(read, prompt=read.prompt.copy()) for _ in range(9)]
    others = [random_read(np.random.default_rng(seed), 60, 4, slots=1) for seed in range(9)]
    for reads, together in ((same, 9), (others, 1)):
        turns = Turns(100)
        turns.add(Call(reads, [0] * 9, 0.0))
        assert len(turns.next(DrainRate(), 0.0)) == together
