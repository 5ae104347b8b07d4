"""How far a starting server has come: a bar on a terminal, else a line for each step."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Set
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from ..serving.logs import LogFormat, event
from .console import err

if TYPE_CHECKING:
    from ..serving.warmth import Step

LOOK_S = 0.05
LINE_S = 10.0
"""A step that takes longer gets another line."""

log = logging.getLogger("oneread.serving")


async def show_start(step: Callable[[], Step | None], until: Set[asyncio.Future[Any]], log_format: LogFormat) -> None:
    """Show steps until one of some futures is done.

    Args:
        log_format: lines of a start that no terminal shows are log lines (level info) where the log is JSON.
    """
    if err.is_terminal:
        columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
        with Progress(*columns, console=err, transient=True) as bar:
            task = bar.add_task("Starting", total=None)
            await _watch(step, until, lambda s: bar.update(task, description=s.part, completed=s.done, total=s.total or None))
        return
    loop, said, at = asyncio.get_running_loop(), "", 0.0

    def line(now: Step) -> None:
        nonlocal said, at
        if now.part != said or loop.time() - at >= LINE_S:
            said, at = now.part, loop.time()
            if log_format == "json":
                event(log, logging.INFO, "starting", step=now.part, done=now.done, total=now.total)
            else:
                share = f" {100 * now.done // now.total} %" if now.total and 100 * now.done >= now.total else ""
                err.print(f"{now.part}{share}", markup=False, soft_wrap=True)

    await _watch(step, until, line)


async def _watch(step: Callable[[], Step | None], until: Set[asyncio.Future[Any]], show: Callable[[Step], None]) -> None:
    shown, done = None, False
    while not done:
        done = bool((await asyncio.wait(until, timeout=LOOK_S, return_when=asyncio.FIRST_COMPLETED))[0])
        now = step()
        if now is not None and now != shown:
            show(now)
            shown = now
