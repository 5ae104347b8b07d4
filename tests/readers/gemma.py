"""A folder as DiffusionGemma is published, tiny and random: config, weights, image tower, tokenizer, sampler."""

from __future__ import annotations

import json
from pathlib import Path

from oneread.readers.checkpoint import Placement
from oneread.readers.reader import Reader, load_reader

from ..canvas.test_labels import SPECIALS, TEXT, gemma_like

PLACED = Placement("cpu", kv_bytes=2**22, rows=1024)
NAME = "tiny-diffusion-gemma"


def write_checkpoint(
    folder: Path, seed: int = 0, specials: tuple[str, ...] = (*SPECIALS, "<|think|>"), bfloat16: bool = False
) -> Path:
    """Needs torch and transformers. In float32 unless said otherwise."""
    from ..engines.onepass import tiny

    tokenizer = gemma_like(TEXT, specials)
    # The kernels that CUDA reads with take four experts a token, and none narrower than this.
    model = tiny.tiny_model(seed, vocab_size=tokenizer.get_vocab_size(), top_k_experts=4, moe_intermediate_size=64)
    model.config.canvas_length = 32
    model.config.image_token_id = tokenizer.token_to_id("<|image|>")
    tiny.saved(model.bfloat16() if bfloat16 else model, folder / NAME)
    tokenizer.save(str(folder / NAME / "tokenizer.json"))
    sampler = {"max_denoising_steps": 3, "eos_token_id": [1, tokenizer.token_to_id("<turn|>")]}
    (folder / NAME / "generation_config.json").write_text(json.dumps(sampler))
    (folder / NAME / "README.md").write_text("---\nlicense: apache-2.0\n---\n# A model\n")
    return folder / NAME


def open_checkpoint(folder: Path) -> Reader:
    return load_reader(folder, threads=1, placement=PLACED)
