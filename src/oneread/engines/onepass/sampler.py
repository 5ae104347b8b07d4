"""DiffusionGemma's own sampler: which predictions of a step are kept, at which temperature, and when a text ends."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ...errors import ReaderError


@dataclass(frozen=True, slots=True)
class Sampler:
    """The sampler's constants.

    Attributes:
        steps: most denoising steps of a block.
        t_max, t_min: temperature before the first step and after the last, falling linearly between.
        entropy_bound: nats of summed entropy that the accepted positions may have.
        stability: steps for which the predictions must stay the same.
        confidence: nats of mean entropy below which a stable block is done.
        ends: token ids that end the text.
    """

    steps: int = 48
    t_min: float = 0.4
    t_max: float = 0.8
    entropy_bound: float = 0.1
    stability: int = 1
    confidence: float = 0.005
    ends: tuple[int, ...] = (1, 106, 50)

    def temperature(self, left: float) -> float:
        """At a step with this share of the steps left, its own included: from `t_max` at 1 down to `t_min` at 0."""
        return self.t_min + (self.t_max - self.t_min) * left


def read_sampler(folder: Path) -> Sampler:
    """The sampler of a checkpoint's ``generation_config.json``; what it leaves out has the published values.

    Raises:
        ReaderError: the file is not JSON, or a value in it cannot be.
    """
    path = folder / "generation_config.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError as error:
        raise ReaderError(f"{path}: is not JSON") from error
    inner = raw.get("sampler_config") or {} if isinstance(raw, dict) else None
    if not isinstance(inner, dict):
        raise ReaderError(f"{path}: should be an object, and sampler_config in it another")
    ends = raw.get("eos_token_id")
    given: dict[str, Any] = {
        "steps": raw.get("max_denoising_steps"),
        "t_min": raw.get("t_min"),
        "t_max": raw.get("t_max"),
        "entropy_bound": inner.get("entropy_bound"),
        "stability": raw.get("stability_threshold"),
        "confidence": raw.get("confidence_threshold"),
        "ends": tuple(ends) if isinstance(ends, list) else None if ends is None else (ends,),
    }
    sampler = Sampler(**{name: value for name, value in given.items() if value is not None})
    fits = {
        "max_denoising_steps": _whole(sampler.steps, 1),
        "stability_threshold": _whole(sampler.stability, 0),
        "eos_token_id": all(_whole(end, 0) for end in sampler.ends),
        "t_min, t_max": all(_positive(t) for t in (sampler.t_min, sampler.t_max)),
        "entropy_bound": _positive(sampler.entropy_bound),
        "confidence_threshold": _positive(sampler.confidence),
    }
    if wrong := [name for name, fit in fits.items() if not fit]:
        raise ReaderError(f"{path}: cannot be so: {', '.join(wrong)}")
    return sampler


def _whole(value: object, least: int) -> bool:
    return type(value) is int and value >= least


def _positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


def entropy_of(logits: Tensor) -> Tensor:
    """Entropy in nats of each row's distribution, float32 (rows,)."""
    log_p = logits - logits.logsumexp(-1, keepdim=True)
    return -(log_p * torch.softmax(log_p, dim=-1)).sum(-1)


def accepted(entropy: Tensor, bound: float) -> Tensor:
    """bool (rows,): positions taken in order of entropy while those before them sum to no more than the bound."""
    ordered, order = entropy.sort()
    before = ordered.cumsum(0) - ordered
    return torch.zeros_like(before, dtype=torch.bool).scatter(0, order, before <= bound)
