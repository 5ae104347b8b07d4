"""A checkpoint's folder -> an engine, ready to read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import rich
import torch

from ...errors import ReaderError
from .config import Config, read_config
from .diffusion_gemma import Weights
from .engine import OnePassModel
from .fit import Fit, check_fit, measure_fit
from .kernels.plan import most_packed
from .options import ExpertBits, Options
from .packed import ROUNDED_BY
from .sampler import read_sampler
from .vision import load_vision
from .weights import expert_form, load_weights

SHARED_BYTES = 227 * 1024
"""Shared memory that the largest block shapes of `kernels.plan` take."""


def load_onepass(
    folder: Path,
    device: str = "cuda",
    options: Options | None = None,
    dtype: torch.dtype | None = None,
    images: bool = False,
    progress: bool = True,
) -> OnePassModel:
    """Load DiffusionGemma.

    Args:
        device: ``"cuda"``, ``"cuda:1"``, ``"cpu"``...
        options: None takes the defaults for the device.
        dtype: of everything that is not quantised; None keeps the checkpoint's own.
        images: whether to load the image tower (extra ``vision``).
        progress: whether to draw bars on the terminal, and say what was rounded.

    Raises:
        ReaderError: the checkpoint is damaged, is not DiffusionGemma, cannot be kept as the options say, or does not fit the
            device; with the arithmetic.
        MissingExtra: images are asked for without the extra ``vision``.
    """
    where = torch.device(device)
    if where.type == "cuda" and not torch.cuda.is_available():
        raise ReaderError("no CUDA device was found; device='cpu' runs without one")
    if options is None:
        options = default_options(folder, device)
    config = read_config(folder)
    check_fit(fit_on(folder, where, options, images))
    weights = load_weights(folder, config, where, dtype, progress, options.expert_bits)
    if progress and (told := rounding(weights)) is not None:
        rich.get_console().print(told, markup=False, highlight=False, soft_wrap=True)
    vision = load_vision(folder, config, where, weights.dtype) if images else None
    model = OnePassModel(weights, options, vision, read_sampler(folder))
    model.warm_up(progress)
    return model


def rounding(weights: Weights) -> str | None:
    """What was rounded of experts' weights in 12 bits, in words; None where they are as they came."""
    experts = [stack for layer in weights.layers for stack in (layer.experts_gate_up, layer.experts_down)]
    both = any(stack.twin is not None for stack in experts)
    stacks = [packed for stack in experts if (packed := stack.twin or stack).high is not None]
    if not stacks:
        return None
    # `low` holds two outputs in a number.
    share = 100 * weights.rounded / sum(2 * stack.weight.numel() for stack in stacks)
    part = "none" if not weights.rounded else "less than 0.01 %" if share < 0.01 else f"{share:.2f} %"
    most = f", by at most {ROUNDED_BY} of their row's largest" if weights.rounded else ""
    if not both:
        return f"experts' weights in 12 bits: {part} of them rounded{most}"
    rows = most_packed(weights.config.experts_per_token, weights.config.experts)
    return (
        f"experts' weights in 12 bits for passes of up to {rows:,} rows, in 16 for larger ones: "
        f"{part} of those in 12 bits rounded{most}"
    )


def default_options(
    folder: Path, device: str, rows: int | None = None, kv_bytes: int | None = None, expert_bits: ExpertBits = 16
) -> Options:
    """The options for a checkpoint on a device, with the rows of a pass and the bytes of the prefix cache where given.

    Plain torch where the fused kernels cannot run (`lacking`).

    Raises:
        ReaderError: both forms of experts are asked for, where none of their fused kernels can run.
    """
    where = torch.device(device)
    lacks = lacking(where, read_config(folder)) if where.type == "cuda" else "they need a CUDA device"
    chosen = Options.for_cuda(expert_form(folder)) if lacks is None else Options()
    if expert_bits == "12+16" and chosen.experts != "triton":
        why = lacks or "NVFP4 weights have none"
        raise ReaderError(f"12 and 16 bits side by side are for the experts' fused kernels only: {why}; leave --expert-bits out")
    rows, kv_bytes = chosen.rows if rows is None else rows, chosen.kv_bytes if kv_bytes is None else kv_bytes
    return replace(chosen, rows=rows, kv_bytes=kv_bytes, expert_bits=expert_bits)


def lacking(device: torch.device, config: Config) -> str | None:
    """What a CUDA card (a Hopper card has it) or a model's sizes lack of what the fused kernels need, or None."""
    sizes = {"experts a token": config.experts_per_token}
    for shape in config.layers:
        sizes |= {f"query heads a key head in {shape.kind} layers": config.heads // shape.kv_heads}
        sizes |= {f"numbers a head in {shape.kind} layers": shape.head_dim}
    odd = [f"{size} {name}" for name, size in sizes.items() if size & (size - 1)]
    if odd:
        return f"the fused kernels take powers of two, and the model has {', '.join(odd)}"
    card = torch.cuda.get_device_properties(device)
    # Older versions of torch do not tell the second; Hopper has it.
    shared = getattr(card, "shared_memory_per_block_optin", SHARED_BYTES)
    if card.major >= 9 and shared >= SHARED_BYTES:
        return None
    return (
        f"the fused kernels need compute capability 9.0 and {SHARED_BYTES // 1024} KiB of shared memory a block; "
        f"{card.name} has {card.major}.{card.minor} and {shared // 1024} KiB"
    )


def streaming(folder: Path, device: torch.device, config: Config) -> str | None:
    """Why passes of many FP8 rows take longer than they could: what a CUDA device that has what `lacking` asks for lacks of what
    the experts' second product needs to keep its weights in shared memory. None if nothing, or if the experts are not in FP8."""
    if expert_form(folder) != "fp8":
        return None
    from .kernels.hopper import fits, lacks

    if not fits(config.hidden, config.expert):
        return f"it does not take experts of {config.hidden} by {config.expert}"
    return lacks(device)


def fit_on(folder: Path, device: torch.device, options: Options, images: bool = False) -> Fit:
    """The arithmetic of `fit` against what a device has free now."""
    unified = device.type != "cuda" or bool(torch.cuda.get_device_properties(device).is_integrated)
    free = available_memory() if unified else torch.cuda.mem_get_info(device)[0]
    return measure_fit(folder, read_config(folder), options, free, unified, images)


def available_memory() -> int:
    """Bytes the host can give without swapping, by Linux's ``MemAvailable``; elsewhere all that is installed."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        import os

        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
