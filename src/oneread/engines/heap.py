"""What the heaps keep: the C library's although it is free, and Python's for as long as the process lives."""

from __future__ import annotations

import ctypes
import gc
import sys


def trim_heap() -> None:
    """Give free pages back to the system: loading leaves 50 of 370 MB, and each hour of serving some 20. Only glibc needs it.

    Takes a few milliseconds, in which other threads wait that allocate.
    """
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)


def set_aside() -> None:
    """Take every object that exists now out of garbage collection, until `gc.unfreeze`.

    Loading a reader leaves 70,000 objects that nobody gives up; a full collection walks through them all while requests wait.
    """
    gc.collect()
    gc.freeze()
