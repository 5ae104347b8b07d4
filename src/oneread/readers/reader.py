"""A reader made ready: tokenizer, canvas, calibration, and the engine that serves its weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokenizers import Tokenizer

from ..calibration.temperature import Temperatures
from ..canvas.base import Canvas, Script
from ..canvas.markers import MarkerCanvas
from ..engines.base import Engine, Eyes, Writer
from ..engines.embedded import EncoderModel, default_threads, embedded_engine, isolated_engine
from ..engines.isolated import PASS_TIMEOUT_S
from ..errors import ReaderError
from .manifest import TOKENIZER, Manifest, read_manifest, verify_files
from .weights import load_weights

if TYPE_CHECKING:
    from .checkpoint import Placement

EMBEDDED = Path(__file__).parent / "embedded"
"""The reader inside the package."""


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """A model with its tokenizer, prompt form, readout and calibration, and the engine that serves it.

    Attributes:
        name: what requests call it.
        description: one sentence for a person.
        release_date: ISO 8601 date.
        licence: SPDX identifier of the weights' licence.
        digest: SHA-256 of its files, in hexadecimal: what a calibration profile is fitted for.
        engine: executes its reads.
        canvas: lays questions and states into rows of its tokens.
        temperatures: raw scores are divided by these before the softmax, by question type and number of options.
        writer, script: what writes text and how its prompts look; None for a reader that only reads.
        eyes: what prepares images; None for a reader of text.
        rounding: what of its weights was rounded while they were loaded, in words; None where they are as its files have them.
    """

    name: str
    description: str
    release_date: str
    licence: str
    digest: str
    engine: Engine
    canvas: Canvas[Any]
    temperatures: Temperatures
    writer: Writer | None = None
    script: Script | None = None
    eyes: Eyes | None = None
    rounding: str | None = None

    @property
    def takes_images(self) -> bool:
        """Whether a request may bring images."""
        return self.eyes is not None and self.engine.capabilities.images

    @property
    def has_mass(self) -> bool:
        """Whether it has a label mass: the share of the vocabulary's probability on the allowed answers."""
        return self.engine.capabilities.readout == "label"

    def close(self) -> None:
        """Free the model."""
        self.engine.close()


def load_reader(
    path: Path | None = None,
    threads: int | None = None,
    isolated: bool = False,
    pass_timeout_s: float = PASS_TIMEOUT_S,
    placement: Placement | None = None,
    progress: bool = False,
) -> Reader:
    """Load a reader's directory, or the one inside the package.

    Args:
        path: a directory with reader.json, tokenizer.json and the weights, or the folder of a DiffusionGemma checkpoint
            (`checkpoint.load_checkpoint`), which always runs in this process; None for the embedded reader.
        threads: CPU threads of its engine; None for `engines.embedded.default_threads`.
        isolated: run the model in a process of its own, which is replaced when it crashes or hangs.
        pass_timeout_s: where isolated, how long a pass may take before it counts as hung.
        placement: where a checkpoint is loaded.
        progress: whether loading a checkpoint draws bars on the terminal.

    Raises:
        MissingExtra: a checkpoint needs torch, which is not installed.
        ReaderError: when a file or tensor is missing, damaged, not listed, or of a form this version does not know.
    """
    directory = EMBEDDED if path is None else path
    from .checkpoint import is_checkpoint, load_checkpoint

    if is_checkpoint(directory):
        return load_checkpoint(directory, threads, placement, progress)
    manifest = read_manifest(directory)
    verify_files(directory, manifest)
    try:
        tokenizer = Tokenizer.from_file(str(directory / TOKENIZER))
    except Exception as error:  # the tokenizers package raises plain Exception
        raise ReaderError(f"{directory / TOKENIZER} is not a tokenizer") from error
    window = manifest.form.longest or manifest.form.window
    if isolated:
        engine = isolated_engine(manifest.model, partial(load_model, directory, threads), window, pass_timeout_s)
    else:
        engine = embedded_engine(manifest.model, load_weights(_shards(directory, manifest), manifest.model), window, threads)
    return Reader(
        name=manifest.name,
        description=manifest.description,
        release_date=manifest.release_date,
        licence=manifest.licence,
        digest=manifest.digest,
        engine=engine,
        canvas=MarkerCanvas(tokenizer, manifest.form),
        temperatures=manifest.temperatures,
    )


def load_model(directory: Path, threads: int | None = None) -> EncoderModel:
    """The bare model of a reader's directory whose files were verified before."""
    manifest = read_manifest(directory)
    weights = load_weights(_shards(directory, manifest), manifest.model)
    return EncoderModel(manifest.model, weights, manifest.form.longest or manifest.form.window, threads or default_threads())


def _shards(directory: Path, manifest: Manifest) -> list[Path]:
    return [directory / file.name for file in manifest.files if file.name != TOKENIZER]
