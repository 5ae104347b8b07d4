"""Three questions over one state, asked of the tiny DiffusionGemma, and what its diagnostics tell. Needs Pillow."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image as Picture

from oneread import Choice, Controls, Decider, Noul, Question, Request, Score
from oneread.answers import Answers, QuestionDiagnostics
from oneread.questions import Image

ASKED: dict[str, Question] = {
    "urgent": Noul("Is it urgent?"),
    "team": Choice({"billing": "money", "outage": None, "other": None}, "Which team?"),
    "anger": Score(["calm", "angry"], "How angry?"),
}

STATE = "the site is down and nobody answers"


def ask(decider: Decider, questions: dict[str, Question] = ASKED, images: tuple[Image, ...] = (), **controls: Any) -> Answers:
    asking = controls.pop("asking", {})
    state = controls.pop("state", STATE)
    return decider.decide(Request(state, questions, Controls(diagnostics=True, **controls), asking, images))


def told(reply: Answers, key: str = "urgent") -> QuestionDiagnostics:
    assert reply.diagnostics is not None
    return reply.diagnostics.questions[key]


def distributions(reply: Answers) -> dict[str, Any]:
    assert reply.diagnostics is not None
    return {key: pytest.approx(q.probabilities, abs=1e-5) for key, q in reply.diagnostics.questions.items()}


def png(seed: int, size: tuple[int, int] = (96, 64), form: str = "PNG") -> Image:
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3)).astype(np.uint8)
    stream = io.BytesIO()
    Picture.fromarray(pixels).save(stream, form)
    return Image(stream.getvalue(), *size, ("images", seed))
