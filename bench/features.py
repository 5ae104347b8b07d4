"""What each feature costs on the embedded reader, as ratios to one plain read, and what packing changes.

    python bench/features.py --repeats 15 --cases DIR --out features.json

Latencies are medians over rounds in which every feature runs once, in an order drawn anew, so that what else the machine
does falls on all alike. `--cases` names a folder of labelled cases (see bench/records.py); without it packing is timed only.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from records import Case, load_cases

from oneread import Answer, Asking, Choice, ChoiceAnswer, Controls, Decider, Noul, NoulAnswer, Question, Request, Score

STATE = {
    "subject": "Charged twice for March, and the dashboard is blank",
    "body": "Since this morning the dashboard shows a blank page after login. Also, my card shows two payments for March. "
    "We have a demo with our biggest client at noon, so please fix the page first and return one payment this week.",
}
TEAM = Choice({"billing": "invoices, refunds", "outage": "the service is down", "feature": "requests, how-to"}, "Which team?")
URGENT = Noul("Does the customer need a reply within the hour?")
ANGER = Score(["calm", "annoyed", "furious"], "How angry is the customer?")
ASPECTS = (
    "refunds",
    "an outage",
    "a deadline",
    "a password",
    "a contract",
    "a delivery",
    "a discount",
    "a complaint",
    "a person",
)
TEN: dict[str, Question] = {"team": TEAM, **{a: Noul(f"Does the message speak of {a}?") for a in ASPECTS}}
THREE: dict[str, Question] = {"team": TEAM, "urgent": URGENT, "anger": ANGER}
CHAIN = {"urgent": Asking(depends_on=("team",)), "anger": Asking(depends_on=("urgent",))}


def features() -> dict[str, Request]:
    """By name, the request that uses it. The first one is the plain read that all are compared with."""
    one: Mapping[str, Question] = {"team": TEAM}
    many = Choice({f"{word} {i}": None for i in range(51) for word in ("lamp", "chair", "plate", "rope", "coat")}, "What broke?")

    def ask(questions: Mapping[str, Question], asking: Any = None, **controls: Any) -> Request:
        return Request(STATE, questions, Controls(**controls), asking or {})

    return {
        "one question, one plain read": ask(one),
        "samples auto, sure (threshold 9 nats)": ask(one, samples="auto", auto_threshold=9.0),
        "samples auto, unsure (threshold 0): 4 draws": ask(one, samples="auto", auto_threshold=0.0),
        "samples 4": ask(one, samples=4),
        "rotations 4": ask(one, rotations=4),
        "rotations auto, sure (threshold 9 nats)": ask(one, rotations="auto", auto_threshold=9.0),
        "3 questions, independent": ask(THREE),
        "3 questions, packed": ask(THREE, mode="packed"),
        "3 questions in 3 stages": ask(THREE, CHAIN),
        "10 questions, independent": ask(TEN),
        "10 questions, packed": ask(TEN, mode="packed"),
        "10 questions, packed, sequential": ask(TEN, mode="packed", sequential=True),
        "255 options": ask({"broke": many}),
        "255 options, rotations auto": ask({"broke": many}, rotations="auto"),
        "diagnostics": ask(one, diagnostics=True),
    }


def time_features(decider: Decider, repeats: int, seed: int = 0) -> list[dict[str, Any]]:
    """One record for each feature: median milliseconds, ratio to the first, and rows and tokens read."""
    requests = features()
    taken: dict[str, list[float]] = {name: [] for name in requests}
    order = list(requests)
    rng = random.Random(seed)
    for request in requests.values():
        decider.decide(request)
    for _ in range(repeats):
        rng.shuffle(order)
        for name in order:
            start = time.perf_counter()
            decider.decide(requests[name])
            taken[name].append(time.perf_counter() - start)
    plain = statistics.median(next(iter(taken.values())))
    found = []
    for name, request in requests.items():
        told = decider.decide(Request(request.state, request.questions, _told(request.controls), request.asking))
        assert told.diagnostics is not None
        median = statistics.median(taken[name])
        found.append(
            {
                "feature": name,
                "ms": round(1000 * median, 2),
                "ratio": round(median / plain, 2),
                "rows": told.diagnostics.rows,
                "tokens": told.usage.input_tokens,
            }
        )
    return found


def compare_packed(decider: Decider, cases: list[Case], beside: int = 2, seed: int = 0) -> dict[str, Any]:
    """Each case's question alone, and packed with questions of other cases about its own state."""
    rng = random.Random(seed)
    alone, together, shifts, changed = [], [], [], 0
    for case in cases:
        others = rng.sample([c for c in cases if c.task != case.task and len(_options(c.question)) <= 10], beside)
        questions: dict[str, Question] = {f"other {i}": other.question for i, other in enumerate(others)}
        questions["own"] = case.question
        single = _shares(decider.ask(case.state, {"own": case.question}).answers["own"])
        packed = _shares(decider.ask(case.state, questions, Controls(mode="packed")).answers["own"])
        alone.append(int(single.argmax()) == case.answer)
        together.append(int(packed.argmax()) == case.answer)
        shifts.append(0.5 * float(np.abs(single - packed).sum()))
        changed += int(single.argmax() != packed.argmax())
    return {
        "cases": len(cases),
        "questions in a row": beside + 1,
        "accuracy alone": round(float(np.mean(alone)), 4),
        "accuracy packed": round(float(np.mean(together)), 4),
        "answers changed": round(changed / len(cases), 4),
        "total variation, mean": round(float(np.mean(shifts)), 4),
        "total variation, 95th percentile": round(float(np.quantile(shifts, 0.95)), 4),
    }


def compare_orders(decider: Decider, cases: list[Case]) -> dict[str, Any]:
    """What averaging over orders of options buys on labelled cases: accuracy, and NLL in nats, by kind of question."""
    ways = {
        "one order": Controls(diagnostics=True),
        "4 orders": Controls(rotations=4, diagnostics=True),
        "auto": Controls(rotations="auto", diagnostics=True),
    }
    found: dict[str, Any] = {}
    for kind, chosen in {
        "all": cases,
        "choice, 20 options and more": [c for c in cases if len(_options(c.question)) >= 20],
        "choice, fewer": [c for c in cases if c.kind == "choice" and len(_options(c.question)) < 20],
    }.items():
        if not chosen:
            continue
        found[kind] = {"cases": len(chosen)}
        for name, controls in ways.items():
            right, loss, rows, split = [], [], 0, 0
            for case in chosen:
                reply = decider.ask(case.state, {"q": case.question}, controls)
                assert reply.diagnostics is not None
                shares = _shares(reply.answers["q"])
                right.append(int(shares.argmax()) == case.answer)
                loss.append(-float(np.log(max(shares[case.answer], 1e-9))))
                rows += reply.diagnostics.rows
                split += reply.diagnostics.questions["q"].orders_agree is False
            found[kind][name] = {
                "accuracy": round(float(np.mean(right)), 4),
                "nll": round(float(np.mean(loss)), 4),
                "rows a case": round(rows / len(chosen), 2),
                "orders disagree": round(split / len(chosen), 4),
            }
    return found


def _told(controls: Controls) -> Controls:
    return replace(controls, diagnostics=True)


def _options(question: Question) -> range:
    match question:
        case Noul():
            return range(2)
        case Choice(options):
            return range(len(options))
        case Score(levels):
            return range(len(levels))


def _shares(answer: Answer) -> np.ndarray[Any, Any]:
    if isinstance(answer, NoulAnswer):
        return np.array([answer.noul, 1 - answer.noul])
    return np.array(list(answer.probabilities.values() if isinstance(answer, ChoiceAnswer) else answer.probabilities))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--cases", type=Path, help="folder of labelled cases, to compare packed with independent reading")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", type=Path, help="a JSON file for what was measured")
    options = parser.parse_args()
    with Decider() as decider:
        found: dict[str, Any] = {"reader": decider.reader.name, "features": time_features(decider, options.repeats)}
        print(f"{'feature':<46}{'ms':>9}{'ratio':>8}{'rows':>6}{'tokens':>8}")
        for record in found["features"]:
            print(f"{record['feature']:<46}{record['ms']:>9}{record['ratio']:>8}{record['rows']:>6}{record['tokens']:>8}")
        if options.cases is not None:
            cases = load_cases(options.cases, options.count)
            found["packed"] = compare_packed(decider, cases)
            found["orders"] = compare_orders(decider, cases)
            print()
            for name, value in found["packed"].items():
                print(f"{name:<46}{value:>9}")
            for kind, told in found["orders"].items():
                print(f"\norders, {kind}: {told.pop('cases')} cases")
                for name, values in told.items():
                    print(f"  {name:<12}" + "".join(f"{key} {value:<10}" for key, value in values.items()))
    if options.out is not None:
        options.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
