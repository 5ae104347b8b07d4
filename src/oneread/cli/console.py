"""How commands speak: answers on stdout, everything else on stderr."""

from __future__ import annotations

from typing import NoReturn

import rich
import typer
from rich.console import Console

out = Console(highlight=False)
err = Console(highlight=False, stderr=True)
rich.reconfigure(stderr=True)  # bars that engines draw


def fail(what: str, todo: str, code: int = 1) -> NoReturn:
    """End the command with one line on what is wrong and one on what to do next."""
    err.print("[bold red]error[/]", end=" ")
    err.print(what, markup=False, soft_wrap=True)
    err.print("  [dim]→[/]", end=" ")
    err.print(todo, markup=False, soft_wrap=True)
    raise typer.Exit(code)
