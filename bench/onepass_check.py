"""Is the fast path right? Label log-probabilities against float32, beside what plain torch of the same precision loses.

The weights are of the released layer sizes, 6 layers of them, random with steady routing (onepass_model.py). Rounding alone
moves a result; the question is whether the kernels move it further than plain torch does with the same numbers:

* bf16: plain torch in bf16, the same weights; also where the fast path has the experts' weights in 12 bits, or in both forms
  (12 bits in the small passes and 16 in the large one);
* FP8 weights, rows kept wide: plain torch in bf16 with the FP8 weights widened;
* FP8 weights and rows: plain torch that rounds rows to FP8 where the kernels do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from onepass_model import TINY, config_of, packed_experts, steady_weights, widened

from oneread.engines.base import Read, Slot
from oneread.engines.onepass.diffusion_gemma import Steps
from oneread.engines.onepass.engine import OnePassModel
from oneread.engines.onepass.experts import gated
from oneread.engines.onepass.linear import FP8, Linear, quantise_rows
from oneread.engines.onepass.options import ExpertBits, Form, Options

FACTOR = 1.5
"""The fast path's error may be this many times plain torch's."""


def rounded(x: torch.Tensor) -> torch.Tensor:
    """x after a trip through FP8 with one scale a row."""
    values, scales = quantise_rows(x)
    return (values.float() * scales[..., None]).to(x.dtype)


class RoundedSteps(Steps):
    """Plain torch with rows rounded to FP8 before every FP8 matrix."""

    def linear(self, x: Any, weight: Linear) -> torch.Tensor:
        return weight(rounded(x) if weight.weight.dtype == FP8 else x)

    def experts(self, x: Any, chosen: Any, shares: Any, gate_up: Linear, down: Linear) -> torch.Tensor:
        x, out = rounded(x), torch.zeros_like(x)
        for expert in range(len(gate_up.weight)):
            rows, place = torch.where(chosen == expert)
            if not len(rows):
                continue
            inner = rounded(gated(gate_up[expert](x[rows])))
            out.index_add_(0, rows, (down[expert](inner) * shares[rows, place, None]).to(x.dtype))
        return out


def log_probabilities(engine: OnePassModel, reads: Sequence[Read]) -> np.ndarray:
    """Label log-probabilities of all reads, one pass."""
    out = []
    for read, reading in zip(reads, engine.forward(reads), strict=True):
        assert reading.log_sum_exp is not None
        out.append(reading.scores - np.repeat(reading.log_sum_exp, [len(s.labels) for s in read.slots]))
    return np.concatenate(out)


def some_reads(vocab: int, lengths: Sequence[int]) -> list[Read]:
    """Ragged reads; the last two share a prompt, or its beginning, with the second."""
    rng = np.random.default_rng(0)

    def read(prompt: np.ndarray) -> Read:
        slots = tuple(Slot(p, tuple(int(i) for i in rng.integers(0, vocab, 4))) for p in range(0, 8, 2))
        return Read(rng.integers(8, vocab, 32).astype(np.int32), slots, prompt)

    reads = [read(rng.integers(8, vocab, n).astype(np.int32)) for n in lengths]
    return [*reads, read(reads[1].prompt), read(reads[1].prompt[:200])]


def check(form: Form, bits: ExpertBits, options: Options, device: torch.device, dtype: torch.dtype, dry: bool) -> dict[str, Any]:
    """Mean and largest errors of the fast path and of plain torch; `ok` says whether the first is within `FACTOR`."""
    config = config_of(**({**TINY, "num_hidden_layers": 6} if dry else {"num_hidden_layers": 6, "vocab_size": 16384}))
    weights = steady_weights(config, form, device, dtype)
    small = some_reads(config.vocab, (5, 60, 40) if dry else (5, 300, 40))
    large = some_reads(config.vocab, (5, 90, 150) if dry else (5, 300, 2500 if bits == "12+16" else 1500))
    plain = OnePassModel(weights, Options(rows=4096, kv_bytes=0))
    if options.activations == "fp8":
        plain._steps = RoundedSteps(Options())
    wide = OnePassModel(widened(weights), Options(rows=4096, kv_bytes=0))
    own = packed_experts(replace(weights, layers=[*weights.layers]), bits == "12+16") if bits != 16 else weights
    fast = OnePassModel(own, replace(options, rows=4096, kv_bytes=2**28))
    errors: dict[str, list[np.ndarray]] = {"fast": [], "torch": []}
    spread = 0.0
    for reads in ([small[1]], small, large):
        want = log_probabilities(wide, reads)
        spread = max(spread, float(want.std()))
        errors["torch"].append(np.abs(log_probabilities(plain, reads) - want))
        for _ in range(2):  # the second finds its prompts in the cache
            errors["fast"].append(np.abs(log_probabilities(fast, reads) - want))
    found: dict[str, Any] = {}
    for name, parts in errors.items():
        joined = np.concatenate(parts)
        found[name] = {"mean": float(joined.mean()), "max": float(joined.max())}
    finite = bool(np.isfinite(found["fast"]["max"]))
    found |= {"spread": spread, "passes": [float(e.mean()) for e in errors["fast"]]}
    found["ok"] = finite and found["fast"]["mean"] <= FACTOR * found["torch"]["mean"] + 1e-5
    return found
