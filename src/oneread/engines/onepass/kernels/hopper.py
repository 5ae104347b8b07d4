"""Launches of the kernels in Gluon, Triton's lower level, and where they run: on Hopper cards, under known versions of Triton.

Elsewhere the kernels of down.py compute the same, bit for bit.
"""

# mypy: disable-error-code="no-untyped-call, no-any-return, index, unused-ignore, import-not-found, import-untyped"
from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
import triton
from torch import Tensor

from ..linear import FP8, Linear

if TYPE_CHECKING:
    from .experts import Order, Quantised

VERSIONS = ("3.6", "3.7")
"""Of Triton: Gluon is still new, and its words change between versions."""
SHARED = 225 * 1024
"""Bytes of a Hopper processor's shared memory that a tile of weights and a ring of rows may take, barriers beside them."""
PART, WIDE, DEPTH = 64, 256, 64
"""Of `stationary_kernel`: pairs that a group of warps multiplies at a time, outputs of a tile of weights, and inputs of a part of
either, which is what one load brings."""
FEWEST = 6
"""Places for parts of rows with which the kernel still keeps the matrix unit busy. It needs two (see stationary.py)."""


@cache
def lacks(device: torch.device) -> str | None:
    """What a device or its Triton lacks of what the kernels need, or None. Triton's interpreter does not know Gluon."""
    if device.type != "cuda" or torch.version.hip is not None or os.environ.get("TRITON_INTERPRET") == "1":
        return "it needs CUDA"
    if torch.cuda.get_device_capability(device) != (9, 0):
        return "it needs a Hopper card"
    if ".".join(triton.__version__.split(".")[:2]) not in VERSIONS:
        return f"it needs Triton {' or '.join(VERSIONS)}, and here is {triton.__version__}"
    return None


@cache
def processors(device: torch.device) -> int:
    return torch.cuda.get_device_properties(device).multi_processor_count


def slots_of(inputs: int) -> int:
    """Places in the ring for rows: what the weights leave, and no more than a row has parts (see stationary.py)."""
    return min(inputs // DEPTH, (SHARED - inputs * WIDE) // (PART * DEPTH))


def fits(outputs: int, inputs: int) -> bool:
    """Whether `stationary_down` takes experts of such sizes."""
    return inputs % DEPTH == 0 and outputs % WIDE == 0 and slots_of(inputs) >= min(FEWEST, inputs // DEPTH)


def stays(weight: Linear, block: int, device: torch.device) -> bool:
    """Whether `stationary_down` takes a stack of weights and blocks of so many pairs."""
    fp8 = weight.weight.dtype == FP8 and block == 2 * PART
    return fp8 and fits(weight.outputs, weight.inputs) and lacks(device) is None


def swizzled(x: Tensor, shape: list[int], strides: list[int], block: list[int]) -> Any:
    """Bytes as Gluon's loads by the copy engine take them, in blocks whose lines are swizzled whole."""
    from triton.experimental.gluon.language import NVMMASharedLayout
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    layout = NVMMASharedLayout(swizzle_byte_width=block[-1], element_bitwidth=8, rank=len(block))
    return TensorDescriptor(x, shape, strides, block, layout)


def stack_of(weight: Tensor) -> Any:
    """(experts, outputs, inputs) for `stationary_kernel`. In shared memory, outputs 8 a + 2 b + c of each 32 stand in the order
    (b, a, c): the matrix unit gives each thread pairs (b, c) of all b, and so eight outputs that follow one another."""
    inputs = weight.shape[-1]
    shape = [weight.numel() // inputs // 32, 4, 4, 2, inputs]
    strides = [32 * inputs, 2 * inputs, 8 * inputs, inputs, 1]
    return swizzled(weight, shape, strides, [WIDE // 32, 4, 4, 2, DEPTH])


def stationary_down(x: Quantised, order: Order, shares: Tensor, weight: Linear, stack: Any, block: int) -> Tensor:
    """`Products.down` where a tile of weights stays in shared memory while its rows pass by. `stack`: see `stack_of`."""
    from .stationary import stationary_kernel

    values, experts = x.values, len(weight.weight)
    out = torch.empty((shares.numel(), weight.outputs), dtype=torch.bfloat16, device=values.device)
    stationary_kernel[(processors(values.device),)](
        swizzled(values, list(values.shape), list(values.stride()), [PART, DEPTH]),
        x.scales,
        stack,
        weight.scale,
        order.pairs,
        order.owners,
        order.limits,
        order.totals,
        shares,
        out,
        len(order.owners),
        hidden=weight.outputs,
        inner=weight.inputs,
        experts=experts,
        width=triton.next_power_of_2(experts),
        block=block,
        slots=slots_of(weight.inputs),
        num_warps=4,
    )
    return out
