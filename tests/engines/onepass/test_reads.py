"""Fused reads equal transformers' two-pass reads, alone and packed with any others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from oneread.engines.base import NO_TOKENS, Read, Reading, Slot
from oneread.engines.onepass.diffusion_gemma import Steps
from oneread.engines.onepass.engine import OnePassModel
from oneread.errors import EngineError

from .tiny import VOCAB, WINDOW, expected, random_read, two_pass_logits

TOLERANCE = 1e-4
Open = Callable[..., OnePassModel]


def check(model: Any, reads: Sequence[Read], readings: Sequence[Reading]) -> None:
    assert len(reads) == len(readings)
    for read, reading in zip(reads, readings, strict=True):
        scores, log_sum_exp = expected(two_pass_logits(model, read), read)
        assert reading.scores.dtype == np.float32
        np.testing.assert_allclose(reading.scores, scores, atol=TOLERANCE, rtol=0)
        np.testing.assert_allclose(reading.log_sum_exp, log_sum_exp, atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("prompt", [1, 5, WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW + 7, 150])
def test_a_read_equals_transformers_two_passes(model: Any, open_engine: Open, prompt: int) -> None:
    read = random_read(np.random.default_rng(prompt), prompt, 16)
    check(model, [read], open_engine().forward([read]))


def test_the_logits_are_not_flat(model: Any) -> None:
    logits = two_pass_logits(model, random_read(np.random.default_rng(0), 20, 8))
    assert logits.std() > 0.5


@pytest.mark.parametrize("canvas", [1, 3, WINDOW + 9])
def test_a_canvas_of_any_width_sees_itself_whole(model: Any, open_engine: Open, canvas: int) -> None:
    read = random_read(np.random.default_rng(canvas), 40, canvas, slots=1)
    check(model, [read], open_engine().forward([read]))


def test_ragged_reads_share_a_pass(model: Any, open_engine: Open) -> None:
    rng = np.random.default_rng(1)
    reads = [random_read(rng, p, c) for p, c in [(3, 4), (60, 16), (25, 2), (7, 31), (90, 8)]]
    check(model, reads, open_engine().forward(reads))


def test_the_last_layer_computes_only_the_slots(open_engine: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    reads = [random_read(rng, 40, 8, slots=2), random_read(rng, 5, 4, slots=1)]
    rows: list[int] = []
    plain = Steps.experts
    monkeypatch.setattr(Steps, "experts", lambda self, x, *rest: (rows.append(len(x)), plain(self, x, *rest))[1])
    engine = open_engine()
    engine.forward(reads)
    assert rows == [57, 57, 57, 3]
    rows.clear()
    engine.forward([replace(reads[0], canvas=NO_TOKENS, slots=())])
    assert rows == [40, 40, 40], "of a prompt alone, only keys and values are wanted"


def test_work_on_another_card_makes_it_the_current_one(open_engine: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, entered = open_engine(), []
    monkeypatch.setattr(engine, "_device", torch.device("cuda", 1))
    monkeypatch.setattr(torch.cuda, "device", lambda device: (entered.append(device), nullcontext())[1])
    engine.forward([random_read(np.random.default_rng(0), 5, 4)])
    assert entered == [torch.device("cuda", 1)]


def test_packed_reads_equal_the_same_reads_one_by_one(open_engine: Open) -> None:
    rng = np.random.default_rng(2)
    reads = [random_read(rng, p, c) for p, c in [(3, 4), (60, 16), (25, 2)]]
    engine = open_engine()
    for together, read in zip(engine.forward(reads), reads, strict=True):
        (alone,) = engine.forward([read])
        np.testing.assert_allclose(together.scores, alone.scores, atol=1e-5)


def test_canvases_of_one_prompt_share_its_rows(model: Any, open_engine: Open) -> None:
    rng = np.random.default_rng(3)
    first = random_read(rng, 45, 16)
    draws = [replace(first, canvas=random_read(rng, 1, w).canvas, slots=(Slot(0, (5, 6)),)) for w in (16, 16, 4)]
    engine = open_engine()
    check(model, [first, *draws], engine.forward([first, *draws]))
    assert engine.prefix_stats.misses == 45
    assert engine.prefix_stats.shared == 3 * 45


def test_prompts_share_the_pages_they_begin_with(model: Any, open_engine: Open) -> None:
    rng = np.random.default_rng(4)
    base = random_read(rng, 50, 8)
    reads = [base]
    for keep, more in [(50, 13), (33, 20), (32, 1), (10, 30), (50, 0)]:
        tail = random_read(rng, max(more, 1), 6)
        reads.append(replace(tail, prompt=np.concatenate([base.prompt[:keep], tail.prompt[:more]])))
    engine = open_engine()
    check(model, reads, engine.forward(reads))
    assert engine.prefix_stats.shared > 0


def test_a_read_without_a_prompt(open_engine: Open) -> None:
    rng = np.random.default_rng(5)
    empty = replace(random_read(rng, 1, 6), prompt=NO_TOKENS)
    other = random_read(rng, 12, 6)
    engine = open_engine()
    together, alone = engine.forward([other, empty])[1], engine.forward([empty])[0]
    np.testing.assert_allclose(together.scores, alone.scores, atol=1e-5)


def test_segments_that_do_not_see_one_another_read_as_canvases_of_their_own(model: Any, open_engine: Open) -> None:
    rng = np.random.default_rng(6)
    parts = [replace(random_read(rng, 1, w), prompt=random_read(np.random.default_rng(9), 33, 4).prompt) for w in (5, 9, 7)]
    widths = [len(p.canvas) for p in parts]
    starts = np.cumsum([0, *widths[:-1]]).tolist()
    joined = Read(
        canvas=np.concatenate([p.canvas for p in parts]),
        slots=tuple(Slot(s.position + at, s.labels) for p, at in zip(parts, starts, strict=True) for s in p.slots),
        prompt=parts[0].prompt,
        segments=np.repeat(np.arange(3), widths).astype(np.int16),
        sees=np.eye(3, dtype=np.bool_),
        positions=np.concatenate([np.arange(w) for w in widths]).astype(np.int32),
    )
    (reading,) = open_engine().forward([joined])
    whole = [expected(two_pass_logits(model, p), p) for p in parts]
    np.testing.assert_allclose(reading.scores, np.concatenate([s for s, _ in whole]), atol=TOLERANCE)
    np.testing.assert_allclose(reading.log_sum_exp, np.concatenate([z for _, z in whole]), atol=TOLERANCE)


def test_more_reads_than_a_pass_takes_are_read_in_several(model: Any, open_engine: Open) -> None:
    rng = np.random.default_rng(7)
    reads = [random_read(rng, 30, 8) for _ in range(5)]
    check(model, reads, open_engine(rows=80).forward(reads))


def test_what_cannot_be_read_is_refused(open_engine: Open) -> None:
    rng = np.random.default_rng(8)
    engine = open_engine(rows=64)
    with pytest.raises(EngineError, match="at most 64 tokens"):
        engine.forward([random_read(rng, 60, 8)])
    with pytest.raises(EngineError, match=f"between 0 and {VOCAB - 1}"):
        engine.forward([replace(random_read(rng, 6, 8), prompt=np.array([VOCAB], np.int32))])
    with pytest.raises(EngineError, match="without labels"):
        engine.forward([replace(random_read(rng, 6, 8), slots=(Slot(0),))])
    assert len(engine.forward([random_read(rng, 6, 8)])) == 1, "a refused read leaves the engine whole"
