# ruff: noqa: E501  (a table of texts, one a line)
"""Tickets whose subject names one thing (payment, login, export) while something else happened: what happened decides.

Every part of the product occurs with every kind of event, so that no subject word stands for a team.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from oneread.questions import Choice, Content

from ..corpus import Example
from . import fault_texts as texts
from .ask import Label, noul, score
from .spin import spin

TEAMS: dict[str, Label] = {
    "outage": (
        ("outage", "Something does not answer or has stopped for many"), ("incidents", "failures that hit many users"), ("reliability", "errors, timeouts, unavailability"), ("platform", "keeps servers and pages reachable"), ("on_call", "gets woken when the product fails"), ("sre", "availability of the product"),
        ("service_disruption", "a part of the product cannot be used"), ("operations", "runs the systems and repairs failures"), ("infrastructure", "servers, network, availability"), ("availability", "pages or calls that fail"), ("production_support", "the live system is failing"), ("Incident response", "everything that is down or returns server errors"),
    ),
    "technical": (("engineering", "faults of any technical kind"), ("technical_support", "errors, crashes, failures and defects"), ("tech", "something does not work"), ("technical_issue", "the product fails or misbehaves"), ("it_support", "technical faults of the product"), ("Technical problem", "any malfunction")),
    "bug": (("bug", "One function behaves wrongly; the rest is fine"), ("defects", "wrong behaviour of a single function"), ("bug_report", "A reproducible mistake in the product"), ("quality", "small faults in otherwise working software")),
    "slow": (("performance", "slow or unsteady responses"), ("latency", "works, but takes too long"), ("speed", "complaints about slowness")),
    "billing": (("billing", "Amounts charged, owed or to be returned"), ("payments", "money that was taken or is owed"), ("finance", "wrong sums, charges, credits"), ("accounts_receivable", "who owes how much"), ("billing_and_refunds", "charges, bills and money back"), ("invoicing", "what is on a bill"), ("accounting", "bills, transfers, declined cards")),
    "account": (("account", "One user's access and details"), ("user_management", "users, roles, passwords of single people"), ("accounts", "forgotten passwords, profile changes"), ("identity", "a single person's sign-in and rights"), ("access", "a user lacks a right or a password")),
    "feature": (("feature_request", "A wish for something that does not exist"), ("product", "ideas and wishes"), ("ideas", "would like something added"), ("roadmap", "suggestions for later versions")),
    "howto": (("how_to", "Asks how something is done"), ("customer_success", "explains the use of the product"), ("usage_question", "wants an explanation"), ("training", "helps people to use it")),
    "sales": (("sales", "Somebody wants to buy or compare"), ("new_business", "quotes, demos, offers"), ("presales", "questions before a purchase")),
    "docs": (("documentation", "Texts that are wrong or out of date"), ("content", "wording, typos, articles"), ("technical_writing", "corrects guides and texts")),
    "security": (("security", "Break-ins, leaks, phishing"), ("trust_and_safety", "abuse, stolen access, holes"), ("security_incident", "somebody gets what is not theirs")),
    "compliance": (("compliance", "Certificates, agreements, audits"), ("legal", "contracts on data, documents for auditors"), ("privacy_office", "papers about data protection")),
    "cancel": (("cancellation", "Ends the contract"), ("churn", "leaves us"), ("retention", "wants to quit the service")),
    "shipping": (("shipping", "Parcels that are late, lost or damaged"), ("logistics", "where a parcel is"), ("delivery", "goods on their way")),
    "praise": (("praise", "Thanks, nothing to do"), ("compliments", "says something kind"), ("positive_feedback", "a happy customer")),
}  # fmt: skip
EVENTS: dict[str, tuple[str, ...]] = {
    "outage": texts.OUTAGE, "slow": texts.SLOW, "bug": texts.BUG, "billing": texts.BILLING, "account": texts.ACCOUNT, "feature": texts.FEATURE, "howto": texts.HOWTO, "sales": texts.SALES, "docs": texts.DOCS,
    "security": texts.SECURITY, "compliance": texts.COMPLIANCE, "cancel": texts.CANCEL, "shipping": texts.SHIPPING,
}  # fmt: skip
# kind -> teams that would be as right as its own
AS_WELL: dict[str, tuple[str, ...]] = {
    "outage": ("technical",), "slow": ("outage", "technical", "bug"), "bug": ("technical",), "docs": ("bug",), "sales": ("howto",), "compliance": ("security",), "account": ("howto",), "howto": ("docs",), "cancel": ("howto",),
}  # fmt: skip
STANDS_IN = {"outage": "technical", "bug": "technical", "slow": "outage"}
"""The team that takes the kind where its own is not offered."""
ASKS = (
    "Which team should take this?", "Send it to the right people.", "Where does this belong?", "Pick the queue.", "team", "What kind of request is it?", "Who has to act?", "Classify by what happened, not by the subject line.", "Which department can solve it?", "category", "Assign an owner.",
    "What is the matter?", "Who owns the problem?",
)  # fmt: skip
DOWN = (
    "Is a service down or failing?",
    "Does it report that something cannot be used at all?",
    "Is there an outage?",
    "Is a part of the product unavailable?",
    "Are servers failing?",
    "Something is down.",
    "Would the on-call engineer have to look?",
)
UP = ("Is the message about something other than an outage?", "Is nothing said to be down at present?")
HALF_DOWN = re.compile("crash|does nothing|no longer works|broke with")
"""A fault that leaves one function unusable: neither an outage nor a product that can be used as a whole."""
MONEY = (
    "Is this about money owed or charged?",
    "Is an amount in dispute?",
    "Does somebody have to correct a charge or a bill?",
    "Is a sum of money the problem?",
    "Is the finance department needed?",
    "Does the writer question a charge?",
)
NO_MONEY = ("Can this be solved without the finance department?", "Is it about something other than money?")
ALL = (
    "Are all customers or users affected?",
    "Is more than one person affected?",
    "Does it hit everybody there?",
    "Is the trouble widespread?",
)
NOW = (
    "Does this need a person now?",
    "Must somebody act at once?",
    "Should an engineer be woken for this?",
    "Is this urgent?",
    "Is it an emergency?",
)
LATER = ("Can this wait until tomorrow?", "Is there time to answer next week?")
NEW = (
    "Does the writer ask for something that does not exist yet?",
    "Is it a wish for a new function?",
    "Is a missing function wished for?",
)
IMPAIRED = (
    ("nothing is impaired", "it works, but slowly or partly", "it cannot be used at all"), ("works", "degraded", "down"), ("no technical trouble", "hampered", "stopped"), ("The product works; the message is about something else.", "Users get on, but with delays or retries.", "Users cannot get on at all."),
    ("none", "partial", "total"), ("normal operation", "worse than usual", "full failure"),
)  # fmt: skip
IMPAIRED_ASKS = (
    "How badly is the product impaired?",
    "Degree of the technical failure",
    "How far is the service restricted?",
    "impairment of the service",
    "Rate the technical impact.",
)
URGENCY: dict[str, Label] = {
    "now": (("immediate", "users are stopped"), ("critical", "drop everything"), ("P1", "a failure that goes on")),
    "soon": (("soon", "hampers work, but it goes on"), ("high", "today or tomorrow"), ("P2", "worse than usual")),
    "later": (("routine", "nobody is stopped"), ("low", "within days or weeks"), ("P4", "a wish, a question, a text")),
}  # fmt: skip
HURRY = {
    "outage": "now",
    "slow": "soon",
    "feature": "later",
    "howto": "later",
    "docs": "later",
    "sales": "later",
    "compliance": "later",
    "praise": "later",
}
GREETINGS = ("", "", "", "Hi,", "Hello,", "Hi team,", "Dear support,", "Good morning,", "Hey,")
ASIDES = (
    "", "", "", "", "We have been with you since {year}.", "I work for {co}.", "Our customer number is {id}.", "Invoice {id} was paid, by the way.", "Last month everything was fine.", "We use the app and the web page.", "I wrote from my phone.", "You can call me at {phone}.", "Our last ticket was about a wrong charge; this is another matter.",
    "In {month} you had an outage; this is another matter.", "Our own systems are fine.", "{name} from accounting is in copy.", "{name}, our engineer, is in copy.", "The order number is {id}.",
)  # fmt: skip
CLOSINGS = ("", "", "", "Thanks", "Regards, {full}", "{name}", "{full}, {co}", "Thank you, {name}")


def _sentence(text: str) -> str:
    """With capitals where sentences begin, and no blank before a comma."""
    text = text.replace(" ,", ",").replace(" .", ".").replace(",,", ",")
    parts = text.split(". ")
    return ". ".join(p[:1].upper() + p[1:] for p in parts)


def _event(rng: random.Random) -> tuple[str, str, str, str, tuple[str, ...], bool]:
    """The text, its subject line, what happened, the team the subject sounds like, teams as right, and whether it is English."""
    roll = rng.random()
    if roll < 0.13:
        lang = rng.choice(list(texts.FOREIGN))
        kind = rng.choice(("outage", "outage", "billing", "billing", "feature", "howto", "bug"))
        part = rng.choice(texts.PARTS[lang].split("|"))
        text = spin(rng, rng.choice(texts.FOREIGN[lang][kind]).replace("{w}", part))
        return (
            text[0].upper() + text[1:],
            rng.choice(texts.SUBJECTS[lang].split("|")),
            kind,
            "billing",
            AS_WELL.get(kind, ()),
            False,
        )
    part, subject, lure = texts.AREAS[rng.choice(list(texts.AREAS))]
    if roll < 0.3:
        trap, kind, also = rng.choice(texts.TRAPS)
        return _sentence(spin(rng, trap)), rng.choice(subject.split("|")), kind, lure, (*also, *AS_WELL.get(kind, ())), True
    kind = rng.choices(list(EVENTS), (9, 2, 4, 7, 2, 3, 3, 2, 2, 2, 1.5, 1.5, 1))[0]
    text = spin(rng, rng.choice(EVENTS[kind]).replace("{w}", rng.choice(part.split("|"))))
    return _sentence(text), rng.choice(subject.split("|")), kind, lure, AS_WELL.get(kind, ()), True


def _state(rng: random.Random, text: str, subject: str, english: bool) -> Content:
    """A line, a mail, a chat or a record around the text; the subject line says only what it is about."""
    roll = rng.random()
    if roll < 0.25:
        return text.rstrip(".") if rng.random() < 0.4 else text.lower() if rng.random() < 0.2 else text
    heading = (
        subject
        if not english
        else rng.choice(
            (
                subject,
                subject,
                f"Question about {subject.lower()}",
                f"{subject} - please read",
                f"Problem: {subject.lower()}",
                f"Re: {subject}",
                f"{subject}?",
            )
        )
    )
    aside = spin(rng, rng.choice(ASIDES))
    parts = [text, aside] if rng.random() < 0.6 else [aside, text]
    body = " ".join(x for x in (rng.choice(GREETINGS), *parts, spin(rng, rng.choice(CLOSINGS))) if x) if english else text
    if roll < 0.45:
        return body
    if roll < 0.55:
        return f"Subject: {heading}\n\n{body}"
    if roll < 0.63 and english:
        return (
            spin(rng, "Customer: {hi|hello|are you there?}\nAgent: {How can I help?|Hello, what is it about?}\nCustomer: ")
            + f"{subject}.\nCustomer: {text}"
        )
    record: dict[str, Content] = {"subject": heading, rng.choice(("body", "message", "text", "description")): body}
    more: dict[str, Content] = {
        "plan": rng.choice(("free", "team", "business", "enterprise")), "channel": rng.choice(("mail", "chat", "web")), "id": str(rng.randint(1000, 99999)), "product_area": subject.lower(), "customer": spin(rng, "{co}"), "tags": [subject.lower()],
    }  # fmt: skip
    for key in rng.sample(list(more), rng.randint(0, 3)):
        record[key] = more[key]
    return record if rng.random() < 0.85 else {"ticket": record}


def _team(rng: random.Random, state: Content, kind: str, lure: str, also: tuple[str, ...]) -> Example:
    gold = STANDS_IN[kind] if kind in STANDS_IN and rng.random() < 0.35 else kind
    barred = {gold, kind, *also, *(("outage", "bug", "slow") if gold == "technical" else ())}
    if gold == "outage" and kind == "slow":
        barred |= {"technical", "bug"}
    keys = [gold]
    wanted = [lure, "outage", "billing", "feature"]
    keys += [k for k in dict.fromkeys(wanted) if k not in barred and k not in keys and rng.random() < (0.9 if k == lure else 0.6)]
    others = [k for k in TEAMS if k not in barred and k not in keys]
    # a general technical team beside the outage or bug team would be as right
    if {"outage", "bug"} & set(keys):
        others = [k for k in others if k != "technical"]
    size = max(rng.choice((3, 3, 4, 4, 5, 6, 7, 8)), len(keys))
    for k in rng.sample(others, min(len(others), size - len(keys))):
        if k != "technical" or not {"outage", "bug", "slow"} & set(keys):
            keys.append(k)
    if "technical" in keys:
        keys = [k for k in keys if k == gold or k not in ("outage", "bug", "slow")]
    rng.shuffle(keys)
    described = rng.random() < 0.6
    options: dict[str, Content | None] = {}
    for k in keys:
        name, about = rng.choice(TEAMS[k])
        options[name] = (about if rng.random() < 0.6 else rng.choice(TEAMS[k])[1]) if described else None
    return Example("made:fault_team", Choice(options, rng.choice((*ASKS, None) if described else ASKS)), state, keys.index(gold))


def fault(rng: random.Random) -> Iterator[Example]:
    """A ticket, the team that can solve it, and what is the matter."""
    text, subject, kind, lure, also, english = _event(rng)
    state = _state(rng, text, subject, english)
    yield _team(rng, state, kind, lure, also)
    if rng.random() < 0.5:
        yield _team(rng, state, kind, lure, also)
    half_down = kind == "bug" and HALF_DOWN.search(text)
    if kind not in ("slow", "security") and not half_down and rng.random() < (0.6 if kind in ("outage", "billing") else 0.35):
        yield noul(
            rng,
            "made:fault_down",
            state,
            kind == "outage",
            DOWN,
            UP if kind != "bug" else (),
            ("users cannot use a part of the product", "no failure that stops the users is told of"),
        )
    if (
        kind not in ("cancel", "sales", "shipping")
        and "billing" not in also
        and rng.random() < (0.7 if kind == "billing" else 0.4 if kind == "outage" else 0.25)
    ):
        yield noul(
            rng,
            "made:fault_money",
            state,
            kind == "billing",
            MONEY,
            NO_MONEY,
            ("an amount is wrong, owed or to be returned", "no sum is in question"),
        )
    if kind in ("outage", "account") and rng.random() < (0.35 if kind == "outage" else 0.8):
        yield noul(rng, "made:fault_all", state, kind == "outage", ALL)
    if kind in HURRY and kind != "slow" and rng.random() < 0.35:
        yield noul(rng, "made:fault_now", state, HURRY[kind] == "now", NOW, LATER)
    if kind in ("feature", "outage", "bug", "docs") and rng.random() < (0.6 if kind == "feature" else 0.15):
        yield noul(rng, "made:fault_new", state, kind == "feature", NEW)
    if kind in HURRY and rng.random() < 0.25:
        keys = rng.sample(list(URGENCY), 3)
        row = rng.randrange(3)
        described = rng.random() < 0.6
        options: dict[str, Content | None] = {URGENCY[k][row][0]: URGENCY[k][row][1] if described else None for k in keys}
        yield Example(
            "made:fault_urgency",
            Choice(options, rng.choice(("How urgent is it?", "priority", "When must someone act?"))),
            state,
            keys.index(HURRY[kind]),
        )
    if kind not in ("bug", "security", "account", "cancel") and rng.random() < (
        0.3 if kind in ("outage", "billing") else 0.6 if kind == "slow" else 0.2
    ):
        level = {"outage": 2, "slow": 1}.get(kind, 0)
        if rng.random() < 0.3:
            yield score(rng, "made:fault_impaired", state, 2 - level, IMPAIRED_ASKS, [s[::-1] for s in IMPAIRED])
        else:
            yield score(rng, "made:fault_impaired", state, level, IMPAIRED_ASKS, IMPAIRED)
