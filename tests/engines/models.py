"""Models that a test drives: how long a pass takes, what it raises, and which reads shared it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Sequence

import numpy as np

from oneread.engines.base import Capabilities, Read, Reading, Slot
from oneread.engines.load import Gauges
from oneread.engines.startup import tell
from oneread.errors import EngineError


def read(tag: int, tokens: int = 8) -> Read:
    """A read whose first token is a tag, and whose score will be that tag."""
    return Read(np.array([tag, *[0] * (tokens - 1)], np.int32), (Slot(0),))


class StepModel:
    """Runs a pass when told to, by `go`, or at once when `free` is set; `passes` are the tags of each."""

    capabilities = Capabilities("marker", 4096)

    def __init__(self) -> None:
        self.go = threading.Semaphore(0)
        self.started = threading.Semaphore(0)
        self.free = False
        self.passes: list[list[int]] = []
        self.fault: Exception | None = None
        self.closed = False

    def bucket(self, read: Read) -> int:
        if len(read.canvas) > 4096:
            raise EngineError("too long")
        return -(-len(read.canvas) // 8) * 8

    def forward(self, reads: Sequence[Read]) -> list[Reading]:
        self.passes.append([int(read.canvas[0]) for read in reads])
        self.started.release()
        if not self.free:
            assert self.go.acquire(timeout=10)
        if self.fault is not None:
            raise self.fault
        return [Reading(read.canvas[:1].astype(np.float32)) for read in reads]

    def close(self) -> None:
        self.closed = True


CRASH, HANG, RAISE = 101, 102, 103


class FragileModel:
    """Dies, hangs or raises when the first tag of a read says so. Made in a child process."""

    capabilities = Capabilities("marker", 64)
    last = 0

    def bucket(self, _: Read) -> int:
        return 8

    def forward(self, reads: Sequence[Read]) -> list[Reading]:
        self.last = len(reads)
        tags = {int(read.canvas[0]) for read in reads}
        if CRASH in tags:
            os.kill(os.getpid(), signal.SIGKILL)
        if HANG in tags:
            time.sleep(60)
        if RAISE in tags:
            raise ValueError("planted-secret")
        return [Reading(read.canvas[:1].astype(np.float32)) for read in reads]

    def close(self) -> None:
        pass

    def gauges(self) -> Gauges:
        return Gauges(1000, self.last, 64)


def no_model() -> FragileModel:
    raise RuntimeError("planted-secret")


def slow_model() -> FragileModel:
    for done in range(3):
        tell("loading weights", done, 3)
    return FragileModel()
