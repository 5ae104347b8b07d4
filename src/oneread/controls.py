"""How a request is to be read, beside what it asks: stages, draws, orders, confidence. No HTTP, no tokens, no tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from .errors import Issue

Content: TypeAlias = "str | Mapping[str, Any] | Sequence[Any]"
"""A text, or a JSON object or array (nested as deep as `questions.MAX_DEPTH`)."""

Mode: TypeAlias = Literal["independent", "packed"]
Projection: TypeAlias = Literal["labels", "full"]
Confidence: TypeAlias = Literal["typesafe", "top", "margin", "entropy", "mass"]

AnswerValue: TypeAlias = bool | int | str
"""An answer as a condition names it: True or False of a noul, an option's name, a level's index."""

MAX_DRAWS = 32
MAX_STEPS = 8
MAX_THOUGHT = 4096
MAX_SEED = 2**32 - 1
CANVAS_STEP, MAX_CANVAS = 16, 256
IMAGE_TOKENS, IMAGE_BUDGETS = 280, (70, 140, 280, 560, 1120)


@dataclass(frozen=True, slots=True)
class Asking:
    """When and how one question is asked.

    Attributes:
        depends_on: ids of questions that are answered in an earlier stage; their answers are shown to the reader.
        ask_if: by id of an earlier question, the answers under which this one is asked; else it is skipped.
        alone: in packed mode, the question still gets a canvas or row of its own.
        abstain_below: an answer whose confidence (label mass for ``confidence="mass"``) is lower is reported as an
            abstention; 0 to 1.
    """

    depends_on: tuple[str, ...] = ()
    ask_if: Mapping[str, tuple[AnswerValue, ...]] = field(default_factory=dict)
    alone: bool = False
    abstain_below: float | None = None

    @property
    def needs(self) -> tuple[str, ...]:
        """Ids that must be answered first: `depends_on`, then those of `ask_if` (which implies it)."""
        return tuple(dict.fromkeys((*self.depends_on, *self.ask_if)))


@dataclass(frozen=True, slots=True)
class Controls:
    """How all questions of a request are read. The defaults answer as TypeSafe does.

    Attributes:
        ask: ids to answer, with what they depend on; None asks all.
        mode: ``independent`` reads each question by itself, ``packed`` lets them share a canvas or row.
        samples: draws of each question, 1 to 32, or ``"auto"``: one, and more only where the entropy of the first exceeds
            `auto_threshold`.
        auto_max: draws of an uncertain question under ``"auto"``, 1 to 32.
        auto_threshold: nats of entropy over the allowed answers.
        rotations: orders in which options are read, 1 to 32, or ``"auto"``: one, and `auto_max` where the reading is
            uncertain or options are many.
        seed: of noise and of orders, 0 to 2**32 - 1.
        steps: denoising steps of a read with all but the slots pinned, 1 to 8.
        think: the most tokens of a thought written before the answers, 0 to 4096.
        sequential: read the groups of a packed stage one after another, each seeing the answers before it.
        projection: what of the vocabulary is computed at a slot.
        canvas_length: width of every canvas, 16 to 256 in steps of 16; None takes the narrowest.
        chunk_rows: the most rows of a canvas that template and slots may take, at least 8; None takes the canvas.
        image_tokens: the most tokens that one image is read as, one of `IMAGE_BUDGETS`.
        instructions: context shared by all questions.
        confidence: the formula behind every confidence; None takes the server's.
        diagnostics: whether the reply tells how it was read; None takes the server's.
    """

    ask: tuple[str, ...] | None = None
    mode: Mode = "independent"
    samples: int | Literal["auto"] = 1
    auto_max: int = 4
    auto_threshold: float = 0.1
    rotations: int | Literal["auto"] = 1
    seed: int = 42
    steps: int = 1
    think: int = 0
    sequential: bool = False
    projection: Projection = "labels"
    canvas_length: int | None = None
    chunk_rows: int | None = None
    image_tokens: int = IMAGE_TOKENS
    instructions: Content | None = None
    confidence: Confidence | None = None
    diagnostics: bool | None = None


def check_controls(controls: Controls) -> list[Issue]:
    """One issue for each control outside its range; ``loc`` is its name."""
    c = controls
    ranges: dict[str, tuple[Any, int, int]] = {
        "auto_max": (c.auto_max, 1, MAX_DRAWS),
        "seed": (c.seed, 0, MAX_SEED),
        "steps": (c.steps, 1, MAX_STEPS),
        "think": (c.think, 0, MAX_THOUGHT),
    }
    ranges |= {
        name: (value, 1, MAX_DRAWS) for name, value in (("samples", c.samples), ("rotations", c.rotations)) if value != "auto"
    }
    if c.canvas_length is not None:
        ranges["canvas_length"] = (c.canvas_length, CANVAS_STEP, MAX_CANVAS)
    if c.chunk_rows is not None:
        ranges["chunk_rows"] = (c.chunk_rows, 8, MAX_CANVAS)
    issues = []
    for name, (value, low, high) in ranges.items():
        if type(value) is not int or not low <= value <= high:
            auto = " or 'auto'" if name in ("samples", "rotations") else ""
            message = f"Input should be a whole number from {low} to {high}{auto}"
            issues.append(Issue((name,), message, "out_of_range", {"ge": low, "le": high}))
    if not issues and c.canvas_length is not None and c.canvas_length % CANVAS_STEP:
        message = f"Input should be a multiple of {CANVAS_STEP}"
        issues.append(Issue(("canvas_length",), message, "multiple_of", {"multiple_of": CANVAS_STEP}))
    if not (type(c.auto_threshold) in (int, float) and 0 <= c.auto_threshold < float("inf")):
        issues.append(Issue(("auto_threshold",), "Input should be a number from 0 up, in nats", "out_of_range", {"ge": 0}))
    for name, value, allowed in (
        ("mode", c.mode, get_args(Mode)),
        ("image_tokens", c.image_tokens, IMAGE_BUDGETS),
        ("projection", c.projection, get_args(Projection)),
        ("confidence", c.confidence, (None, *get_args(Confidence))),
    ):
        if value not in allowed or isinstance(value, float):
            known = ", ".join(repr(v) for v in allowed if v is not None)
            issues.append(Issue((name,), f"Input should be one of {known}", "literal_error"))
    issues += [
        Issue((name,), "Input should be true or false", "bool_type")
        for name, flag in (("sequential", c.sequential), ("diagnostics", c.diagnostics or False))
        if not isinstance(flag, bool)
    ]
    if c.ask is not None and (not isinstance(c.ask, tuple) or not all(isinstance(key, str) for key in c.ask)):
        issues.append(Issue(("ask",), "Input should be an array of question ids", "list_type"))
    elif c.ask is not None and not c.ask:
        issues.append(Issue(("ask",), "At least 1 id is needed", "too_short", {"min_length": 1}))
    return issues
