# ruff: noqa: E501  (a table of texts, one a line)
"""Made cases: templates and slots written for this project, so that no foreign text is copied.

They cover what public sets lack: support tickets in several languages with urgency, tone and routing at once; logs, test
failures and incidents; prompt injection with hard negatives; commits, approvals, records; tickets whose subject is
not what happened; policies whose points are counted, scales in words; long reviews; passages that answer a question or only
touch it. Spam, tone, toxicity, reviews and relevance, of which public sets hold little or nothing that may be trained on, make
three fifths of all cases. Task names start with ``made:``.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from ..corpus import Example
from . import (
    facts,
    faults,
    forums,
    graded,
    machines,
    mail,
    messages,
    posts,
    records,
    reviews,
    rubrics,
    rules,
    stories,
    tickets,
    tone,
)

SOURCES = (tickets.ticket, tickets.ticket, tickets.ticket, machines.log_line, machines.failure, machines.incident, machines.commit,
           messages.mail, messages.injection, messages.moderation, messages.intent, messages.review, records.order, records.agent, records.policy,
           *[mail.message] * 6, *[posts.post] * 5, tone.tone, tone.tone, tone.hurry, stories.story, stories.story,
           *[facts.fact] * 9, *[reviews.opinion] * 10, *[reviews.message] * 6, *[forums.sentence] * 12, *[rules.rule] * 7,
           faults.fault, faults.fault, *[graded.graded] * 4, rubrics.rubric)  # fmt: skip


def generate(states: int, seed: int) -> Iterator[Example]:
    """Examples about this many made states, several questions about each."""
    rng = random.Random(seed)
    for _ in range(states):
        yield from rng.choice(SOURCES)(rng)
