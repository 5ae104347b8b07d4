# ruff: noqa: E501  (a table of texts, one a line)
"""A stated policy applied to a case: points that are counted, the first rule that matches, thresholds, all or any of several conditions.

A case is a text or a record of facts, each of which holds or not; the policy names some of them, so the answer follows by counting.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oneread.questions import Choice, Content, Noul, Score

from ..corpus import Example
from .spin import spin


@dataclass(frozen=True)
class Fact:
    """One condition of a case.

    Attributes:
        field: its name in a record, with the value when it holds, and when not.
        says: sentences when it holds, and when not (an empty one: the text says nothing of it).
        means: ways to state the condition.
    """

    field: str
    values: tuple[object, object]
    says: tuple[str, str]
    means: str


DOMAINS: dict[str, tuple[str, str, tuple[Fact, ...]]] = {
    "ticket": ("ticket", "{Hi|Hello|Dear team|Good morning},", (
        Fact("all_users", (True, False), ("{Nobody in our company can work|All of our users are affected|Every one of us sees it}.", "{Only I see this|My colleagues are fine|It is just my account}."), "{all users are affected|nobody at the customer can work|more than one person is hit}"),
        Fact("plan", ("enterprise", "free"), ("We are {an enterprise customer|on the enterprise plan}.", "We {use the free plan|are still on the free tier}."), "{the customer is on the enterprise plan|it is an enterprise customer|the plan is enterprise}"),
        Fact("deadline", ("today", None), ("We {have a demo|go live|must file the report} {today at {time}|in {n} hours}.", ""), "{there is a deadline today|something is due today|time is running out for the customer}"),
        Fact("contacts_before", (3, 0), ("This is {the third time|the fourth mail} I write about it.", "{This is my first message|I have not written before}."), "{the customer has written before|it is a repeated contact|the customer contacted us earlier about it}"),
        Fact("data_lost", (True, False), ("{Half of our files are gone|The records of {month} have disappeared|The project was wiped}.", "{No data is missing|All files are still there}."), "{data was lost|files or records have disappeared|data is missing}"),
        Fact("refund_asked", (True, False), ("I want {my money back|a refund of {money}}.", ""), "{a refund is asked for|the customer wants money back|money is to be returned}"),
        Fact("attachment", ("log.txt", None), ("{The log is attached|I attach a screenshot}.", ""), "{something is attached|there is an attachment|a log or screenshot comes with it}"),
        Fact("threatens_to_leave", (True, False), ("Otherwise we {cancel|move to another provider}.", ""), "{the customer threatens to leave|the customer may cancel|a cancellation is announced}"),
        Fact("workaround", (False, True), ("{There is no way around it|Nothing we tried helps}.", "{A restart helps for a while|We can use the old version for now}."), "{there is no workaround|nothing helps|no way around the problem is known}"),
        Fact("security", (True, False), ("{Someone else logged into our account|A stranger used our key}.", ""), "{a break-in is suspected|it concerns security|someone got in without permission}"),
    )),
    "order": ("order", "{Order|Purchase} {id}.", (
        Fact("express", (True, False), ("{Express delivery was booked|To be sent by express}.", "Standard delivery."), "{express delivery was chosen|it is an express order|delivery is express}"),
        Fact("gift", (True, False), ("{Gift wrapping|Please wrap it as a gift}.", ""), "{it is a gift|gift wrapping is wanted|it has to be wrapped}"),
        Fact("country", ("CH", "DE"), ("It goes to {Switzerland|Norway|Japan}, outside of the union.", "It stays within the {country|union}."), "{it leaves the union|customs papers are needed|the destination is outside of the union}"),
        Fact("customer_since", (2025, 2014), ("{The customer is new|First order of this customer}.", "{The customer has been with us since {year}|A regular customer}."), "{the customer is new|it is the customer's first order|the account was opened in 2025}"),
        Fact("payment", ("invoice", "card"), ("{Payment by invoice|The buyer pays on invoice}.", "{Paid by card|The card was charged}."), "{it is paid by invoice|payment is by invoice|the buyer pays later}"),
        Fact("fragile", (True, False), ("{Contains glass|Fragile goods}.", ""), "{the goods are fragile|something may break|it contains fragile items}"),
        Fact("in_stock", (False, True), ("{One item is out of stock|Not all items are in stock}.", "{All items are in stock|Everything is on the shelf}."), "{an item is out of stock|not everything is in stock|something has to be ordered first}"),
        Fact("address_checked", (False, True), ("The address {could not be verified|is incomplete}.", "The address was verified."), "{the address is not verified|the address could not be checked|the address is in doubt}"),
    )),
    "change": ("pull request", "{Change|Merge request|Pull request} {id}:", (
        Fact("tests", (False, True), ("{No tests were added|It comes without tests}.", "{Tests are included|New tests cover it}."), "{there are no tests|tests are missing|it comes without tests}"),
        Fact("touches_auth", (True, False), ("It {edits the login code|changes how sessions are checked}.", "It {only edits the help page|changes a label}."), "{it touches authentication|login code is changed|the sign-in is affected}"),
        Fact("migration", (True, False), ("{A database migration is part of it|It alters two tables}.", ""), "{it contains a database migration|the schema changes|tables are altered}"),
        Fact("reviewed", (False, True), ("{Nobody has reviewed it|It still waits for a review}.", "{{name} approved it|Reviewed by {name}}."), "{it was not reviewed|no one has approved it|a review is missing}"),
        Fact("lines", (1400, 12), ("It {changes 1,{nn}0 lines|is more than a thousand lines long}.", "It {changes {n} lines|is tiny}."), "{it has more than 500 lines|it is large, over 500 lines|more than 500 lines change}"),
        Fact("new_dependency", (True, False), ("{It adds a package from the registry|A new dependency is pulled in}.", ""), "{it adds a dependency|a new package is needed|third-party code comes in}"),
        Fact("ci", ("failed", "passed"), ("{The pipeline is red|Two checks fail}.", "{All checks are green|The pipeline passed}."), "{a check fails|the pipeline is red|CI failed}"),
        Fact("friday", (True, False), ("{To be deployed on Friday evening|Release: Friday night}.", ""), "{it is deployed on a Friday|release is on Friday|it goes out on a Friday}"),
    )),
    "lead": ("application", "{Applicant|Candidate}: {full}.", (
        Fact("degree", (True, False), ("{Holds a degree in {thing_field}|Graduated in {year}}.", "{No degree|Left university without a degree}."), "{the person has a degree|there is a university degree|a degree was completed}"),
        Fact("years", (8, 1), ("{Eight years of experience|Has done this job for eight years}.", "{One year of experience|Started a year ago}."), "{experience is five years or more|there are at least five years of experience|the person has worked for 5+ years}"),
        Fact("languages", (["de", "en", "fr"], ["en"]), ("Speaks {German and French|three languages} besides English.", "Speaks English."), "{more than one language is spoken|the person speaks several languages|at least two languages are spoken}"),
        Fact("references", (True, False), ("{Two references are attached|References: {full}, {full}}.", ""), "{references are given|there are references|somebody vouches for the person}"),
        Fact("location", ("Berlin", "remote"), ("{Lives in Berlin|Would come to the office in Berlin}.", "{Wants to work remotely|Lives abroad and stays there}."), "{the person is in Berlin|work on site is possible|the location is Berlin}"),
        Fact("licence", (True, False), ("Has a driving licence.", "{No driving licence|Does not drive}."), "{a driving licence is held|the person can drive|there is a driving licence}"),
        Fact("available", ("now", "in 6 months"), ("{Can start at once|Available now}.", "{Bound until next spring|Can start in six months}."), "{the person can start at once|available immediately|there is no notice period}"),
    )),
}  # fmt: skip
FIELDS_OF_STUDY = ("law", "physics", "design", "nursing", "economics", "history")
POINTS = (
    ("0", "1", "2", "3", "4", "5"), ("0 points", "1 point", "2 points", "3 points", "4 points", "5 points"), ("score 0", "score 1", "score 2", "score 3", "score 4", "score 5"),
    ("none", "one", "two", "three", "four", "five"), ("level 0", "level 1", "level 2", "level 3", "level 4", "level 5"),
)  # fmt: skip
COUNT = (
    "Start at 0. {list}", "Begin with 0 points. {list}", "Score the {kind}: {list}", "Compute the score. {list}", "Policy: start from 0; {list}", "Count the points of this {kind}. {list}", "{list} What is the total?",
)  # fmt: skip
ADD = ("Add 1 if {c}.", "+1 if {c}.", "Add one point when {c}.", "One point if {c}.", "Plus 1 when {c}.")
HOW_MANY = (
    "How many of these are true of the {kind}? {list}",
    "Count how many hold: {list}",
    "Number of criteria met: {list}",
    "How many boxes can be ticked? {list}",
)
ACTIONS = (
    "approve",
    "reject",
    "escalate",
    "manual_review",
    "queue_a",
    "queue_b",
    "hold",
    "auto_close",
    "call_customer",
    "send_form",
    "senior_team",
    "night_shift",
    "archive",
    "ask_legal",
    "fast_lane",
    "wait",
)
FIRST = (
    "Apply the first rule that matches. {list}", "Go through the rules in order and take the first that applies. {list}", "Rules, the first match wins: {list}", "Which action does the policy give? The first matching line counts. {list}",
)  # fmt: skip


def _case(rng: random.Random) -> tuple[str, Content, list[tuple[Fact, bool]]]:
    """What the case is called, its state, and every fact of it with whether it holds."""
    domain = rng.choice(list(DOMAINS))
    kind, opening, facts = DOMAINS[domain]
    chosen = rng.sample(facts, rng.randint(4, len(facts)))
    holds = [(f, rng.random() < 0.5) for f in chosen]
    if rng.random() < 0.4:
        record = {f.field: f.values[0 if h else 1] for f, h in holds}
        if rng.random() < 0.5:
            record = {"id": rng.randint(1000, 9999), **record}
        state: Content = record  # type: ignore[assignment]
        roll = rng.random()
        if roll < 0.2:
            state = json.dumps(record)
        elif roll < 0.4:
            state = {domain: record}  # type: ignore[dict-item]
        elif roll < 0.5:
            state = "\n".join(f"{k}: {'yes' if v is True else 'no' if v is False else v}" for k, v in record.items())
        return kind, state, holds
    parts = [t for f, h in holds if (t := spin(rng, f.says[0 if h else 1].replace("{thing_field}", rng.choice(FIELDS_OF_STUDY))))]
    rng.shuffle(parts)
    text = " ".join([spin(rng, opening), *parts, *([spin(rng, "{name}")] if domain == "ticket" and rng.random() < 0.5 else [])])
    return kind, text if rng.random() < 0.7 else {rng.choice(("text", "body", "description", "note")): text}, holds


def _listed(rng: random.Random, lines: Sequence[str], numbered: bool | None = None) -> str:
    if rng.random() < 0.4 if numbered is None else numbered:
        return (
            "\n" + "\n".join(f"{i + 1}. {t}" for i, t in enumerate(lines))
            if rng.random() < 0.6
            else "\n" + "\n".join(f"- {t}" for t in lines)
        )
    return " ".join(lines)


def rule(rng: random.Random) -> Iterator[Example]:
    """Two or three policies over one case."""
    kind, state, holds = _case(rng)
    for _ in range(rng.randint(1, 3)):
        asked = rng.sample(holds, min(len(holds), rng.choice((1, 2, 2, 3, 3, 3, 4, 4, 5))))
        means = [spin(rng, f.means) for f, _ in asked]
        truths = [h for _, h in asked]
        roll = rng.random()
        if roll < 0.6:
            yield points(rng, kind, state, means, truths)
        elif roll < 0.85:
            yield first_match(rng, kind, state, means, truths)
        else:
            every = rng.random() < 0.5
            word = "all" if every else "at least one"
            text = rng.choice(
                (
                    f"Do {word} of these hold? ",
                    f"Answer yes if {word} of the following {'are' if every else 'is'} true: ",
                    f"The {kind} qualifies when {word} of these {'are' if every else 'is'} met. Does it qualify? ",
                )
            )
            truth = all(truths) if every else any(truths)
            yield Example(
                "made:rule_any", Noul(text + _listed(rng, [m[0].upper() + m[1:] + "." for m in means])), state, int(not truth)
            )


def points(rng: random.Random, kind: str, state: Content, means: Sequence[str], truths: Sequence[bool]) -> Example:
    """A score that is counted; now and then with a start above 0, a deduction, a weight of two, or as a choice."""
    start, high, total = 0, 0, 0
    lines = []
    deduct = rng.randrange(len(means)) if len(means) > 1 and rng.random() < 0.15 else -1
    double = rng.randrange(len(means)) if rng.random() < 0.1 else -1
    add = rng.choice(ADD)
    for i, (m, h) in enumerate(zip(means, truths, strict=True)):
        if i == deduct:
            lines.append(f"Subtract 1 if {m}.")
            start, total = start + 1, total - h
        else:
            step = 2 if i == double else 1
            lines.append(add.format(c=m) if step == 1 else f"Add 2 if {m}.")
            high, total = high + step, total + step * h
    plain = deduct < 0 and double < 0
    high, total = high + start, total + start
    names = rng.choice(POINTS)
    if high > 5:
        names = tuple(str(i) for i in range(high + 1))
    if plain and rng.random() < 0.25:
        text = rng.choice(HOW_MANY).format(kind=kind, list=_listed(rng, [m[0].upper() + m[1:] + "." for m in means]))
    else:
        text = rng.choice(COUNT).format(kind=kind, list=_listed(rng, lines))
        if start:
            begun = (
                text.replace("Start at 0", f"Start at {start}")
                .replace("start from 0", f"start from {start}")
                .replace("Begin with 0 points", f"Begin with {start} point")
            )
            text = begun if begun != text else f"Start at {start}. {text}"
        elif rng.random() < 0.1 and "0" not in text[:30]:
            text = "Start at 0. " + text
    levels = [*names[: high + 1]]
    if high == total and len(levels) > 2 and rng.random() < 0.3 and plain:  # a cap below the sum
        levels = levels[:-1]
        text += f" At most {len(levels) - 1}."
        total = min(total, len(levels) - 1)
    if rng.random() < 0.12:
        order = rng.sample(range(len(levels)), len(levels))
        return Example("made:rule_points_choice", Choice({levels[i]: None for i in order}, text), state, order.index(total))
    return Example("made:rule_points", Score(levels, text), state, total)


def first_match(rng: random.Random, kind: str, state: Content, means: Sequence[str], truths: Sequence[bool]) -> Example:
    """A choice by the first rule whose condition holds."""
    actions = rng.sample(ACTIONS, len(means) + 1)
    lines = [
        rng.choice(("If {m}: {a}.", "{a} if {m}.", "When {m}, {a}.")).format(m=m, a=a)
        for m, a in zip(means, actions, strict=False)
    ]
    lines.append(rng.choice(("Otherwise: {a}.", "Else {a}.", "In all other cases: {a}.")).format(a=actions[-1]))
    gold = actions[truths.index(True)] if True in truths else actions[-1]
    options: list[str] = rng.sample(actions, len(actions))
    if rng.random() < 0.25:  # the policy stands beside the case
        state = {"policy": _listed(rng, lines, True).strip(), kind.replace(" ", "_"): state}
        return Example(
            "made:rule_first",
            Choice(
                dict.fromkeys(options),
                rng.choice(
                    ("What does the policy say?", "Which action follows?", "Apply the policy.", "Next step by the rules?")
                ),
            ),
            state,
            options.index(gold),
        )
    return Example(
        "made:rule_first",
        Choice(dict.fromkeys(options), rng.choice(FIRST).format(list=_listed(rng, lines, True))),
        state,
        options.index(gold),
    )
