"""Which implementation of the model's steps the options name, and whether it takes the weights' form."""

from __future__ import annotations

import torch

from ...errors import MissingExtra
from .diffusion_gemma import Steps, Weights
from .linear import FP8
from .options import Options


def steps_for(options: Options, weights: Weights) -> Steps:
    """The steps that the options name.

    Raises:
        MissingExtra: Triton is asked for and not installed.
        ValueError: the options name something that does not take the weights' form.
    """
    experts = weights.layers[0].experts_gate_up
    form = experts.weight.dtype
    if options.experts == "grouped" and (form != weights.dtype or experts.twin is not None):
        raise ValueError("experts='grouped' takes weights in 16 bits alone, not quantised")
    if options.experts == "triton" and form == torch.uint8:
        raise ValueError("experts='triton' takes plain, 12-bit and FP8 weights; NVFP4 needs experts='loop'")
    if options.activations == "fp8" and form != FP8:
        raise ValueError("activations='fp8' needs FP8 weights")
    if options.steps == "torch":
        return Steps(options)
    try:
        from .kernels.steps import FusedSteps
    except ImportError as error:
        raise MissingExtra("steps='triton' needs Triton, which torch brings along on Linux with CUDA") from error
    return FusedSteps(options)
