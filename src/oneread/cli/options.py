"""Flags that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ReaderPath = Annotated[
    Path | None,
    typer.Option(
        "--reader", envvar="ONEREAD_READER", metavar="DIR", help="Directory of a reader's files; left out, the embedded one."
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        envvar="ONEREAD_THREADS", min=1, max=256, help="CPU threads of the engine; left out, one for each core, at most 4."
    ),
]
Host = Annotated[str, typer.Option(envvar="ONEREAD_HOST", help="Address to listen on.")]
Port = Annotated[int, typer.Option(envvar="ONEREAD_PORT", min=0, max=65535, help="Port to listen on; 0 takes any that is free.")]

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8080
READER_TODO = "Check it with 'oneread doctor'; leave --reader and ONEREAD_READER out to use the embedded reader."
