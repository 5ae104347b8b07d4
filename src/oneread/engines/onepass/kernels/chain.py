"""Programmatic dependent launch: a kernel starts while the one before it drains, and waits before it touches memory.

A kernel launched so begins once every program of the one before has released its dependents, or ended. Every program of ours
waits first and releases then, so whoever has begun knows this much: all kernels before its predecessor have ended. Behind
its own wait the predecessor has ended too, as without any of this. Kernels that know nothing of it (cuBLAS) start behind the
end of the one before, and release at theirs.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def follow(chained: tl.constexpr):
    """At the top of every program, before its first load or store: wait for the kernel before, then let the next one start.

    Does nothing in a launch without `launch_pdl`.
    """
    if chained:
        tl.extra.cuda.gdc_wait()
        tl.extra.cuda.gdc_launch_dependents()


@triton.jit
def prefetch(pointers, nbytes: tl.constexpr):
    """Ask the second-level cache for `nbytes` (a multiple of 16) behind each pointer. What comes back is not waited for."""
    tl.inline_asm_elementwise(
        "cp.async.bulk.prefetch.L2.global [$1], $2; mov.u32 $0, 0;",
        "=r,l,r",
        [pointers.to(tl.int64), tl.full(pointers.shape, nbytes, tl.int32)],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )
