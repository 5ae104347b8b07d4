"""How a reader with labels is asked: what its model fixes, and what a request may choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..engines.base import PromptImage


@dataclass(frozen=True, slots=True)
class LabelForm:
    """How a reader with labels is asked.

    Attributes:
        window: most tokens of one read, prompt and canvas.
        first: what a prompt for one question begins with, its state or its question. Part of the form, never chosen by
            load or by the number of questions: the same question about the same state always reads the same tokens.
        canvas: widest canvas.
        step: a canvas is as narrow as its answer allows, in multiples of this.
    """

    window: int
    first: Literal["state", "question"] = "state"
    canvas: int = 256
    step: int = 16


@dataclass(frozen=True, slots=True)
class Setting:
    """How the rows of one request are laid, beyond what they ask. The defaults are the plain read.

    Attributes:
        thought: the most tokens of a thought; 0 for none.
        images: they come before the state; their `start` is set when they are laid.
        width: of the canvas, a multiple of 16; None for the narrowest.
        lines: the most rows of a canvas that template and slots take; None for the canvas.
        steps, full: as `Read` has them.
    """

    thought: int = 0
    images: tuple[PromptImage, ...] = ()
    width: int | None = None
    lines: int | None = None
    steps: int = 1
    full: bool = False


PLAIN = Setting()
