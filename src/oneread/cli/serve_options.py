"""The flags of ``oneread serve``, each with its variable."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..serving.limits import Limits
from ..serving.logs import LogFormat

DEFAULT = Limits()


DEFAULT_TIMEOUT_MS, DEFAULT_MAX_TIMEOUT_MS = round(DEFAULT.timeout_s * 1000), round(DEFAULT.max_timeout_s * 1000)


def _option(variable: str, help: str, **rest: Any) -> Any:
    return typer.Option(envvar=f"ONEREAD_{variable}", help=help, **rest)


def _switch(variable: str, help: str) -> Any:
    """A flag that has no opposite."""
    return typer.Option(f"--{variable.lower().replace('_', '-')}", envvar=f"ONEREAD_{variable}", help=help)


Calibration = Annotated[
    Path | None, _option("CALIBRATION", "Calibration profile of this reader; see 'oneread calibrate'.", metavar="FILE")
]
MaxBodyBytes = Annotated[int, _option("MAX_BODY_BYTES", "Longest request body, as sent and after decompression.", min=1024)]
ShutdownSeconds = Annotated[int, _option("SHUTDOWN_SECONDS", "How long a stopping server waits for requests in flight.", min=0)]

KeysFile = Annotated[Path | None, _option("KEYS_FILE", "TOML file of hashed keys; read again when it changes.", metavar="FILE")]
Insecure = Annotated[bool, _switch("INSECURE", "Answer whoever reaches this machine, without a key.")]
TlsCert = Annotated[Path | None, _option("TLS_CERT", "Certificate (PEM): speak HTTPS.", metavar="FILE")]
TlsKey = Annotated[Path | None, _option("TLS_KEY", "The certificate's key (PEM).", metavar="FILE")]
TlsSelfSigned = Annotated[bool, _switch("TLS_SELF_SIGNED", "Speak HTTPS with a certificate made here; needs oneread[tls].")]

TimeoutMs = Annotated[int, _option("TIMEOUT_MS", "Deadline of a request that names none.", min=1)]
MaxTimeoutMs = Annotated[int, _option("MAX_TIMEOUT_MS", "Longest deadline a request may name.", min=1)]
MaxRequests = Annotated[int, _option("MAX_REQUESTS", "Most requests at a time; beyond it 529.", min=1)]
MaxQueueTokens = Annotated[int, _option("MAX_QUEUE_TOKENS", "Most tokens waiting to be read; beyond it 529.", min=1)]
MaxTokens = Annotated[int, _option("MAX_TOKENS", "Most tokens of one request, over all its rows.", min=1)]
MaxQuestions = Annotated[int, _option("MAX_QUESTIONS", "Most questions of one request.", min=1)]
MaxOptions = Annotated[int, _option("MAX_OPTIONS", "Most options of one question.", min=2, max=255)]
MaxReads = Annotated[int, _option("MAX_READS", "Most questions times draws of one request.", min=1)]
MaxStateChars = Annotated[int, _option("MAX_STATE_CHARS", "Most characters of a state.", min=1)]
MaxQuestionChars = Annotated[int, _option("MAX_QUESTION_CHARS", "Most characters of one question.", min=1)]
MaxImages = Annotated[int, _option("MAX_IMAGES", "Most images of one request.", min=1)]
MaxImageBytes = Annotated[int, _option("MAX_IMAGE_BYTES", "Longest file of an image.", min=1024)]
MaxImagePixels = Annotated[int, _option("MAX_IMAGE_PIXELS", "Most pixels of an image, by its header.", min=1)]
MaxHeaderBytes = Annotated[int, _option("MAX_HEADER_BYTES", "Longest head of a request.", min=1024)]
HeaderSeconds = Annotated[float, _option("HEADER_SECONDS", "How long a head may take to arrive.", min=0.1)]
BodySeconds = Annotated[float, _option("BODY_SECONDS", "How long a body may take to arrive.", min=0.1)]

InProcess = Annotated[
    bool,
    _switch("IN_PROCESS", "Run the engine in the server's own process: less memory, no restart when it fails."),
]
PassSeconds = Annotated[float, _option("PASS_SECONDS", "An engine busy longer with one pass has hung and is replaced.", min=0.1)]

Log = Annotated[LogFormat, _option("LOG_FORMAT", "How log lines on stderr look.")]
LogLevel = Annotated[str, _option("LOG_LEVEL", "debug, info (a line for each request), warning or error.")]
Tracing = Annotated[bool, _switch("TRACING", "Send OpenTelemetry traces (OTEL_... variables); needs oneread[otel].")]

LogDecisions = Annotated[
    Path | None,
    _option("LOG_DECISIONS", "File to log decisions to: SQLite, or a folder of Parquet files if named .parquet.", metavar="FILE"),
]
LogInputs = Annotated[bool, _switch("LOG_INPUTS", "Log requests whole, evidence included, not their SHA-256 only.")]
LogSample = Annotated[float, _option("LOG_SAMPLE", "Share of decisions to log.", min=0.0, max=1.0)]
LogDays = Annotated[float | None, _option("LOG_DAYS", "Delete logged decisions older than this.", min=0.001)]
LogMaxBytes = Annotated[int, _option("LOG_MAX_BYTES", "Delete the oldest logged decisions beyond this size.", min=1 << 16)]
