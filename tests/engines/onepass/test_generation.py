"""Generation equals transformers' `generate`, token for token, under the same seed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers.models.diffusion_gemma.generation_diffusion_gemma import (
    DiffusionGemmaGenerationConfig,
    EntropyBoundSamplerConfig,
)

from oneread.engines.onepass.config import read_config
from oneread.engines.onepass.engine import OnePassModel
from oneread.engines.onepass.generation import generate
from oneread.engines.onepass.options import Options
from oneread.engines.onepass.sampler import Sampler, read_sampler
from oneread.engines.onepass.weights import load_weights
from oneread.errors import EngineError, ReaderError

from .tiny import random_read, saved, tiny_model

Open = Callable[..., OnePassModel]


@pytest.fixture(scope="module")
def model() -> Any:
    """A model whose self-conditioning is weaker: a random one multiplies rounding errors tenfold at every step."""
    made = tiny_model()
    with torch.no_grad():
        made.model.decoder.self_conditioning.down_proj.weight.mul_(0.1)
    return made


@pytest.fixture(scope="module")
def open_engine(model: Any, tmp_path_factory: pytest.TempPathFactory) -> Open:
    folder = saved(model, tmp_path_factory.mktemp("writer"))
    weights = load_weights(folder, read_config(folder), torch.device("cpu"))
    return lambda rows=512, kv_bytes=0: OnePassModel(weights, Options(rows=rows, kv_bytes=kv_bytes))


def transformers_text(model: Any, prompt: np.ndarray, tokens: int, seed: int, sampler: Sampler) -> list[int]:
    settings = DiffusionGemmaGenerationConfig(
        max_new_tokens=tokens,
        max_denoising_steps=sampler.steps,
        sampler_config=EntropyBoundSamplerConfig(entropy_bound=sampler.entropy_bound),
        t_min=sampler.t_min,
        t_max=sampler.t_max,
        stability_threshold=sampler.stability,
        confidence_threshold=sampler.confidence,
        eos_token_id=list(sampler.ends),
        pad_token_id=0,
    )
    torch.manual_seed(seed)
    made = model.generate(torch.from_numpy(prompt.astype(np.int64))[None], generation_config=settings)
    return made.sequences[0, len(prompt) :].tolist()


@pytest.mark.parametrize(
    ("prompt", "tokens", "sampler"),
    [
        (12, 8, Sampler(steps=6, ends=(1,))),
        (40, 32, Sampler(steps=5, entropy_bound=3.0, ends=(1,))),
        (5, 24, Sampler(steps=4, entropy_bound=2.0, confidence=2.5, stability=1, ends=(1,))),
        (30, 24, Sampler(steps=4, entropy_bound=2.0, confidence=50.0, stability=0, ends=(1,))),
    ],
)
@pytest.mark.parametrize("kv_bytes", [0, 2**22])
def test_text_equals_transformers_token_for_token(
    model: Any, open_engine: Open, prompt: int, tokens: int, sampler: Sampler, kv_bytes: int
) -> None:
    start = random_read(np.random.default_rng(prompt), prompt, 4).prompt
    engine = open_engine(kv_bytes=kv_bytes)
    blocks = list(generate(engine, start, tokens, 5, sampler))
    want = transformers_text(model, start, tokens, 5, sampler)
    got = np.concatenate([b.tokens for b in blocks]).tolist()
    assert got == want[: len(got)]
    assert len(got) == (want.index(1) if 1 in want else tokens)


def test_a_step_is_conditioned_on_the_one_before(open_engine: Open) -> None:
    read = random_read(np.random.default_rng(4), 20, 8)
    engine = open_engine()
    first = engine.denoise(read, None)
    second = engine.denoise(read, engine.expected_embeddings(first))
    assert (first - second).abs().max() > 0.05


def test_an_end_token_ends_the_text(model: Any, open_engine: Open) -> None:
    start = random_read(np.random.default_rng(0), 12, 4).prompt
    engine = open_engine(kv_bytes=2**22)
    free = list(generate(engine, start, 32, 1, Sampler(steps=3, ends=())))
    text = np.concatenate([b.tokens for b in free])
    stop = int(text[11])
    first = text.tolist().index(stop)
    ended = list(generate(engine, start, 32, 1, Sampler(steps=3, ends=(stop,))))
    assert np.concatenate([b.tokens for b in ended]).tolist() == text[:first].tolist()
    assert ended[-1].last
    assert ended[-1].end == stop


def test_a_block_is_yielded_when_it_is_committed_and_the_last_is_cut(open_engine: Open) -> None:
    start = random_read(np.random.default_rng(1), 12, 4).prompt
    stream = generate(open_engine(kv_bytes=2**22), start, 19, 1, Sampler(steps=2, ends=()))
    sizes = [(len(b.tokens), b.last) for b in stream]
    assert sizes == [(8, False), (8, False), (3, True)]


def test_the_same_seed_writes_the_same_text_whatever_is_read_between(open_engine: Open) -> None:
    rng = np.random.default_rng(2)
    start = random_read(rng, 12, 4).prompt
    engine = open_engine(kv_bytes=2**22)
    alone = [b.tokens.tolist() for b in generate(engine, start, 16, 3, Sampler(steps=3, ends=()))]
    between = []
    for block in generate(engine, start, 16, 3, Sampler(steps=3, ends=())):
        between.append(block.tokens.tolist())
        engine.forward([random_read(rng, 50, 6)])
    assert between == alone
    other = [b.tokens.tolist() for b in generate(engine, start, 16, 4, Sampler(steps=3, ends=()))]
    assert other != alone


def test_a_prompt_that_leaves_no_room_is_refused(open_engine: Open) -> None:
    with pytest.raises(EngineError, match="at most 64 tokens"):
        list(generate(open_engine(rows=64), random_read(np.random.default_rng(3), 60, 4).prompt, 8, 1, Sampler()))


def test_the_sampler_comes_from_the_checkpoint(tmp_path: Path, model: Any) -> None:
    written = read_sampler(saved(model, tmp_path / "written"))
    assert written == Sampler(), "transformers writes nulls: the published values hold"
    (tmp_path / "generation_config.json").write_text(
        '{"max_denoising_steps": 20, "t_min": 0.1, "sampler_config": {"entropy_bound": 0.3}, "eos_token_id": [4, 5]}'
    )
    assert read_sampler(tmp_path) == Sampler(steps=20, t_min=0.1, entropy_bound=0.3, ends=(4, 5))
    (tmp_path / "generation_config.json").write_text("{")
    with pytest.raises(ReaderError, match="is not JSON"):
        read_sampler(tmp_path)


def test_who_leaves_and_comes_again_lets_others_in_first(open_engine: Open) -> None:
    engine = open_engine()
    came: list[str] = []

    def read() -> None:
        with engine.turn():
            came.append("read")

    other = threading.Thread(target=read)
    with engine.turn():
        other.start()
        while not engine._first_in_line.locked():
            time.sleep(0.001)
    with engine.turn():
        came.append("step")
    other.join()
    assert came == ["read", "step"]
