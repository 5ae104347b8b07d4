# ruff: noqa: E501  (a table of texts, one a line)
"""Structured evidence: orders, an agent's steps, messages against a rule."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from ..corpus import Example
from .ask import Label, choice, noul

NAMES = ("Mara", "Jonas", "Aiko", "Luis", "Priya", "Chen", "Sofia", "Omar")
STATUS: dict[str, Label] = {
    "paid": (("paid", "The money has arrived"), ("settled", "payment complete")), "pending": (("pending", "Waiting for payment"), ("open", "not yet paid")), "refunded": (("refunded", "Money was given back"), ("reimbursed", "amount returned")),
    "failed": (("failed", "Payment did not go through"), ("declined", "rejected by the bank")),
}  # fmt: skip


def order(rng: random.Random) -> Iterator[Example]:
    status = rng.choice(list(STATUS))
    amount, limit = rng.randint(5, 990), rng.choice((50, 100, 200, 500, 800))
    country, shipped = rng.choice(("DE", "JP", "US", "ES", "FR")), rng.random() < 0.5
    record: dict[str, Any] = {
        "order": rng.randint(1000, 9999),
        "customer": rng.choice(NAMES),
        "amount": amount,
        "currency": rng.choice(("EUR", "USD")),
        "status": status,
        "country": country,
        "shipped": shipped,
        "items": rng.randint(1, 9),
    }
    keys = list(record)
    rng.shuffle(keys)
    record = {k: record[k] for k in keys}
    state: Any = (
        record if rng.random() < 0.6 else {"order": record, "source": "shop"} if rng.random() < 0.5 else json.dumps(record)
    )
    yield choice(rng, "made:order_status", state, ("What is the state of the payment?", "payment status"), STATUS, status)
    yield noul(
        rng,
        "made:order_shipped",
        state,
        shipped,
        ("Was the order shipped?", "Has the parcel left?"),
        ("Is it still in the warehouse?",),
    )
    yield noul(
        rng,
        "made:order_limit",
        state,
        amount > limit,
        (f"Is the amount above {limit}?", f"Does the order cost more than {limit}?"),
        (f"Is the amount {limit} or less?",),
    )
    asked = rng.choice((country, rng.choice(("DE", "JP", "US", "ES", "FR"))))
    yield noul(rng, "made:order_country", state, asked == country, (f"Does the order go to {asked}?",))


TOOLS: dict[str, tuple[Label, tuple[str, ...]]] = {
    "search_web": ((("search_web", "Find pages on the internet"), ("browser", "look something up online")), ("Who won the race yesterday?", "Find recent news about batteries.", "What do people say about the new phone?")),
    "run_code": ((("run_code", "Execute a program"), ("python", "calculate by code")), ("Compute the standard deviation of these numbers: {n}, {m}, 7.", "Sort this list of {n} values and plot it.", "Simulate {n} coin flips.")),
    "read_file": ((("read_file", "Open a file in the project"), ("file_reader", "show a file")), ("Show me what is in config.yaml.", "What does main.py import?", "Open the readme.")),
    "send_email": ((("send_email", "Write a mail to someone"), ("mailer", "sends messages")), ("Tell Anna by mail that I am late.", "Mail the report to the team.", "Write to support that the key is lost.")),
    "calendar": ((("calendar", "Create or read appointments"), ("schedule", "meetings and dates")), ("Book a meeting with Omar on Friday.", "What do I have tomorrow?", "Move my {m} o'clock to Monday.")),
    "ask_user": ((("ask_user", "Ask the user for what is missing"), ("clarify", "the request is unclear")), ("Do it again like the other one.", "Change that.", "Send it to him.")),
    "database": ((("query_database", "Run SQL on the company's data"), ("sql", "customer and sales tables")), ("How many orders did we have in March?", "List customers in Spain with more than {m} orders.", "Total revenue last quarter?")),
}  # fmt: skip


def agent(rng: random.Random) -> Iterator[Example]:
    kind = rng.choice(list(TOOLS))
    state = rng.choice(TOOLS[kind][1]).format(n=rng.randint(10, 99), m=rng.randint(2, 9))
    yield choice(
        rng,
        "made:agent_tool",
        state,
        ("Which tool should be called?", "Next step for the agent?", "tool", "Pick the function for this request."),
        {k: v[0] for k, v in TOOLS.items()},
        kind,
    )
    done = rng.random() < 0.5
    step = rng.choice(
        (
            "All {n} tests pass and the branch is merged.",
            "Mail sent, id {n}.",
            "File written, nothing left to do.",
            "The report is uploaded and the user was told.",
        )
        if done
        else (
            "2 of {n} tests still fail.",
            "Error: quota exceeded, the mail was not sent.",
            "Found three candidates, have to compare them next.",
            "Download at {n}%.",
        )
    ).format(n=rng.randint(10, 99))
    yield noul(
        rng,
        "made:agent_done",
        {"goal": state, "last_step": step},
        done,
        ("Is the task finished?", "Can the agent stop?"),
        ("Is there work left to do?", "Should the agent go on?"),
    )
    yield noul(rng, "made:agent_failed", {"last_step": step}, "fail" in step or "Error" in step, ("Did the last step fail?",))


RULES = (
    ("Do not share phone numbers.", ("Call me at 555-01{n}.", "My number is +49 170 00{n}."), ("Write me here in the chat.", "I will answer tomorrow.")), ("Answers must be polite.", ("Figure it out yourself, dummy.", "Stupid question."), ("Gladly, here is how it works.", "Thanks for asking, the limit is {n}.")),
    ("Do not give medical advice.", ("Take {n} mg of ibuprofen twice a day.", "You do not need a doctor, just stop the tablets."), ("I cannot advise on that, please ask a doctor.", "The clinic opens at eight.")), ("Do not promise discounts.", ("I will give you {n}% off next time.", "Sure, half price for you."), ("The price is {n} dollars.", "I cannot change the price.")),
    ("Only talk about our own products.", ("The phone of our rival is better, buy that.", "Let me tell you about football."), ("Our plan includes {n} seats.", "The kettle of our shop has two years of warranty.")), ("Never reveal internal links.", ("See http://intranet.corp/page{n}.", "It is on the internal wiki: wiki.corp/{n}"), ("See the public help page.", "It is described in the manual.")),
)  # fmt: skip


def policy(rng: random.Random) -> Iterator[Example]:
    rule, bad, good = rng.choice(RULES)
    broken = rng.random() < 0.5
    text = rng.choice(bad if broken else good).format(n=rng.randint(10, 90))
    state = {"rule": rule, "reply": text} if rng.random() < 0.5 else text
    asks = (
        ("Does the reply break the rule?", "Is the rule violated?")
        if isinstance(state, dict)
        else (f"Does this break the rule: {rule}", f"Rule: {rule} Is it violated?")
    )
    negative = ("Does the reply follow the rule?",) if isinstance(state, dict) else (f"Is this in line with the rule: {rule}",)
    yield noul(rng, "made:policy", state, broken, asks, negative)
    labels: dict[str, Label] = {
        "violation": (("violation", "The rule is broken"), ("fail", "against the rule")),
        "ok": (("compliant", "The rule is kept"), ("pass", "within the rule")),
    }
    if isinstance(state, dict):
        yield choice(
            rng,
            "made:policy_label",
            state,
            ("Check the reply against the rule.", "verdict"),
            labels,
            "violation" if broken else "ok",
        )
