"""A DiffusionGemma checkpoint's folder, as it is published, made a reader with labels."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tokenizers import Tokenizer

from ..calibration.temperature import Temperatures
from ..canvas.chat import ChatScript
from ..canvas.label_form import LabelForm
from ..canvas.labels import LabelCanvas
from ..controls import CANVAS_STEP, MAX_CANVAS
from ..engines.batcher import Batcher
from ..engines.embedded import default_threads
from ..engines.onepass import need_torch
from ..engines.onepass.checkpoint import list_tensors
from ..engines.onepass.config import Config, read_config
from ..engines.onepass.fit import Fit
from ..errors import ReaderError
from .manifest import MANIFEST, TOKENIZER
from .reader import Reader

if TYPE_CHECKING:
    from ..engines.onepass.options import ExpertBits, Options

CONFIG = "config.json"
UNCALIBRATED = Temperatures.parse({"noul": 1, "choice": 1, "score": 1})
NO_LICENCE = "NOASSERTION"
"""SPDX's word for a licence that nobody stated."""

_SAMPLES, _SAMPLE_BYTES = 64, 64 * 1024


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a checkpoint is loaded, and what it may take there. None leaves the choice to the engine.

    Attributes:
        device: ``"cuda"``, ``"cuda:1"``, ``"cpu"``; None takes CUDA where there is a device, else the CPU.
        kv_bytes: of the prefix cache.
        rows: most new rows of one pass.
        expert_bits: of each weight of the experts (`engines.onepass.options.Options`).
    """

    device: str | None = None
    kv_bytes: int | None = None
    rows: int | None = None
    expert_bits: ExpertBits | None = None


def is_checkpoint(directory: Path) -> bool:
    """Whether a directory is a model's checkpoint: it has config.json, and no reader.json."""
    return (directory / CONFIG).is_file() and not (directory / MANIFEST).exists()


def load_checkpoint(
    directory: Path, threads: int | None = None, placement: Placement | None = None, progress: bool = False
) -> Reader:
    """Load DiffusionGemma with its tokenizer. It runs in this process.

    The image tower is loaded where the checkpoint has one and the extra ``vision`` is installed.

    Args:
        threads: of torch, on a CPU; None for `engines.embedded.default_threads`.
        progress: whether to draw bars on the terminal, and say what was rounded.

    Raises:
        ReaderError: a file or tensor is missing or damaged, the tokenizer lacks a token that is needed or does not belong to
            the model, or it does not fit the device; with the arithmetic.
        MissingExtra: torch is not installed.
    """
    need_torch()
    config = read_config(directory)
    tokenizer = _tokenizer(directory, config)
    images = sees(directory, config)
    if images and tokenizer.token_to_id("<|image|>") != config.image_token:
        raise ReaderError(f"{directory / CONFIG}: image_token_id is not the tokenizer's <|image|>")
    script = ChatScript(tokenizer)

    import torch

    from ..engines.onepass.load import load_onepass, rounding
    from ..engines.onepass.writer import OnePassWriter

    where, options = _placed(directory, placement)
    if torch.device(where).type == "cpu":
        torch.set_num_threads(threads or default_threads())
    model = load_onepass(directory, where, options, images=images, progress=progress)
    widest = max(CANVAS_STEP, min(MAX_CANVAS, config.canvas // CANVAS_STEP * CANVAS_STEP))
    try:
        canvas = LabelCanvas(tokenizer, LabelForm(model.capabilities.window, canvas=widest))
    except ReaderError:
        model.close()
        raise
    does = "typed questions, text and images" if images else "typed questions and text"
    if slow := _slow(directory, where, config):
        does += f". Kernels: {slow}"
    if rounded := rounding(model.weights):
        does += f". {rounded.capitalize()}"
    return Reader(
        name=name_of(directory),
        description=f"DiffusionGemma, read in one pass: {does}.",
        release_date=_newest(directory),
        licence=_licence(directory),
        digest=fingerprint(directory),
        engine=Batcher(model, options.rows),
        canvas=canvas,
        temperatures=UNCALIBRATED,
        writer=OnePassWriter(model),
        script=script,
        eyes=model.vision,
        rounding=rounded,
    )


@dataclass(frozen=True, slots=True)
class Survey:
    """What is known of a checkpoint before it is loaded.

    Attributes:
        device: where it would run.
        fit: what that would take, beside what the device has.
        tower: whether it has an image tower.
        sees: whether the tower would be loaded.
        slow: what a CUDA device would run instead of the fastest kernels, and why, if so.
    """

    device: str
    fit: Fit
    tower: bool
    sees: bool
    slow: str | None = None


def survey(directory: Path, placement: Placement | None = None) -> Survey:
    """Look at a checkpoint's config and the headers of its files. Loads nothing. Raises as `load_checkpoint` does."""
    need_torch()
    import torch

    from ..engines.onepass.load import fit_on

    config = read_config(directory)
    where, options = _placed(directory, placement)
    seen = sees(directory, config)
    fit = fit_on(directory, torch.device(where), options, seen)
    return Survey(where, fit, has_tower(directory, config), seen, _slow(directory, where, config))


def sees(directory: Path, config: Config) -> bool:
    """Whether a checkpoint's image tower can be loaded: it has one, and the extra ``vision`` is installed."""
    return has_tower(directory, config) and find_spec("transformers") is not None and find_spec("PIL") is not None


def has_tower(directory: Path, config: Config) -> bool:
    """Whether a checkpoint has an image tower."""
    return config.vision is not None and any(".embed_vision." in name for name in list_tensors(directory))


def name_of(directory: Path) -> str:
    """What requests call a checkpoint: its folder's name, or in a cache of a model hub the model's."""
    path = directory.resolve()
    if path.parent.name == "snapshots":
        return path.parent.parent.name.rpartition("--")[2]
    return path.name


def fingerprint(directory: Path) -> str:
    """SHA-256, in hexadecimal, of the tokenizer and the config whole, and of every weights file its name, size, header and
    64 samples of 64 KiB from its first to its last bytes: what tells checkpoints apart without reading some fifty gigabytes."""
    digest = hashlib.sha256()
    for name in (CONFIG, TOKENIZER):
        digest.update((directory / name).read_bytes())
    for file in sorted({entry.file for entry in list_tensors(directory).values()}):
        size = file.stat().st_size
        digest.update(f"{file.name} {size}\n".encode())
        with file.open("rb") as stream:
            (header,) = struct.unpack("<Q", stream.read(8))
            digest.update(stream.read(header))
            for index in range(_SAMPLES):
                stream.seek(8 + header + max(0, size - 8 - header - _SAMPLE_BYTES) * index // (_SAMPLES - 1))
                digest.update(stream.read(_SAMPLE_BYTES))
    return digest.hexdigest()


def _slow(directory: Path, where: str, config: Config) -> str | None:
    import torch

    from ..engines.onepass.load import lacking, streaming

    device = torch.device(where)
    if device.type != "cuda":
        return None
    if why := lacking(device, config):
        return f"plain torch, which is slow: {why}"
    if why := streaming(directory, device, config):
        return f"fused, but the one for the experts' second product of large FP8 passes: {why}"
    return None


def _placed(directory: Path, placement: Placement | None) -> tuple[str, Options]:
    import torch

    from ..engines.onepass.load import default_options

    wanted = placement or Placement()
    where = wanted.device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(where)
    except RuntimeError as error:
        raise ReaderError(f"{where!r} names no device; cpu, cuda or cuda:1 would") from error
    if device.type not in ("cpu", "cuda"):
        raise ReaderError(f"device {where!r} is none that this engine runs on; cpu, cuda or cuda:1 would be")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ReaderError("no CUDA device was found; device cpu runs without one")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ReaderError(f"there is no {where}; the last is cuda:{torch.cuda.device_count() - 1}")
    return where, default_options(directory, where, wanted.rows, wanted.kv_bytes, wanted.expert_bits or 16)


def _tokenizer(directory: Path, config: Config) -> Tokenizer:
    path = directory / TOKENIZER
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the tokenizers package raises plain Exception
        raise ReaderError(f"{path} is {'not a tokenizer' if path.exists() else 'missing'}") from error
    if tokenizer.get_vocab_size() > config.vocab:
        raise ReaderError(f"{path} has {tokenizer.get_vocab_size()} tokens, the model only {config.vocab}")
    return tokenizer


def _newest(directory: Path) -> str:
    """The day on which the newest of its files was written: the folder says nothing of a release."""
    files = {entry.file for entry in list_tensors(directory).values()}
    return datetime.fromtimestamp(max(file.stat().st_mtime for file in files), UTC).date().isoformat()


def _licence(directory: Path) -> str:
    """What the head of the model card says, else `NO_LICENCE`."""
    card = directory / "README.md"
    if card.is_file():
        head = card.read_text("utf-8", "replace").removeprefix("---").partition("\n---")[0]
        for line in head.splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "license" and value.strip():
                return value.strip()
    return NO_LICENCE
