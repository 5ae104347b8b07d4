"""Flags that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

ReaderPath = Annotated[
    Path | None,
    typer.Option(
        "--reader",
        envvar="ONEREAD_READER",
        metavar="DIR",
        help="Directory of a reader's files, or a DiffusionGemma folder; left out, the embedded one.",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        envvar="ONEREAD_THREADS", min=1, max=256, help="CPU threads of the engine; left out, one for each core, at most 4."
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        envvar="ONEREAD_DEVICE",
        help="Where a DiffusionGemma folder runs: cuda, cuda:1 or cpu; left out, CUDA where there is one.",
    ),
]
CacheGib = Annotated[
    float | None,
    typer.Option(
        "--prefix-cache-gib",
        envvar="ONEREAD_PREFIX_CACHE_GIB",
        min=0,
        help="What DiffusionGemma's prefix cache may take; left out, 8 on CUDA and 2 on a CPU.",
    ),
]
PassRows = Annotated[
    int | None,
    typer.Option(
        envvar="ONEREAD_PASS_ROWS",
        min=512,
        help="Most tokens of one pass of DiffusionGemma; left out, 16384 on CUDA and 4096 on a CPU.",
    ),
]


class BitsName(StrEnum):
    """How many bits a weight of DiffusionGemma's experts may take; or both forms side by side."""

    SIXTEEN = "16"
    TWELVE = "12"
    BOTH = "12+16"


ExpertBits = Annotated[
    BitsName | None,
    typer.Option(
        envvar="ONEREAD_EXPERT_BITS",
        help="Bits of a weight of DiffusionGemma's experts: 12 keep bfloat16 in a quarter less, for few reads at once; "
        "12+16 keep both forms, in three quarters more, for few and for many (CUDA's fused kernels only); left out, 16.",
    ),
]
Host = Annotated[str, typer.Option(envvar="ONEREAD_HOST", help="Address to listen on.")]
Port = Annotated[int, typer.Option(envvar="ONEREAD_PORT", min=0, max=65535, help="Port to listen on; 0 takes any that is free.")]

ServePort = Annotated[
    int | None,
    typer.Option(
        envvar="ONEREAD_PORT",
        min=0,
        max=65535,
        help="Port to listen on; 0 takes any that is free. Left out, that of the profile, which is 8080 without one.",
    ),
]


class SystemName(StrEnum):
    """The systems whose place a server can take."""

    DJEV = "djev"
    OPENJEV = "openjev"
    JEV_LOCAL = "jev-local"
    VLLM = "vllm"


class FormulaName(StrEnum):
    """The formulas of confidence."""

    TYPESAFE = "typesafe"
    TOP = "top"
    MARGIN = "margin"
    ENTROPY = "entropy"
    MASS = "mass"


SystemProfile = Annotated[
    SystemName | None,
    typer.Option(
        "--profile",
        envvar="ONEREAD_PROFILE",
        help="Take another system's place: its port, defaults, reply fields and failures; see docs/compatibility.md.",
    ),
]
Formula = Annotated[
    FormulaName | None,
    typer.Option(
        "--confidence",
        envvar="ONEREAD_CONFIDENCE",
        help="Formula of confidence where a request names none; left out, the profile's, which is typesafe without one.",
    ),
]
Diagnostics = Annotated[
    bool,
    typer.Option("--diagnostics", envvar="ONEREAD_DIAGNOSTICS", help="Tell in every reply how it was read."),
]

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8080
READER_TODO = "Check it with 'oneread doctor'; leave --reader and ONEREAD_READER out to use the embedded reader."
