"""A progress bar on stderr for commands that ask many cases."""

from __future__ import annotations

from collections.abc import Callable

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from .console import err


class Bars(Progress):
    """A bar for each pass; ``bars.start_bar(what, total)`` returns what to call after each step."""

    def __init__(self) -> None:
        super().__init__(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
            console=err, transient=True,
        )  # fmt: skip

    def start_bar(self, what: str, total: int) -> Callable[[], object]:
        task = self.add_task(what, total=total)
        return lambda: self.advance(task)
