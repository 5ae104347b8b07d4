"""What a reader cannot do is refused by name, at the place where the request says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..canvas.labels import LabelCanvas
from ..controls import IMAGE_TOKENS, Confidence
from ..engines.base import PromptImage
from ..errors import InvalidRequest, Issue
from ..planning import RowForm
from ..questions import Choice, Noul, Question, Request, Score, question_type

if TYPE_CHECKING:
    from ..readers.reader import Reader


def refuse_unsupported(request: Request, formula: Confidence, reader: Reader) -> None:
    """Refuse by name what the reader's engine cannot do. Raises `InvalidRequest`."""
    can, c = reader.engine.capabilities, request.controls
    issues: list[Issue] = []

    def refuse(name: str, why: str) -> None:
        issues.append(Issue((name,), f"The reader {reader.name} {why}", "unsupported_by_reader"))

    if not reader.takes_images:
        issues += [Issue(i.loc, f"The reader {reader.name} reads text only", "images_unsupported") for i in request.images]
        if c.image_tokens != IMAGE_TOKENS:
            refuse("image_tokens", "reads text only; leave it out")
    if c.steps > can.steps:
        refuse("steps", f"reads in at most {can.steps} step{'s' if can.steps > 1 else ''}")
    if c.projection == "full" and not can.full:
        marks = can.readout == "marker"
        refuse("projection", "has no vocabulary to project to; use labels" if marks else "computes the labels only; use labels")
    if formula == "mass" and not reader.has_mass:
        refuse("confidence", "has no label mass; use typesafe, top, margin or entropy")
    canvas = reader.canvas if isinstance(reader.canvas, LabelCanvas) else None
    if c.think and not (reader.writer is not None and reader.script is not None and canvas is not None and canvas.thinks):
        refuse("think", "does not think first; leave it out or send 0")
    if canvas is None:
        for name in ("canvas_length", "chunk_rows"):
            if getattr(c, name) is not None:
                refuse(name, "has no canvas of fixed width; leave it out")
    elif c.canvas_length is not None and c.canvas_length > canvas.form.canvas:
        refuse("canvas_length", f"has canvases of at most {canvas.form.canvas} tokens")
    if issues:
        raise InvalidRequest(issues)


def refuse_crowded(request: Request, form: RowForm) -> None:
    """Refuse a thought and images that would leave less than half a row to questions and state. Raises `InvalidRequest`."""
    limit = form.window // 2
    if form.frame > limit and (request.controls.think or request.images):
        name = "think" if request.controls.think else "images"
        message = f"Thought and images take {form.frame} tokens with framing; this reader takes at most {limit}"
        raise InvalidRequest.at((name,), message, "too_many_tokens", max_tokens=limit, actual_tokens=form.frame)


def refuse_wide(images: Sequence[PromptImage], canvas: int, room: int) -> None:
    """Refuse images that do not fit a pass with a canvas of so many tokens. Raises `InvalidRequest`.

    Args:
        room: `Capabilities.image_room`.
    """
    tokens = canvas + sum(image.tokens + 2 for image in images)
    if images and tokens > room:
        message = f"Images and canvas take {tokens} tokens; this reader takes at most {room} in one pass"
        raise InvalidRequest.at(("images",), message, "too_many_tokens", max_tokens=room, actual_tokens=tokens)


def addressed(issue: Issue, questions: Mapping[str, Question]) -> Issue:
    """An issue of the planner, which knows options by index, at the place where the request says it."""
    question = questions[str(issue.loc[1])]
    loc = [*issue.loc[:2], question_type(question), *issue.loc[2:]]
    if isinstance(loc[-1], int):
        match question:
            case Choice(options):
                loc[-1] = list(options)[loc[-1]]
            case Noul():
                loc[-1] = ("true", "false")[loc[-1]]
            case Score():
                pass
    return replace(issue, loc=tuple(loc))
