"""``oneread doctor``"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.table import Table
from rich.text import Text

from ..errors import MissingExtra, OnereadError
from ..serving.warmth import CANARY
from ..version import __version__
from .console import err, out
from .listen import CannotListen, listen
from .loading import placed
from .options import DEFAULT_HOST, DEFAULT_PORT, CacheGib, Device, ExpertBits, Host, PassRows, Port, ReaderPath, Threads

if TYPE_CHECKING:
    from ..readers.checkpoint import Placement, Survey

NEEDED_MEMORY = 512 * 1024**2
RUNTIMES = ("onnxruntime", "tokenizers", "numpy", "uvicorn", "fastapi")


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; ``todo`` says what to do next where something is wrong."""

    name: str
    found: str
    todo: str | None = None


def doctor(
    host: Host = DEFAULT_HOST,
    port: Port = DEFAULT_PORT,
    reader: ReaderPath = None,
    threads: Threads = None,
    device: Device = None,
    prefix_cache_gib: CacheGib = None,
    pass_rows: PassRows = None,
    expert_bits: ExpertBits = None,
) -> None:
    """Check that this machine can serve: Python, memory, packages, the reader's files, a timed read, the port.

    Of a DiffusionGemma folder it says, before loading it, whether weights, prefix cache and one pass fit the device.

    Exits with 1 and says what to do next when something is wrong.
    """
    checks: list[Callable[[], Iterator[Finding]]] = [
        _python,
        _machine,
        _packages,
        lambda: _reader(reader, threads, placed(device, prefix_cache_gib, pass_rows, expert_bits)),
        lambda: _port(host, port),
    ]
    findings: list[Finding] = []
    with err.status("Checking"):
        for check in checks:
            findings += check()
    table = Table.grid(padding=(0, 2))
    for finding in findings:
        mark = Text("ok", "green") if finding.todo is None else Text("bad", "bold red")
        table.add_row(mark, finding.name, Text(finding.found))
        if finding.todo is not None:
            table.add_row("", "", Text(f"→ {finding.todo}", "yellow"))
    out.print(table)
    wrong = sum(finding.todo is not None for finding in findings)
    if wrong:
        err.print(f"{wrong} of {len(findings)} checks found something wrong.")
        raise typer.Exit(1)


def _python() -> Iterator[Finding]:
    old = sys.version_info < (3, 11)
    yield Finding(
        "python",
        f"{platform.python_version()} ({platform.python_implementation()}), oneread {__version__}",
        "Install Python 3.11 or newer." if old else None,
    )


def _machine() -> Iterator[Finding]:
    narrow = sys.maxsize <= 2**32
    yield Finding("platform", f"{platform.system()} {platform.machine()}", "Use a 64-bit Python." if narrow else None)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    yield Finding("cores", f"{cores} usable")
    free = available_memory()
    if free is not None:
        todo = f"Free some: a server takes up to {NEEDED_MEMORY // 1024**2} MB." if free < NEEDED_MEMORY else None
        yield Finding("memory", f"{free / 1024**3:.1f} GB available", todo)


def available_memory() -> int | None:
    """Bytes that processes could still take, by the kernel and by the control group; None where neither tells."""
    found = []
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        found.append(int(lines["MemAvailable"].split()[0]) * 1024)
        group = Path("/sys/fs/cgroup")
        found.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    except (OSError, ValueError, KeyError):
        pass  # not Linux, or no limit set
    return min(found, default=None)


def _packages() -> Iterator[Finding]:
    for name in RUNTIMES:
        try:
            yield Finding(name, version(name))
        except PackageNotFoundError:
            yield Finding(name, "not installed", "Install oneread again: python -m pip install --force-reinstall oneread")


def _reader(path: Path | None, threads: int | None, placement: Placement) -> Iterator[Finding]:
    """Load it; then one read is timed, and timed again once everything is warm."""
    from ..decide import Decider
    from ..readers.checkpoint import is_checkpoint, survey
    from ..readers.reader import load_reader

    checked = "every file's SHA-256 as listed"
    start = time.perf_counter()
    try:
        if path is not None and is_checkpoint(path):
            known = survey(path, placement)
            yield from _survey(known)
            if not known.fit.fits:
                return
            checked = "whole by its files' headers"
        decider = Decider(load_reader(path, threads, placement=placement))
    except MissingExtra as error:
        yield Finding("reader", str(error).partition(":")[0], f"Install it with:{str(error).partition(':')[2]}")
        return
    except OnereadError as error:
        todo = "Get its files again."
        if path is None:
            todo = "Install oneread again: python -m pip install --force-reinstall oneread"
        elif placement.expert_bits not in (None, 16):
            todo = "Leave --expert-bits (ONEREAD_EXPERT_BITS) out, or get its files again."
        yield Finding("reader", str(error), todo)
        return
    loaded = time.perf_counter()
    with decider:
        name = decider.reader.name
        yield Finding("reader", f"{name}, {checked}, loaded in {loaded - start:.2f} s")
        if decider.reader.rounding is not None:
            yield Finding("rounded", decider.reader.rounding)
        if decider.reader.has_mass:
            most = decider.reader.canvas.row_form.max_options
            yield Finding("labels", f"yes, no, 10 digits, and {most} for options; more options are read in several rows")
        try:
            decider.decide(CANARY)
            first = time.perf_counter()
            answers = decider.decide(CANARY)
            second = time.perf_counter()
        except OnereadError as error:
            yield Finding("canary read", str(error), "Report this with the output of 'oneread doctor'.")
            return
        tokens = answers.usage.input_tokens
        yield Finding(
            "canary read", f"{(first - loaded) * 1000:.1f} ms, then {(second - first) * 1000:.1f} ms for {tokens} tokens"
        )


def _survey(known: Survey) -> Iterator[Finding]:
    """What is known of a checkpoint before it is loaded."""
    yield Finding("device", known.device)
    if known.slow:
        yield Finding("kernels", known.slow)
    if not known.tower:
        yield Finding("images", "none: the checkpoint has no image tower")
    elif known.sees:
        yield Finding("images", "taken, by the checkpoint's image tower")
    else:
        yield Finding("images", "refused: its image tower needs pip install 'oneread[vision]'")
    todo = "Take fewer --pass-rows or a smaller --prefix-cache-gib, free memory, or take a quantised checkpoint."
    if known.fit.instead is not None:
        todo = f"Take {known.fit.instead}. Or t{todo[1:]}"
    yield Finding("fit", str(known.fit), None if known.fit.fits else todo)


def _port(host: str, port: int) -> Iterator[Finding]:
    try:
        listen(host, port).close()
    except CannotListen as error:
        yield Finding("port", str(error), error.todo)
    else:
        yield Finding("port", f"{host} port {port} is free")
