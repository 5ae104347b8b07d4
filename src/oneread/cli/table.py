"""A reply as a table for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

BAR = 10
SHOWN = 8
"""Options drawn for one question, the most probable first; the rest are counted."""


def answers_table(questions: Mapping[str, Any], reply: Mapping[str, Any]) -> Table:
    """One row for each question of a System One request, with its reply's answer and a bar for each option."""
    table = Table(show_lines=True, caption=_caption(reply), caption_justify="left")
    table.add_column("question", overflow="fold", max_width=36)
    table.add_column("answer", overflow="fold", max_width=28)
    table.add_column("confidence", justify="right")
    table.add_column("probabilities", overflow="fold")
    for key, answer in reply["answers"].items():
        confidence = answer.get("confidence")
        table.add_row(
            Text(_label(key, questions.get(key, {}))),
            Text(_answer(answer), style="bold"),
            "" if confidence is None else f"{confidence:.3f}",
            _bars(answer),
        )
    return table


def _label(key: str, question: Any) -> str:
    instructions = question.get("instructions") if isinstance(question, Mapping) else None
    return f"{key}\n{instructions}" if isinstance(instructions, str) and instructions not in ("", key) else key


def _answer(answer: Mapping[str, Any]) -> str:
    match answer["type"]:
        case "noul":
            return "yes" if answer["noul"] > 0.5 else "no"
        case "choice":
            return str(answer["choice"])
        case _:
            nearest = str(min(round(answer["score"]), len(answer["legend"]) - 1))
            return f"{answer['score']:.2f}\n{_text(answer['legend'][nearest])}"


def _bars(answer: Mapping[str, Any]) -> Text:
    match answer["type"]:
        case "noul":
            rows = [("yes", answer["noul"])]
        case "choice":
            rows = sorted(answer["probabilities"].items(), key=lambda item: -item[1])
        case _:
            rows = [(f"{level} {_text(answer['legend'][level])}", p) for level, p in answer["probabilities"].items()]
    if answer["type"] == "choice" and len(rows) > SHOWN:
        rows, left = rows[:SHOWN], len(rows) - SHOWN
    else:
        left = 0
    lines = [Text.assemble((_bar(p), "cyan"), f" {p:6.1%} ", name) for name, p in rows]
    if left:
        lines.append(Text(f"and {left} more", style="dim"))
    return Text("\n").join(lines)


def _bar(p: float) -> str:
    full = round(p * BAR)
    return "█" * full + "·" * (BAR - full)


def _text(content: Any) -> str:
    text = content if isinstance(content, str) else str(content)
    return text if len(text) <= 40 else text[:39] + "…"


def _caption(reply: Mapping[str, Any]) -> str:
    usage = reply["usage"]
    return f"{reply['model']} · {usage['input_tokens']} tokens read"
