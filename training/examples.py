"""The examples by which the field explains itself, asked of a reader's directory: what it says, and how surely.

python -m training.examples [READER_DIR] [--json OUT]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from oneread import Choice, ChoiceAnswer, Decider, Noul, NoulAnswer, Question, Score, ScoreAnswer
from oneread.readers.reader import load_reader

DOWN = {"ticket": "Everything is down and we have a demo at noon."}
CLIENT = "Everything is down and we have a demo with our biggest client at noon."
PYTEST = "pytest cannot collect tests: ModuleNotFoundError: No module named yaml"
LOGIN = {"test_result": "Login rejects every user with HTTP 500.", "workaround": "None known."}
JA = "先週買った商品が壊れていました。返金していただけますか？"
DE = "Das Gerät ist defekt angekommen, ich hätte gern mein Geld zurück."
ES = "El producto llegó roto, quisiera que me devolvieran el dinero."
ANGRY = ["calm", "annoyed", "furious"]
REFUND = Noul("Is the customer asking for a refund?")
WANT = Choice(
    {"refund": "wants money back", "shipping": "where is my order", "praise": "says thank you"}, "What does the customer want?"
)
ENVIRONMENT = Choice(
    {
        "environment": "Inspect missing dependencies and the Python environment.",
        "assertion": "Inspect an assertion that compared the wrong values.",
        "network": "Inspect a remote request that timed out.",
    },
    "Which investigation best fits this failure?",
)
FILE = Choice(
    {
        "auth": "src/auth.py handles login requests.",
        "styles": "static/theme.css controls colors.",
        "other": "Neither file matches the problem.",
    },
    "Which supplied file should be inspected first?",
)
DISRUPTION = Score(
    [
        "Cosmetic issue; functionality works.",
        "A feature fails, with a working alternative.",
        "A feature is blocked without a known workaround.",
    ],
    "How disruptive is the reported issue?",
)
SERVICE_DOWN = Choice({"billing": None, "outage": "service down", "feature": None}, "Which team owns this?")
DESCRIBED = Choice(
    {"outage": "service down", "billing": "charges, refunds", "feature": "requests, how-to"}, "Which team should handle it?"
)
CASES: list[tuple[str, Any, Question, tuple[str, ...]]] = [
    ("urgent", DOWN, Noul("Does the customer need a reply within the hour?"), ("True",)),
    ("team", DOWN, SERVICE_DOWN, ("outage",)),
    (
        "team, no descriptions",
        DOWN,
        Choice({"billing": None, "outage": None, "feature": None}, "Which team should handle this?"),
        ("outage",),
    ),
    ("tone, not calm", DOWN, Score(ANGRY, "How angry is the customer?"), ("1", "2")),
    ("urgent, client", CLIENT, Noul("Does the customer need a reply within the hour?"), ("True",)),
    ("team, client", CLIENT, DESCRIBED, ("outage",)),
    ("tone, client, not calm", CLIENT, Score(ANGRY, "How upset is the customer?"), ("1", "2")),
    ("tone as a choice", DOWN, Choice({"calm": None, "stressed": None, "happy": None}, "What is the tone?"), ("stressed",)),
    ("calm as a noul", DOWN, Noul("Is the tone calm?"), ("False",)),
    (
        "stripe, urgency",
        "Hi, I have been trying to connect Stripe for 3 days.",
        Noul("Does this message express urgency?"),
        ("True",),
    ),
    ("import error", PYTEST, ENVIRONMENT, ("environment",)),
    ("login fails", LOGIN, Noul("Does login fail for users?"), ("True",)),
    ("login, file", LOGIN, FILE, ("auth",)),
    ("login, severity", LOGIN, DISRUPTION, ("2",)),
    ("investigate", "HTTP 500 on every login since the deploy.", Noul("Should someone investigate?"), ("True",)),
    (
        "severity",
        "HTTP 500 on every login since the deploy.",
        Choice({"cosmetic": None, "degraded": None, "blocked": None}, "How severe is it?"),
        ("blocked",),
    ),
    ("refund ja", JA, REFUND, ("True",)),
    ("refund de", DE, REFUND, ("True",)),
    ("refund es", ES, REFUND, ("True",)),
    ("want ja", JA, WANT, ("refund",)),
    ("want de", DE, WANT, ("refund",)),
    ("want es", ES, WANT, ("refund",)),
    ("no refund ja", "迅速な対応をありがとうございました。とても助かりました。", REFUND, ("False",)),
    ("no refund en", "Where can I change my password?", REFUND, ("False",)),
]
SEVERITY = Score(["debug", "info", "warning", "error", "fatal"], "How severe is this log line?")
LINES = ("ERROR db: connection lost, giving up after 5 tries", "WARN db: connection slow, trying again")


def ask(decider: Decider) -> list[dict[str, Any]]:
    """One line for each example: what was asked, the answer wanted, its probability, and whether it is the most probable."""
    out = []
    for name, state, question, wanted in CASES:
        p = _probabilities(decider, state, question)
        out.append(
            {
                "example": name,
                "wanted": " or ".join(wanted),
                "p": round(sum(p[w] for w in wanted), 3),
                "right": max(p, key=p.__getitem__) in wanted,
            }
        )
    worse, better = (sum(int(k) * v for k, v in _probabilities(decider, line, SEVERITY).items()) for line in LINES)
    out.append(
        {
            "example": "an ERROR line above a warning (expected levels)",
            "wanted": "higher",
            "p": round(worse - better, 3),
            "right": worse > better,
        }
    )
    return out


def _probabilities(decider: Decider, state: Any, question: Question) -> dict[str, float]:
    answer = decider.ask(state, {"q": question}).answers["q"]
    match answer:
        case NoulAnswer(p):
            return {"True": p, "False": 1 - p}
        case ChoiceAnswer():
            return dict(answer.probabilities)
        case ScoreAnswer():
            return {str(i): p for i, p in enumerate(answer.probabilities)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("reader", type=Path, nargs="?")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with Decider(load_reader(args.reader)) as decider:
        lines = ask(decider)
    for line in lines:
        print(f"{'ok ' if line['right'] else 'NO '} {line['p']:6.3f}  {line['wanted']:12} {line['example']}")
    if args.json:
        args.json.write_text(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()
