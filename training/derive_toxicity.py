"""Cases that tell attacks on a group from insults, vulgar language and harmless posts, derived from training records.

The records say only whether a post is offensive, or only whether it is hateful; the lists of `toxicity_words` decide the rest. A
post for which they cannot is asked about only where its answer is sure. `toxicity_asks` has the questions. Task names are
``derived:speech_...``.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle

from oneread.canvas.text import render
from oneread.questions import Choice, Content, Noul, Score

from . import toxicity_asks as asks
from .augment import MEANINGLESS
from .corpus import Example
from .made.ask import noul, wrap
from .toxicity_words import (
    ABUSE,
    AGAINST,
    AGAINST_WOMEN,
    AIMED,
    COMMENT,
    COUNTER,
    FRIENDLY,
    GROUP,
    HOSTILE,
    INSULT,
    MIGRANTS,
    MILD,
    NAMED,
    PARTY,
    QUOTED,
    REPORT,
    SLUR,
    SOUNDS_LIKE,
    STRONG,
    SWEAR,
    TRADES,
    WOMEN,
    YOU,
)

KINDS = {
    "hate": "a group is attacked for what it is",
    "insult": "a person is insulted or threatened",
    "crude": "vulgar words at nobody in particular",
    "rude": "insult or crude",
    "fine": "none of these",
    "not_hate": "anything but hate",
    "bad": "anything but fine",
}
"""What is known of a post, the last ones in part only."""


def affirmed(e: Example) -> bool | None:
    """Whether the record calls its post offensive, or hateful; None when it does not say."""
    asked = render(e.question.instructions).lower()
    if isinstance(e.question, Noul):
        return (e.answer == 0) != bool(re.search(r"free of|acceptable|not (offensive|hateful)", asked))
    if not isinstance(e.question, Choice):
        return None
    name, text = list(e.question.options.items())[e.answer]
    label = re.sub(r"[_-]", " ", str(text or "") if MEANINGLESS.match(name) else name).lower()
    if re.search(r"not (ok|acceptable)|^flag", label):
        return True
    return not re.search(r"\bnot?\b|\bok\b|acceptable", label) if re.search(r"offen|ok\b|accept", label) else None


def said(e: Example) -> str:
    """The post itself."""
    state = e.state
    while isinstance(state, Mapping) and len(state) == 1:
        (state,) = state.values()
    text = render(state).replace('""', '"').strip().strip('"').replace("\n", " ")
    text = re.sub(r"(@user ){3,}", "@user @user ", text)
    return "" if re.search("[âðÃ]|‘˜", text) else text  # read in a wrong encoding


def abusive(text: str) -> str:
    """The kind of a foul post in which no group is attacked."""
    text = text.replace("\u2019", "'")
    if AIMED.search(text) and not FRIENDLY.search(text) and not QUOTED.search(text):
        return "rude" if PARTY.search(text) and not YOU.search(text) else "insult"
    unsure = any(p.search(text) for p in (NAMED, INSULT, YOU, PARTY, TRADES))
    return "rude" if unsure else "crude"


def from_offensive(text: str, offensive: bool) -> str:
    foul = SWEAR.search(text) or INSULT.search(text)
    if not offensive:
        return "" if foul or MILD.search(text) or SLUR.search(text) else "fine"
    if not foul:
        return ""  # many are political quarrels, about which annotators differ
    return "bad" if GROUP.search(text) or SLUR.search(text) else abusive(text)


def from_hateful(text: str, hateful: bool) -> str:
    if hateful:
        if MIGRANTS.search(text) and not REPORT.search(text) and (STRONG.search(text) or len(AGAINST.findall(text)) > 1):
            return "hate"
        if WOMEN.search(text) and AGAINST_WOMEN.search(re.sub(r"#\w+", "", text)) and not REPORT.search(text):
            return "hate"
        return "bad" if SWEAR.search(text) else ""  # women are also insulted one by one, which is not what we call hate
    if HOSTILE.search(text) or SLUR.search(text):
        return ""
    if SWEAR.search(text):
        return "not_hate" if GROUP.search(text) or COMMENT.search(text) else abusive(text)
    return "" if INSULT.search(text) or MILD.search(text) else "fine"


def from_tested(text: str, hateful: bool) -> str:
    if hateful:  # slang for women is too common among rude posts to stand for hate by itself
        return "bad" if re.search("bitch|whore|slut", text, re.I) and not GROUP.search(text) else "hate"
    if COUNTER.search(text) or SOUNDS_LIKE.search(text):
        return "fine"  # counter speech may quote any word
    if GROUP.search(text) and not SLUR.search(text):
        return "not_hate" if "bitch" in text else "fine"
    if SLUR.search(text):
        return "not_hate"  # of oneself
    if SWEAR.search(text):
        return abusive(text)
    if ABUSE.search(text):
        at = re.search(r"\b(you|your|him|his|he|she|her)\b", text, re.I)
        return "rude" if TRADES.search(text) else "insult" if at else "fine"
    return ""


SOURCES = {"offensive_tweets": from_offensive, "hate_tweets": from_hateful, "hatecheck": from_tested}
MOST = 1000
"""Posts of one kind from one source, so that none decides what a kind is."""


def sorted_posts(rng: random.Random, corpus: Mapping[str, Sequence[Example]]) -> dict[str, list[str]]:
    """Posts by kind; each text once."""
    out: dict[str, list[str]] = defaultdict(list)
    seen: set[str] = set()
    for task, kind_of in SOURCES.items():
        here: dict[str, list[str]] = defaultdict(list)
        for e in corpus.get(task, ()):
            text, truth = said(e), affirmed(e)
            if truth is not None and len(text) > 8 and text.lower() not in seen:
                seen.add(text.lower())
                here[kind_of(text, truth)].append(text)
        for kind in KINDS:
            out[kind] += rng.sample(here[kind], min(len(here[kind]), MOST))
    return {kind: rng.sample(texts, len(texts)) for kind, texts in out.items() if texts}


def dressed(rng: random.Random, text: str, kind: str, posts: Mapping[str, Sequence[str]], alone: bool) -> str:
    """The post as it may stand on a timeline, now and then with another sentence that does not change its kind.

    A rude one beside it changes nothing where the worst of a post counts; `alone` is for questions in which it would.
    """
    roll = rng.random()
    beside = "fine" if roll < 0.15 else "rude" if roll < 0.45 and kind == "hate" and not alone else ""
    short = [t for t in rng.sample(posts.get(beside, ()), min(12, len(posts.get(beside, ())))) if len(t) < 110]
    if short and len(text) < 140:
        both = [text, short[0]]
        rng.shuffle(both)
        text = " ".join(t if re.search(r"[.!?…]$|#\w+$", t) else t + "." for t in both)
    if "@" not in text and rng.random() < 0.4:
        text = rng.choice(("@user ", "@user @user ", "RT @user: ", ".@user ")) + text
    if rng.random() < 0.15:
        text = text.rstrip(".") + rng.choice(asks.TAILS)
    return text.lower() if rng.random() < 0.12 else text


def sorted_out(
    rng: random.Random,
    task: str,
    state: Content,
    schemes: Sequence[asks.Scheme],
    instructions: Sequence[str],
    gold: str,
    extra: bool = False,
) -> Example:
    """A choice by one scheme: what its options mean stands beside them, or in the instructions, or in their names."""
    scheme = rng.choice(schemes)
    keys = rng.sample(list(scheme), len(scheme))
    told = {scheme[k][0]: rng.choice(scheme[k][1]) for k in keys}
    if extra:
        told |= dict(rng.sample(list(asks.EXTRA.items()), rng.randint(0, 2)))
    ask: str | None = rng.choice(instructions)
    first = next(iter(scheme.values()))[0].replace(" ", "_")
    roll = rng.random()
    if roll < 0.35 and first in asks.TELLING:
        return Example(task, Choice(dict.fromkeys(told), ask), state, keys.index(gold))
    if roll < 0.6:
        policy = "; ".join(f"{name}: {text}" for name, text in rng.sample(list(told.items()), len(told)))
        ask = rng.choice((f"{ask} {policy}.", f"{policy[0].upper()}{policy[1:]}. {ask}"))
        return Example(task, Choice(dict.fromkeys(told), ask), state, keys.index(gold))
    return Example(task, Choice(dict(told), ask if roll < 0.93 else None), state, keys.index(gold))


def toxicity(rng: random.Random, corpus: Mapping[str, Sequence[Example]], share: float) -> Iterator[Example]:
    """About 38,000 cases times `share`: every answer to a form of question is equally frequent."""
    posts = sorted_posts(rng, corpus)
    turns = {kind: cycle(texts) for kind, texts in posts.items()}

    def drawn(n: int, *answers: tuple[str, tuple[str, ...]], alone: bool = False) -> Iterator[tuple[str, Content]]:
        """`n` states for each answer, with it; kinds in proportion to their posts."""
        for answer, kinds in answers:
            there = [k for k in kinds if k in posts]
            for kind in rng.choices(there, [len(posts[k]) for k in there], k=int(n * share)) if there else ():
                yield answer, wrap(rng, dressed(rng, next(turns[kind]), kind, posts, alone), asks.FIELDS)

    foul = ("insult", "crude", "rude")
    three = (("hate", ("hate",)), ("rude", foul), ("fine", ("fine",)))
    four = tuple((k, (k,)) for k in ("hate", "insult", "crude", "fine"))
    hateful = (("hate", ("hate",)), ("other", (*foul, "not_hate")), ("hate", ("hate",)), ("other", ("fine",)))
    offends = (("bad", (*foul, "hate", "bad")), ("ok", ("fine",)))
    every = (*asks.ACT_ASKS, *asks.CLAUSE_ASKS)
    for gold, state in drawn(2800, *three):
        yield sorted_out(rng, "derived:speech_kind", state, asks.THREE, every, gold)
    for gold, state in drawn(600, *four, alone=True):
        yield sorted_out(rng, "derived:speech_clause", state, asks.FOUR, every, gold, extra=True)
    for gold, state in drawn(700, *hateful):
        yield sorted_out(rng, "derived:speech_hate_choice", state, asks.TWO, (*every, *asks.HATE_YES[:4]), gold)
    for gold, state in drawn(1650, *hateful):
        criteria = rng.choice(asks.HATE_CRITERIA)
        yield noul(rng, "derived:speech_hate", state, gold == "hate", asks.HATE_YES, asks.HATE_NO, criteria)
    for gold, state in drawn(600, *offends):
        yield sorted_out(rng, "derived:speech_bad_choice", state, asks.BAD, (*asks.ACT_ASKS, *asks.BAD_YES[:4]), gold)
    for gold, state in drawn(1200, *offends):
        criteria = rng.choice(asks.BAD_CRITERIA)
        yield noul(rng, "derived:speech_bad", state, gold == "bad", asks.BAD_YES, asks.BAD_NO, criteria)
    for gold, state in drawn(600, ("rude", foul), ("hate", ("hate",)), ("rude", foul), ("fine", ("fine",))):
        criteria = rng.choice(asks.RUDE_CRITERIA)
        yield noul(rng, "derived:speech_rude_only", state, gold == "rude", asks.RUDE_YES, (), criteria)
    for gold, state in drawn(600, ("group", ("hate",)), ("person", ("insult",)), ("nobody", ("fine",)), alone=True):
        yield sorted_out(rng, "derived:speech_aim", state, asks.WHO, asks.AIM_ASKS, gold)
    for gold, state in drawn(600, ("yes", ("hate", "insult")), ("no", ("crude", "fine"))):
        yield sorted_out(rng, "derived:speech_aimed", state, asks.AIMED, asks.AIMED_ASKS, gold)
    clauses = (  # one thing is banned, and posts that break other rules are let through
        ("hate", ("hate",), (*foul, "not_hate", "fine")),
        ("insult", ("insult",), ("crude", "fine")),
        ("crude", ("crude",), ("fine",)),
    )
    for clause, broken, kept in clauses:
        for gold, state in drawn(450, ("yes", broken), ("no", kept), alone=True):
            text = rng.choice(asks.CLAUSES[clause])
            yes, no = ([t.format(c=text) for t in ts] for ts in (asks.BROKEN, asks.KEPT))
            yield noul(rng, "derived:speech_one_rule", state, gold == "yes", yes, no)
    statements = {"hate": asks.GROUP, "rude": asks.COARSE, "fine": asks.PLAIN}
    for gold, state in drawn(400, *three):
        claim = gold if rng.random() < 0.5 else rng.choice([k for k in statements if k != gold])
        agree = rng.choice(asks.AGREE_LABELS)
        names = rng.sample(agree, 2)
        ask = rng.choice(asks.AGREE).format(c=rng.choice(statements[claim]))
        yield Example("derived:speech_agree", Choice(dict.fromkeys(names), ask), state, names.index(agree[int(claim != gold)]))
    levels = [name for name, _ in three[::-1]]
    for gold, state in drawn(1200, *three):
        scale = Score(list(rng.choice(asks.SCALES)), rng.choice(asks.LEVEL_ASKS))
        yield Example("derived:speech_level", scale, state, levels.index(gold))
    for gold, state in drawn(450, *four[::-1]):
        scale = Score(list(rng.choice(asks.LONG_SCALES)), rng.choice(asks.LONG_ASKS))
        yield Example("derived:speech_level_of_four", scale, state, [k for k, _ in four[::-1]].index(gold))
