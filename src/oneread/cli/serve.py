"""``oneread serve``"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import shlex
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from ..errors import MissingExtra, OnereadError
from ..serving.images import MAX_IMAGE_BYTES, MAX_IMAGE_PIXELS, MAX_IMAGES, ImageLimits
from ..serving.limits import Limits
from ..serving.logs import LogFormat
from ..serving.profiles import profile_named
from ..serving.settings import API_KEY, API_KEYS, MAX_BODY_BYTES, ORIGIN_SECRET, SHUTDOWN_S, LogChoice, Settings, api_keys, secret
from . import serve_options as o
from .console import err, fail, out
from .listen import CannotListen, listen, url_of
from .loading import placed
from .options import (
    DEFAULT_HOST,
    READER_TODO,
    CacheGib,
    Device,
    Diagnostics,
    ExpertBits,
    Formula,
    Host,
    PassRows,
    ReaderPath,
    ServePort,
    SystemProfile,
    Threads,
)
from .starting import show_start

if TYPE_CHECKING:
    from ..decide import Decider
    from ..serving.tls import Certificate

EXAMPLE = '{"state": "Everything is down!", "questions": {"urgent": {"type": "noul", "instructions": "Is this urgent?"}}}'


def serve(
    host: Host = DEFAULT_HOST,
    port: ServePort = None,
    reader: ReaderPath = None,
    threads: Threads = None,
    device: Device = None,
    prefix_cache_gib: CacheGib = None,
    pass_rows: PassRows = None,
    expert_bits: ExpertBits = None,
    calibration: o.Calibration = None,
    keys_file: o.KeysFile = None,
    insecure: o.Insecure = False,
    tls_cert: o.TlsCert = None,
    tls_key: o.TlsKey = None,
    tls_self_signed: o.TlsSelfSigned = False,
    timeout_ms: o.TimeoutMs = o.DEFAULT_TIMEOUT_MS,
    max_timeout_ms: o.MaxTimeoutMs = o.DEFAULT_MAX_TIMEOUT_MS,
    max_requests: o.MaxRequests = o.DEFAULT.requests,
    max_queue_tokens: o.MaxQueueTokens = o.DEFAULT.queue_tokens,
    max_tokens: o.MaxTokens = o.DEFAULT.tokens,
    profile: SystemProfile = None,
    confidence: Formula = None,
    diagnostics: Diagnostics = False,
    max_body_bytes: o.MaxBodyBytes = MAX_BODY_BYTES,
    max_questions: o.MaxQuestions = o.DEFAULT.questions,
    max_options: o.MaxOptions = o.DEFAULT.options,
    max_reads: o.MaxReads = o.DEFAULT.reads,
    max_state_chars: o.MaxStateChars = o.DEFAULT.state_chars,
    max_question_chars: o.MaxQuestionChars = o.DEFAULT.question_chars,
    max_images: o.MaxImages = MAX_IMAGES,
    max_image_bytes: o.MaxImageBytes = MAX_IMAGE_BYTES,
    max_image_pixels: o.MaxImagePixels = MAX_IMAGE_PIXELS,
    max_header_bytes: o.MaxHeaderBytes = o.DEFAULT.header_bytes,
    header_seconds: o.HeaderSeconds = o.DEFAULT.header_s,
    body_seconds: o.BodySeconds = o.DEFAULT.body_s,
    in_process: o.InProcess = False,
    pass_seconds: o.PassSeconds = 15.0,
    shutdown_seconds: o.ShutdownSeconds = SHUTDOWN_S,
    log_format: o.Log = "text",
    log_level: o.LogLevel = "warning",
    tracing: o.Tracing = False,
    log_decisions: o.LogDecisions = None,
    log_inputs: o.LogInputs = False,
    log_sample: o.LogSample = 1.0,
    log_days: o.LogDays = None,
    log_max_bytes: o.LogMaxBytes = 1 << 30,
) -> None:
    """Serve POST /v1/systemone, GET /v1/models, /health, /ready, /metrics and /docs.

    Set ONEREAD_API_KEY to let in only callers who send 'Authorization: Bearer KEY'. There is no flag for the key on
    purpose: every user of a machine can read the flags of its processes. Several keys go into ONEREAD_API_KEYS, with
    commas between them, or into --keys-file. ONEREAD_ORIGIN_SECRET lets in only what a proxy stamped with the header
    'x-origin-secret'.
    """
    from ..serving.logs import set_up

    if log_level.lower() not in ("debug", "info", "warning", "error"):
        raise typer.BadParameter("takes debug, info, warning or error", param_hint="--log-level")
    set_up(log_format, log_level)
    try:
        keys, origin = api_keys(os.environ), secret(os.environ, ORIGIN_SECRET)
    except ValueError as error:
        fail(f"{error}.", "Set a key, or unset the variable to ask for none.", 2)
    settings = Settings(
        reader=reader,
        threads=threads,
        calibration=calibration,
        api_keys=keys,
        keys_file=keys_file,
        origin_secret=origin,
        placement=placed(device, prefix_cache_gib, pass_rows, expert_bits),
        isolated=not in_process,
        pass_timeout_s=pass_seconds,
        limits=Limits(
            questions=max_questions,
            options=max_options,
            state_chars=max_state_chars,
            question_chars=max_question_chars,
            reads=max_reads,
            tokens=max_tokens,
            requests=max_requests,
            queue_tokens=max_queue_tokens,
            header_bytes=max_header_bytes,
            header_s=header_seconds,
            body_s=body_seconds,
            timeout_s=timeout_ms / 1000,
            max_timeout_s=max(timeout_ms, max_timeout_ms) / 1000,
        ),
        log=None if log_decisions is None else LogChoice(log_decisions, log_inputs, log_sample, log_days, log_max_bytes),
        tracing=tracing,
        max_body_bytes=max_body_bytes,
        profile=None if profile is None else profile.value,
        confidence=None if confidence is None else confidence.value,
        diagnostics=diagnostics,
        images=ImageLimits(max_images, max_image_bytes, max_image_pixels),
    )
    try:
        bound = listen(host, profile_named(settings.profile).port if port is None else port)
    except CannotListen as error:
        fail(str(error), error.todo)
    if not (_loopback(bound) or keys or keys_file or insecure):
        bound.close()
        todo = f"Set {API_KEY}, give --keys-file, or say --insecure if that is wanted."
        fail(f"Without a key, whoever reaches {host} would be answered.", todo, 2)
    tls = _certificate(tls_cert, tls_key, tls_self_signed, host)
    # Once requests in flight are done, uvicorn raises the signal again that stopped it: being stopped is no failure.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        asyncio.run(_serve(settings, bound, shutdown_seconds, tls, log_format))
    except MissingExtra as error:
        fail(f"{str(error).partition(':')[0]}.", f"Install it with:{str(error).partition(':')[2]}")
    except OnereadError as error:
        fail(str(error), READER_TODO)
    except KeyboardInterrupt:
        err.print("stopped")


def _certificate(cert: Path | None, key: Path | None, self_signed: bool, host: str) -> Certificate | None:
    from ..serving.tls import Certificate, TlsError, check, self_signed_certificate

    if (cert is None) != (key is None) or (cert is not None and self_signed):
        fail("--tls-cert and --tls-key go together, and without --tls-self-signed.", "Give both files, or --tls-self-signed.", 2)
    try:
        if cert is not None and key is not None:
            return check(Certificate(cert, key))
        if not self_signed:
            return None
        made, fingerprint = self_signed_certificate(host)
    except TlsError as error:
        fail(f"{error}.", "Check the files with: openssl x509 -in FILE -noout -text", 2)
    except MissingExtra:
        fail("--tls-self-signed needs the package cryptography.", "Install it with: pip install 'oneread[tls]'")
    err.print(f"certificate {made.certificate}, SHA-256 {fingerprint}", markup=False, soft_wrap=True)
    return made


async def _serve(
    settings: Settings, bound: socket.socket, shutdown_seconds: int, tls: Certificate | None, log_format: LogFormat
) -> None:
    """Load the reader while HTTP is up already, so that probes see it loading; then serve until told to stop."""
    from ..decision_log import LogError
    from ..serving.app import create_app
    from ..serving.auth import KeysFileError
    from ..serving.server import make_server

    try:
        app = create_app(settings)
    except KeysFileError as error:
        fail(f"{error}.", "docs/operations.md shows what a keys file looks like.", 2)
    except LogError as error:
        fail(f"{error}.", "Choose another file with --log-decisions.", 2)
    service = app.state.service
    on_stop: Callable[[], None] = lambda: service.stop(shutdown_seconds)  # noqa: E731
    server = make_server(app, shutdown_seconds, settings.limits, tls, on_stop)
    serving = asyncio.create_task(server.serve([bound]))
    loaded = asyncio.create_task(service.loaded())
    await show_start(lambda: service.step, {serving, loaded}, log_format)
    if loaded.done() and loaded.exception() is not None:
        server.should_exit = True
        await serving
    if not serving.done():
        _announce(loaded.result(), bound, settings, tls)
    await serving
    await loaded


def _loopback(bound: socket.socket) -> bool:
    return ipaddress.ip_address(bound.getsockname()[0].partition("%")[0]).is_loopback


def _announce(decider: Decider, bound: socket.socket, settings: Settings, tls: Certificate | None) -> None:
    reader, profile = decider.reader, decider.calibration
    url = url_of(bound) if tls is None else url_of(bound).replace("http:", "https:", 1)
    host = bound.getsockname()[0]
    rows = Table.grid(padding=(0, 2))
    rows.add_row("[bold]reader[/]", escape(f"{reader.name} ({reader.release_date})"))
    if reader.rounding is not None:
        rows.add_row("[bold]rounded[/]", escape(reader.rounding))
    if profile is not None:
        rows.add_row("[bold]calibration[/]", escape(profile.name))
    if settings.profile is not None:
        rows.add_row("[bold]in place of[/]", settings.profile)
    rows.add_row("[bold]address[/]", url if host in url else f"{url} and every other address of this machine")
    rows.add_row("[bold]docs[/]", f"{url}/docs")
    if settings.api_keys:
        source = API_KEY if API_KEY in os.environ else API_KEYS
        rows.add_row("[bold]key[/]", f"asked of every caller of /v1 (from {source})")
    elif settings.keys_file is not None:
        rows.add_row("[bold]key[/]", escape(f"asked of every caller of /v1 (from {settings.keys_file})"))
    elif _loopback(bound):
        rows.add_row("[bold]key[/]", f"none, callers are of this machine (set {API_KEY} to ask for one)")
    else:
        rows.add_row(
            "[bold]key[/]", f"[bold red]none: whoever reaches this machine is answered[/] (set {API_KEY} to ask for one)"
        )
    if settings.log is not None:
        kept = "requests whole, evidence included" if settings.log.full else "SHA-256 of requests"
        rows.add_row("[bold]decision log[/]", escape(f"{settings.log.file} ({kept}, and answers)"))
    out.print(Panel(rows, title="oneread", title_align="left", expand=False))
    command = ["curl", "-s", f"{url}/v1/systemone", "-H", "Content-Type: application/json", "-d", EXAMPLE]
    bearer = f' -H "Authorization: Bearer ${API_KEY}"' if settings.api_keys or settings.keys_file else ""
    trust = f" --cacert {shlex.quote(str(tls.certificate))}" if tls is not None else ""
    out.print(f"Try it:\n  {shlex.join(command)}{bearer}{trust}\n", markup=False, soft_wrap=True)
