"""reader.json: what a reader's directory holds, and the checks that it holds exactly that."""

from __future__ import annotations

import hashlib
import json
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from ..calibration.temperature import Temperatures
from ..canvas.markers import MarkerForm
from ..engines.encoder import EncoderConfig
from ..engines.startup import tell
from ..errors import ReaderError

FORMAT = "oneread-reader/1"
MANIFEST = "reader.json"
TOKENIZER = "tokenizer.json"
_UNLISTED = {MANIFEST, "MODEL_CARD.md"}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReaderFile:
    """One file of a reader: its name in the directory, its size in bytes and its SHA-256 in hexadecimal."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of reader.json.

    Attributes:
        name: what requests call the reader.
        release_date: ISO 8601 date.
        licence: SPDX identifier.
        model: the encoder's shape.
        form: framing token ids and window.
        temperatures: raw scores are divided by these before the softmax, by question type and number of options.
        files: every other file but the model card: the tokenizer and the weights' shards.
    """

    name: str
    description: str
    release_date: str
    licence: str
    model: EncoderConfig
    form: MarkerForm
    temperatures: Temperatures
    files: tuple[ReaderFile, ...]

    @property
    def digest(self) -> str:
        """SHA-256, in hexadecimal, that differs when any of the files does."""
        lines = sorted(f"{file.name} {file.sha256}\n" for file in self.files)
        return hashlib.sha256("".join(lines).encode()).hexdigest()


def read_manifest(directory: Path) -> Manifest:
    """Parse reader.json.

    Raises:
        ReaderError: when it is missing, is no JSON, is of another format, or lacks, repeats or mistypes an entry.
    """
    path = directory / MANIFEST
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise ReaderError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ReaderError(f"{path} is not JSON") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ReaderError(f"{path} should be of format {FORMAT!r}; this version of oneread knows no other")
    data = {k: v for k, v in data.items() if k != "format"}
    manifest = _record(Manifest, data, str(path))
    for file in manifest.files:
        if Path(file.name).name != file.name or file.name in _UNLISTED:
            raise ReaderError(f"{path}: {file.name!r} is no name for a reader's file")
    if TOKENIZER not in {file.name for file in manifest.files}:
        raise ReaderError(f"{path}: {TOKENIZER} is not among the files")
    return manifest


def verify_files(directory: Path, manifest: Manifest) -> None:
    """Check that the directory holds the listed files, whole, and no others.

    Raises:
        ReaderError: naming the first file that is missing, of another size, damaged, or not listed.
    """
    done, total = 0, sum(file.size for file in manifest.files)
    for file in manifest.files:
        tell("verifying files", done, total)
        done += file.size
        path = directory / file.name
        if not path.is_file():
            raise ReaderError(f"{path} is missing")
        if path.stat().st_size != file.size:
            raise ReaderError(f"{path} is damaged: it should hold {file.size} bytes, found {path.stat().st_size}")
        with path.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != file.sha256:
                raise ReaderError(f"{path} is damaged: its SHA-256 is not the one in {MANIFEST}")
    listed = {file.name for file in manifest.files} | _UNLISTED
    for path in sorted(directory.iterdir()):
        if path.name not in listed and not path.name.startswith("."):
            raise ReaderError(f"{path} is not listed in {MANIFEST}")


def _record(cls: type[T], data: Any, where: str) -> T:
    """A dataclass from a JSON object that has its fields, no others, each of its type."""
    if not isinstance(data, dict):
        raise ReaderError(f"{where} should be an object")
    hints = get_type_hints(cls)
    wanted = {f.name for f in fields(cls) if f.default is MISSING}  # type: ignore[arg-type]
    for name in sorted(wanted - data.keys()):
        raise ReaderError(f"{where}: {name} is missing")
    for name in sorted(data.keys() - hints.keys()):
        raise ReaderError(f"{where}: {name} is not known to this version of oneread")
    return cls(**{name: _typed(hints[name], value, f"{where}: {name}") for name, value in data.items()})


def _typed(hint: Any, value: Any, where: str) -> Any:
    if hint in (int, str) and type(value) is hint:
        return value
    if hint is float and type(value) in (int, float):
        return float(value)
    if get_origin(hint) is UnionType:  # X | None
        return None if value is None else _typed(get_args(hint)[0], value, where)
    if get_origin(hint) is Literal and value in get_args(hint):
        return value
    if hint is Temperatures:
        return Temperatures.parse(value)
    if get_origin(hint) is tuple and isinstance(value, list):
        return tuple(_record(get_args(hint)[0], item, f"{where}.{i}") for i, item in enumerate(value))
    if isinstance(hint, type) and hasattr(hint, "__dataclass_fields__"):
        return _record(hint, value, where)
    raise ReaderError(f"{where} is of the wrong type")
