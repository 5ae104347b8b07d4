"""The examples are answered by the embedded reader as a person expects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from oneread import Answer, ChoiceAnswer, Decider, NoulAnswer, ScoreAnswer
from oneread.serving.dialects.systemone import parse

CASES = sorted((Path(__file__).parents[1] / "examples" / "cases").glob("*.json"))


def holds(answer: Answer, expected: Any) -> bool:
    match answer:
        case NoulAnswer(noul):
            return bool((noul > 0.5) is expected)
        case ChoiceAnswer(choice):
            return bool(choice == expected)
        case ScoreAnswer(score):
            return bool(expected.get("min", 0) <= score <= expected.get("max", 9))


@pytest.fixture(scope="module")
def verdicts() -> dict[str, dict[str, bool]]:
    found = {}
    with Decider() as decider:
        for path in CASES:
            case = json.loads(path.read_text(encoding="utf-8"))
            answers = decider.decide(parse(case["request"]).request).answers
            assert set(case["expect"]) == set(answers)
            found[path.stem] = {key: holds(answers[key], expected) for key, expected in case["expect"].items()}
    return found


def test_there_are_twelve_cases() -> None:
    assert len(CASES) == 12


def test_at_least_eleven_cases_are_wholly_right(verdicts: dict[str, dict[str, bool]]) -> None:
    wrong = {name: answers for name, answers in verdicts.items() if not all(answers.values())}
    assert len(verdicts) - len(wrong) >= 11, wrong
