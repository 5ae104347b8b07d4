# ruff: noqa: E501  (a table of texts, one a line)
"""A question and a passage in one state: does the passage hold the answer? As yes/no, choice, score and choice of passage."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence

from oneread.questions import Choice, Content, Noul, Score

from ..corpus import Example
from .ask import Label, choice

YES = (
    "Has this {p} the relevant facts for the {q}?", "Does this {p} give an answer to whoever put the {q}?", "Does the {p} say what the {q} asks for?", "Would someone who asked this be helped by the {p}?",
    "Can the {q} be answered from this {p} alone?", "Is the answer in the {p}?", "The {p} holds the answer to the {q}.", "Should this {p} be kept as evidence for answering the {q}?",
    "Is the {q} answered here?", "worth_citing", "settles_it", "Does the {p} give the information that is asked for?", "Is this a {p} you would cite in the answer?",
    "Should a search for this {q} return the {p}?", "Does reading the {p} settle the {q}?", "Judge relevance: is the {p} of use for the {q}?", "Is what the {q} wants to know stated?",
    "Decide whether whoever asks gets an answer here.", "Does the {p} include the fact that the {q} is after?", "Is the {p} on target for this {q}?",
)  # fmt: skip
NO = (
    "Is the {p} of no use for the {q}?", "Does the {p} leave the {q} unanswered?", "Is the answer missing from the {p}?", "Should the {p} be discarded as irrelevant?", "Is the {p} irrelevant to the {q}?",
    "Would one have to look elsewhere for the answer?", "Does the {p} fail to say what is asked?", "Is the {q} still open after reading the {p}?",
)  # fmt: skip
CRITERIA = (
    ("The {p} states the answer", "The answer is not stated, even if the topic is the same"), ("Contains what is asked for", "Does not contain it"), ("Relevant, as it states what the {q} wants", "Beside the point"),
    ("The {q} can be answered from it", "It cannot"), ("useful for answering", "useless for answering"),
)  # fmt: skip
LABELS: dict[str, Label] = {
    "yes": (("relevant", "It holds the answer"), ("answers", "What is asked is said in it"), ("useful", "helps to answer the question"), ("contains_answer", "States what is asked"), ("keep", "Evidence for the answer")),
    "no": (("irrelevant", "The answer is not in it"), ("does_not_answer", "The question stays open"), ("useless", "no help for the question"), ("no_answer", "Does not state what is asked"), ("drop", "Nothing in it that answers")),
}  # fmt: skip
LABEL_ASKS = (
    "Relevance of the {p}?",
    "How does the {p} relate to the {q}?",
    "Judge the {p} for the {q}.",
    "relevance",
    "Is the {p} an answer?",
    "How do the two fit together?",
)
SCALES = (
    ("another subject", "same subject, but no answer", "states the fact that is asked for"), ("off topic", "on topic, does not answer", "settles what is asked"), ("useless", "of some use", "exactly what is needed"),
    ("about something else", "about the right thing, without what is asked", "states what is asked"),
)  # fmt: skip
SCALE_ASKS = (
    "How much does the {p} help with the {q}?",
    "Grade the {p} for this {q}.",
    "Relevance grade",
    "How well does the {p} answer the {q}?",
)
PICK_ASKS = (
    "Which passage tells what is asked?", "Which of these holds the answer?", "Pick the sentence that answers it.", "Choose the most relevant passage.", "Which text should be cited?", "Where is the answer?",
)  # fmt: skip
TOPIC_YES = (
    "Is the {p} about what the {q} asks?", "Is the {p} of service to whoever works on the {q}?", "Do {q} and {p} belong together?", "Does the {p} stay with the matter that the {q} raises?", "Is the {p} related to the {q}?", "Does the {q} concern this {p}?",
    "Would this {p} be of any use to someone working on the {q}?", "Is the {p} pertinent?", "related", "Was the {p} written for this {q}?",
)  # fmt: skip
TOPIC_NO = (
    "Is the {p} about something else than the {q}?",
    "Is the {p} off topic?",
    "Are {q} and {p} unrelated?",
    "Has the {p} nothing to do with the {q}?",
)
TOPIC_CRITERIA = (
    ("on topic", "off topic"),
    ("The {p} concerns what is asked", "It concerns something else"),
    ("They belong together", "They do not"),
)
TOPIC_LABELS: dict[str, Label] = {
    "yes": (("related", "About the same thing"), ("on_topic", "It concerns what is asked"), ("pertinent", "Has to do with it")),
    "no": (("unrelated", "About something else"), ("off_topic", "It concerns other things"), ("mismatch", "They do not belong together")),
}  # fmt: skip
QUESTION_KEYS = ("question", "query", "q", "user_question", "search", "information_need", "request")
PASSAGE_KEYS = ("passage", "sentence", "document", "text", "context", "paragraph", "snippet", "candidate", "result", "evidence")


def pair_state(rng: random.Random, question: str, passage: str) -> tuple[Content, str, str]:
    """The state, and what question and passage are called in it."""
    q, p = rng.choice(QUESTION_KEYS), rng.choice(PASSAGE_KEYS)
    named = (
        q if q in ("query", "request") else "question",
        p if p in ("passage", "sentence", "document", "text", "paragraph", "snippet") else "passage",
    )
    roll = rng.random()
    if roll < 0.45:
        fields = [(q, question), (p, passage)]
        if rng.random() < 0.3:
            fields.reverse()
        state: Content = dict(fields)
        if rng.random() < 0.1:
            state = json.dumps(state, ensure_ascii=False)
        return state, *named
    gap = rng.choice(("\n\n", "\n", "\n", " "))
    if roll < 0.9:
        parts = [f"{q.replace('_', ' ').capitalize()}: {question}", f"{p.capitalize()}: {passage}"]
        if rng.random() < 0.25:
            parts.reverse()
        return gap.join(parts), *named
    return f"{question}{gap}{passage}", "question", "passage"


def judged(rng: random.Random, task: str, question: str, passage: str, grade: int) -> Example:
    """One question about a pair. `grade` is 2 when the answer is in the passage, 1 when only the subject is the same, 0 otherwise."""
    state, q, p = pair_state(rng, question, passage)
    roll, truth = rng.random(), grade == 2

    def say(texts: Sequence[str]) -> str:
        return rng.choice(texts).format(q=q, p=p)

    if roll < 0.7:
        if rng.random() < 0.2:
            return Example(task, Noul(say(NO)), state, int(truth))
        if rng.random() < 0.3:
            yes, no = (c.format(q=q, p=p) for c in rng.choice(CRITERIA))
            return Example(task, Noul(say(YES), yes, no), state, int(not truth))
        return Example(task, Noul(say(YES)), state, int(not truth))
    if roll < 0.85:
        return choice(rng, task, state, [x.format(q=q, p=p) for x in LABEL_ASKS], LABELS, "yes" if truth else "no")
    return Example(task, Score(list(rng.choice(SCALES)), say(SCALE_ASKS)), state, grade)


def picked(rng: random.Random, task: str, question: str, right: str, wrong: Sequence[str]) -> Example:
    """Which of several passages answers; the state is the question, or question and passages by number."""
    texts = [right, *wrong]
    rng.shuffle(texts)
    names = [rng.choice(("{}", "passage_{}", "doc{}", "[{}]")).replace("{}", str(i + 1)) for i in range(len(texts))]
    if len(set(names)) < len(names):
        names = [str(i + 1) for i in range(len(texts))]
    gold = texts.index(right)
    if rng.random() < 0.5:
        state: Content = question if rng.random() < 0.5 else {rng.choice(QUESTION_KEYS): question}
        return Example(task, Choice(dict(zip(names, texts, strict=True)), rng.choice(PICK_ASKS)), state, gold)
    lines = dict(zip(names, texts, strict=True))
    state = (
        {"question": question, "passages": lines}
        if rng.random() < 0.5
        else "\n".join([f"Question: {question}", *(f"{k}: {v}" for k, v in lines.items())])
    )
    return Example(task, Choice(dict.fromkeys(names), rng.choice(PICK_ASKS)), state, gold)


def topical(rng: random.Random, task: str, question: str, passage: str, truth: bool) -> Example:
    """Whether the passage is about what is asked, answered there or not."""
    state, q, p = pair_state(rng, question, passage)
    roll = rng.random()
    if roll < 0.2:
        return choice(rng, task, state, [x.format(q=q, p=p) for x in LABEL_ASKS[:4]], TOPIC_LABELS, "yes" if truth else "no")
    if roll < 0.35:
        return Example(task, Noul(rng.choice(TOPIC_NO).format(q=q, p=p)), state, int(truth))
    yes, no = (c.format(q=q, p=p) for c in rng.choice(TOPIC_CRITERIA)) if roll < 0.6 else (None, None)
    return Example(task, Noul(rng.choice(TOPIC_YES).format(q=q, p=p), yes, no), state, int(not truth))


def cases(rng: random.Random, task: str, question: str, right: str, near: Sequence[str], far: Sequence[str]) -> Iterator[Example]:
    """The passage that answers against one or two that do not. `near` are about the same subject, `far` about another."""
    near, far = [t for t in near if t != right], [t for t in far if t != right]
    yield judged(rng, task, question, right, 2)
    if near:
        yield judged(rng, task, question, rng.choice(near), 1)
    elif far:
        yield judged(rng, task, question, rng.choice(far), 0)
    if far and near and rng.random() < 0.15:
        yield judged(rng, task, question, rng.choice(far), 0)
    wrong = [*rng.sample(near, min(len(near), 3)), *rng.sample(far, min(len(far), 2))]
    if len(wrong) >= 2 and rng.random() < 0.15:
        yield picked(rng, task, question, right, rng.sample(wrong, rng.randint(2, min(4, len(wrong)))))
