"""A model in a process of its own: when native code crashes or hangs, that process is replaced and the server lives."""

from __future__ import annotations

import atexit
import logging
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ..errors import EngineError, ReaderError
from .base import Capabilities, LocalModel, Read, Reading
from .load import Gauged, Gauges
from .startup import Step, hearer, tell

log = logging.getLogger("oneread.engine")

PASS_TIMEOUT_S = 15.0
START_TIMEOUT_S = 120.0
MAX_PAUSE_S = 10.0
"""A process that dies again and again is started again after 0, 0.1, 0.2, 0.4 ... seconds, at most this many."""


class IsolatedModel:
    """A `LocalModel` that runs in a child process and is driven over a pipe.

    A pass that is not back in time, or whose process dies, fails with `EngineError`, and a new process starts at once; the
    next pass waits for it. A thread stuck in native code cannot be ended from inside a process, a process can.

    Args:
        make: makes the model, in the child; picklable.
        bucket: as `LocalModel.bucket`; runs here.
        pass_timeout_s: a pass that takes longer counts as hung.
        start_timeout_s: a process that is not ready this long after its last step counts as failed.

    Raises:
        ReaderError: the first process could not make the model.
    """

    def __init__(
        self,
        make: Callable[[], LocalModel],
        bucket: Callable[[Read], int],
        pass_timeout_s: float = PASS_TIMEOUT_S,
        start_timeout_s: float = START_TIMEOUT_S,
    ) -> None:
        self._make, self.bucket = make, bucket
        self._pass_timeout_s, self._start_timeout_s = pass_timeout_s, start_timeout_s
        self._failures = 0
        self._not_before = 0.0
        self._gauges = Gauges()
        self.restarts = 0
        # else a process that ends without closing would wait for ever for a child that ignores SIGTERM
        atexit.register(self.close)
        self._start()
        try:
            self._capabilities = self._await_ready()
        except EngineError as error:
            self.close()
            raise ReaderError(str(error)) from None
        self._ready = True

    @property
    def capabilities(self) -> Capabilities:
        """As the model in the child told them."""
        return self._capabilities

    @property
    def pid(self) -> int | None:
        """Of the child."""
        return self._process.pid

    def forward(self, reads: Sequence[Read]) -> list[Reading]:
        """One pass in the child. Blocks, for at most the start of a new child and the time of one pass.

        Raises:
            EngineError: the model's own; or the child died, hung, or cannot be started.
        """
        try:
            if self._ready and not self._process.is_alive():
                self._replace()  # it died between two passes, which nobody needs to notice
            self._await_child()
            self._pipe.send(list(reads))
            answer, self._gauges = self._receive(
                self._pass_timeout_s, "The engine did not finish a pass within {:g} s and was started again"
            )
        except (EngineError, OSError) as error:
            self._replace()
            raise error if isinstance(error, EngineError) else EngineError("The engine's process died") from None
        self._failures = 0
        if isinstance(answer, EngineError):
            raise answer
        readings: list[Reading] = answer
        return readings

    def gauges(self) -> Gauges:
        """As the child told them with its last pass."""
        return self._gauges

    def resident_bytes(self) -> int:
        """Of the child; 0 where the system does not tell."""
        try:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        except (OSError, ValueError, IndexError):
            return 0
        return pages * os.sysconf("SC_PAGE_SIZE")

    def recover(self) -> None:
        """Wait until a new child is ready, or could not be started; the next pass tells."""
        try:
            self._await_child()
        except (EngineError, OSError):
            self._replace()

    def close(self) -> None:
        """End the child. May be called again."""
        atexit.unregister(self.close)
        self._pipe.close()
        self._process.join(2)
        self._process.kill()
        self._process.join()

    def _await_child(self) -> None:
        if not self._ready:
            time.sleep(max(0.0, self._not_before - time.monotonic()))
            if not self._process.is_alive():
                self._start()
            self._await_ready()
            self._ready = True

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._make), name="oneread-engine", daemon=True)
        self._process.start()
        theirs.close()
        self._ready = False

    def _await_ready(self) -> Capabilities:
        while isinstance(answer := self._receive(self._start_timeout_s, "The engine was not ready within {:g} s"), Step):
            tell(answer.part, answer.done, answer.total)
        if isinstance(answer, EngineError):
            raise answer
        capabilities: Capabilities
        capabilities, self._gauges = answer
        return capabilities

    def _receive(self, timeout_s: float, late: str) -> Any:
        if not self._pipe.poll(timeout_s):
            raise EngineError(late.format(timeout_s))
        try:
            return self._pipe.recv()
        except (EOFError, OSError):
            raise EngineError("The engine's process died and was started again") from None

    def _replace(self) -> None:
        """Kill the child and start another, at once or, if it keeps failing, when a pass wants it after a pause."""
        self._process.kill()
        self._process.join()
        self._pipe.close()
        pause = min(MAX_PAUSE_S, 0.05 * 2**self._failures) if self._failures else 0.0
        self._failures += 1
        self._not_before = time.monotonic() + pause
        self.restarts += 1
        self._ready = False
        log.error("the engine's process ended with %s; start %d", self._process.exitcode, self.restarts)
        if not pause:
            self._start()


def _serve(pipe: Connection, make: Callable[[], LocalModel]) -> None:
    """The child: a reading for each read, until the pipe closes."""
    # stopping is the parent's business, which finishes what was admitted; a closed pipe says when
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    hearer.set(pipe.send)
    try:
        model = make()
    except Exception as error:
        pipe.send(
            EngineError(str(error) if isinstance(error, ReaderError) else f"Making the model failed: {type(error).__name__}")
        )
        return

    def gauges() -> Gauges:
        return model.gauges() if isinstance(model, Gauged) else Gauges()

    pipe.send((model.capabilities, gauges()))
    while True:
        try:
            reads = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer: Any = model.forward(reads)
        except EngineError as error:
            answer = error
        except Exception as error:  # its words may hold parts of the evidence, so only its type is repeated
            answer = EngineError(f"A pass failed with {type(error).__name__}")
        try:
            pipe.send((answer, gauges()))
        except OSError:
            return
