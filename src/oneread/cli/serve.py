"""``oneread serve``"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import shlex
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from ..errors import OnereadError
from ..serving.settings import API_KEY, MAX_BODY_BYTES, SHUTDOWN_S, Settings, api_key
from .console import err, fail, out
from .listen import CannotListen, listen, url_of
from .options import DEFAULT_HOST, DEFAULT_PORT, READER_TODO, Host, Port, ReaderPath, Threads

if TYPE_CHECKING:
    from ..decide import Decider

EXAMPLE = '{"state": "Everything is down!", "questions": {"urgent": {"type": "noul", "instructions": "Is this urgent?"}}}'


def serve(
    host: Host = DEFAULT_HOST,
    port: Port = DEFAULT_PORT,
    reader: ReaderPath = None,
    threads: Threads = None,
    calibration: Annotated[
        Path | None,
        typer.Option(
            envvar="ONEREAD_CALIBRATION", metavar="FILE", help="Calibration profile of this reader; see 'oneread calibrate'."
        ),
    ] = None,
    max_body_bytes: Annotated[
        int,
        typer.Option(envvar="ONEREAD_MAX_BODY_BYTES", min=1024, help="Longest request body, as sent and after decompression."),
    ] = MAX_BODY_BYTES,
    shutdown_seconds: Annotated[
        int,
        typer.Option(envvar="ONEREAD_SHUTDOWN_SECONDS", min=0, help="How long a stopping server waits for requests in flight."),
    ] = SHUTDOWN_S,
) -> None:
    """Serve POST /v1/systemone, GET /v1/models, /health, /ready and /docs.

    Set ONEREAD_API_KEY to let in only callers who send 'Authorization: Bearer KEY'. There is no flag for the key on
    purpose: every user of a machine can read the flags of its processes.
    """
    try:
        key = api_key(os.environ)
    except ValueError as error:
        fail(f"{error}.", f"Set a key, or unset {API_KEY} to let every caller in.", 2)
    keys = (key,) if key is not None else ()
    settings = Settings(reader=reader, threads=threads, calibration=calibration, api_keys=keys, max_body_bytes=max_body_bytes)
    try:
        bound = listen(host, port)
    except CannotListen as error:
        fail(str(error), error.todo)
    # Once requests in flight are done, uvicorn raises the signal again that stopped it: being stopped is no failure.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        asyncio.run(_serve(settings, bound, shutdown_seconds))
    except OnereadError as error:
        fail(str(error), READER_TODO)
    except KeyboardInterrupt:
        err.print("stopped")


async def _serve(settings: Settings, bound: socket.socket, shutdown_seconds: int) -> None:
    """Load the reader while HTTP is up already, so that probes see it loading; then serve until told to stop."""
    from ..serving.app import create_app
    from ..serving.server import make_server

    app = create_app(settings)
    server = make_server(app, shutdown_seconds)
    serving = asyncio.create_task(server.serve([bound]))
    with err.status("Loading the reader"):
        loading = asyncio.create_task(app.state.service.loaded())
        await asyncio.wait({serving, loading}, return_when=asyncio.FIRST_COMPLETED)
    if loading.done() and loading.exception() is not None:
        server.should_exit = True
        await serving
    if not serving.done():
        _announce(loading.result(), bound, settings)
    await serving
    await loading


def _announce(decider: Decider, bound: socket.socket, settings: Settings) -> None:
    reader, profile = decider.reader, decider.calibration
    url = url_of(bound)
    host = bound.getsockname()[0]
    rows = Table.grid(padding=(0, 2))
    rows.add_row("[bold]reader[/]", escape(f"{reader.name} ({reader.release_date})"))
    if profile is not None:
        rows.add_row("[bold]calibration[/]", escape(profile.name))
    rows.add_row("[bold]address[/]", url if host in url else f"{url} and every other address of this machine")
    rows.add_row("[bold]docs[/]", f"{url}/docs")
    if settings.api_keys:
        rows.add_row("[bold]key[/]", f"asked of every caller of /v1 (from {API_KEY})")
    elif ipaddress.ip_address(host).is_loopback:
        rows.add_row("[bold]key[/]", f"none, callers are of this machine (set {API_KEY} to ask for one)")
    else:
        rows.add_row(
            "[bold]key[/]", f"[bold red]none: whoever reaches this machine is answered[/] (set {API_KEY} to ask for one)"
        )
    out.print(Panel(rows, title="oneread", title_align="left", expand=False))
    command = ["curl", "-s", f"{url}/v1/systemone", "-H", "Content-Type: application/json", "-d", EXAMPLE]
    bearer = f' -H "Authorization: Bearer ${API_KEY}"' if settings.api_keys else ""
    out.print(f"Try it:\n  {shlex.join(command)}{bearer}\n", markup=False, soft_wrap=True)
