"""What clients of vLLM saw on `/v1/systemone`: an object with an id, a noul with a confidence, label mass, 400s."""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from typing import Any

from ...answers import Answers, NoulAnswer, confidence
from ...controls import Confidence
from ..failures import Failure
from . import systemone
from .base import Ask, Dialect, Terms
from .openai_errors import path


def parse(value: Any, terms: Terms) -> Ask:
    """As System One's; any model is let in. Raises as `systemone.parse` does."""
    ask = systemone.parse(value, terms)
    shown = isinstance(value, dict) and value.get("diagnostics") is True
    formula = ask.request.controls.confidence or "top"
    return replace(ask, reply=lambda answers: _reply(answers, formula, shown))


def refuse(failure: Failure) -> tuple[int, dict[str, Any]]:
    """The status and the body of a failure: vLLM's error object, in which the code is the status."""
    status, message, param = failure.status, failure.message, None
    if failure.issues:
        first = failure.issues[0]
        status, param = 400, path(first.loc) or None
        message = f"{param}: {first.message}" if param else first.message
    elif failure.kind == "authentication_error":
        return 401, {"error": "Unauthorized"}
    elif failure.about == "model" and status == 400:
        status = 404
    kind = {400: "BadRequestError", 404: "NotFoundError"}.get(status, "InternalServerError" if status >= 500 else failure.kind)
    return status, {"error": {"message": message, "type": kind, "param": param, "code": status}}


def _reply(answers: Answers, formula: Confidence, shown: bool) -> dict[str, Any]:
    body = systemone.reply(answers if shown else replace(answers, diagnostics=None))
    told = answers.diagnostics.questions if answers.diagnostics is not None else {}
    for key, answer in answers.answers.items():
        if isinstance(answer, NoulAnswer):
            yes = answer.noul
            mass = told[key].label_mass if key in told else None
            sure = confidence(formula, "noul", [yes, 1 - yes], mass)
            body["answers"][key] |= {"confidence": sure, "probabilities": {"yes": yes, "no": 1 - yes}}
    body["diagnostics"] = {key: {"label_mass": t.label_mass, "argmax_is_label": t.argmax_is_label} for key, t in told.items()}
    head = {"id": f"decision-{secrets.token_hex(16)}", "object": "structured_decision", "created": int(time.time())}
    return head | body | {"x_confidence": formula}


DIALECT = Dialect(parse, refuse, aliases=None)
