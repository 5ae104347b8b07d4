"""Opinions that words of praise alone do not tell: one feature of a product, long tales around a verdict, posts to companies.

Praise and blame of a feature may be denied, compared or ironic; a grim tale may be praised; a complaint may be polite.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from . import feature_texts as features
from . import mention_texts as mentions
from . import plot_texts as plots
from .review_texts import BLAME, PRAISE
from .spin import COMPANIES, spin, table

OWN = re.compile(r"\b(I|my|me|mine|our|we|us|their|they)\b")


@dataclass(frozen=True)
class Told:
    """A text and its verdict; `both` when it says something of the other side too, `mild` when neutral would be as right."""

    text: str
    mood: str
    both: bool = False
    mild: bool = False


def cap(text: str) -> str:
    return text[:1].upper() + text[1:]


def with_article(text: str) -> str:
    """With "an" for "a" before a vowel that is heard as one."""
    return re.sub(r"\b([Aa]) (?!one|us[eiu]|uni|eu)([aeiouAEIO])", r"\1n \2", text)


def filled(rng: random.Random, text: str, slots: dict[str, str]) -> str:
    """The text with these slots filled first (their values may hold slots), then spun."""
    for _ in range(2):
        for name, value in slots.items():
            text = text.replace("{" + name + "}", value)
    return with_article(spin(rng, text))


def _clause(rng: random.Random, texts: Sequence[str], frame: str, avoid: str = "") -> str:
    """One clause, other than `avoid` where there is another; not in the first person where the frame lets others say it."""
    fits = [t for t in texts if t != avoid] or list(texts)
    if re.search(r"say|write|complain|claims|believe|read\}|warned|brother|old|expects", frame):
        fits = [t for t in fits if not OWN.search(t)] or fits
    return rng.choice(fits)


def feature(rng: random.Random) -> Told:
    """One sentence or a few on a product, mostly about one feature."""
    kind = rng.choice(list(features.PRODUCTS))
    names, rows = features.PRODUCTS[kind]
    facts = [f.removeprefix("h:") for f in features.FACTS if kind != "software" or not f.startswith("h:")]
    (noun, praise, blame), (_, _, blame2) = rng.sample(rows, 2)
    brand = rng.choice(COMPANIES)
    product = spin(rng, "{" + names.replace("{brand}", brand) + "}")
    frames, mood = rng.choices(
        (
            (features.FEATURE_GOOD, "positive"),
            (features.FEATURE_BAD, "negative"),
            (features.OVERALL_GOOD, "positive"),
            (features.OVERALL_BAD, "negative"),
            (features.WISHES, "negative"),
            (facts, "neutral"),
        ),
        (34, 34, 9, 9, 5, 9),
    )[0]
    count = rng.choice((1, 1, 1, 1, 2)) if frames in (features.FEATURE_GOOD, features.FEATURE_BAD) else 1
    parts: list[str] = []
    for i in range(count):
        frame = rng.choice(frames)
        good, bad = _clause(rng, table(praise), frame), _clause(rng, table(blame), frame)
        if i:
            (noun, praise, blame), (_, _, blame2) = rng.sample(rows, 2)
            good, bad = _clause(rng, table(praise), frame), _clause(rng, table(blame), frame)
        slots = {
            "g": good,
            "w": bad,
            "G": _start(good),
            "W": _start(bad),
            "g2": _clause(rng, table(praise), frame, good),
            "w2": _clause(rng, table(blame2), frame),
            "f": noun,
            "m": product,
            "M": cap(product),
            "brand": rng.choice(COMPANIES),
        }
        parts.append(filled(rng, frame, slots))
    if mood != "neutral" and rng.random() < 0.2:
        fact = filled(rng, rng.choice(facts[:3]), {"m": product, "M": cap(product), "f": noun, "brand": brand})
        parts.insert(rng.choice((0, len(parts))), fact)
    overall = frames in (features.OVERALL_GOOD, features.OVERALL_BAD)
    return Told(" ".join(cap(p) for p in parts), mood, both=overall, mild=frames is features.WISHES)


def _start(clause: str) -> str:
    """With a capital also where the clause begins with a slot of alternatives."""
    if not clause.startswith("{"):
        return cap(clause)
    end = clause.index("}")
    if "|" not in clause[:end]:
        return clause
    return "{" + "|".join(cap(t) for t in clause[1:end].split("|")) + clause[end:]


def _suited(texts: Sequence[str], stage: bool) -> list[str]:
    return [t.removeprefix("s:") for t in texts if stage or not t.startswith("s:")]


HEROES = {
    ("she", "her", "her"): ("Mara", "Priya", "Sofia", "Ingrid", "Hannah", "Elena", "Ruth", "Nina"),
    ("he", "his", "him"): ("Jonas", "Luis", "Omar", "Stefan", "Pedro", "Ravi", "Hugo", "Ivan"),
}
OTHERS = ("Chen", "Kim", "Sam", "Pat", "Wei", "Kofi", "Aiko", "Tess")


def narration(rng: random.Random) -> tuple[str, Told]:
    """The kind of work, and a review that tells its plot; most of the words are about what happens in it."""
    kind = rng.choice(("film", "film", "film", "series", "book", "book", "game", "play"))
    x, see, maker, viewer = plots.WORKS[kind]
    stage = kind in ("film", "series", "play")
    (she, her, him), names = rng.choice(list(HEROES.items()))
    hero, other = rng.choice(names), rng.choice(OTHERS)
    slots = {
        "t": spin(rng, "{" + plots.TITLES + "}"),
        "h": hero,
        "k": other,
        "she": she,
        "her": her,
        "obj": him,
        "see": "{" + see + "}" if "|" in see else see,
        "See": "{" + "|".join(map(cap, see.split("|"))) + "}" if "|" in see else cap(see),
        "maker": spin(rng, "{" + maker + "}") if "|" in maker else maker,
        "viewer": viewer,
        "x": "{" + x + "}",
        "p": PRAISE,
        "b": BLAME,
    }

    def say(texts: Sequence[str], n: int, **other: str) -> list[str]:
        fits = _suited(texts, stage)
        return [cap(filled(rng, t, {**slots, **other})) for t in rng.sample(fits, min(n, len(fits)))]

    good = rng.random() < 0.5
    craft, verdicts = (plots.CRAFT_GOOD, plots.VERDICT_GOOD) if good else (plots.CRAFT_BAD, plots.VERDICT_BAD)
    long = rng.random()
    told = [s for step in rng.choice((plots.GRIM, plots.GLAD)) for s in say(step, 1 if long < 0.6 else rng.randint(1, 2))]
    if long < 0.3:
        told = told[: rng.randint(1, 3)]
    talk = say(plots.TALK, rng.randint(0, 1 if long < 0.5 else 5))
    second: list[str] = []
    if long > 0.65:  # a second thread of the story, of either colour
        (she, her, him), names = rng.choice(list(HEROES.items()))
        thread = {"h": rng.choice([n for n in names if n != hero]), "she": she, "her": her, "obj": him}
        steps = rng.choice((plots.GRIM, plots.GLAD))[:3]
        second = [*say(plots.THREADS, 1, **thread), *(s for step in steps for s in say(step[-3:], rng.randint(1, 2), **thread))]
        second = [s for s in second if s not in told]
    others = say(plots.BY_OTHERS_BAD if good else plots.BY_OTHERS_GOOD, rng.choice((0, 0, 1, 2)))
    views = say(craft, rng.choice((0, 1, 1, 2, 3)) + 2 * (long > 0.8))
    verdict = say(verdicts, 2)
    place = rng.choice(("start", "end", "end", "both", "none" if len(views) > 1 else "end"))
    opening = say(plots.OPENINGS, 1) if rng.random() < 0.7 else []
    rest = [*others, *views]
    rng.shuffle(rest)
    half = (len(told) + 1) // 2
    paragraphs = [
        [*(verdict[:1] if place in ("start", "both") else []), *opening],
        [*told[:half], *talk[:1]],
        [*told[half:], *talk[1:3]],
        [*second, *talk[3:]],
        rest,
        verdict[1:] if place in ("end", "both") else [],
    ]
    text = rng.choice(("\n\n", "\n", " ", " ")).join(" ".join(p) for p in paragraphs if p)
    return kind, Told(text, "positive" if good else "negative", both=bool(others))


SLANG = {"you": "u", "are": "r", "please": "pls", "thanks": "thx", "because": "cuz", "today": "2day"}
TAGS = ("#service", "#customerservice", "#monday", "#help", "#feedback", "#smh")


def _sentences(text: str) -> str:
    """Capitals where sentences begin, and for the one who writes."""
    text = re.sub(r"(^|[.!?] )([a-z])", lambda m: m[1] + m[2].upper(), text)
    return re.sub(r"\bi\b", "I", text)


def _posted(rng: random.Random, text: str, tags: Sequence[str], mood: str) -> str:
    """As people type: with or without capitals, slang, tags, a face, a handle at the end."""
    roll = rng.random()
    if roll < 0.5:
        text = _sentences(text)
    elif roll < 0.56 and len(text) < 90:
        text = " ".join(w if w.startswith("@") else w.upper() for w in text.split())
    elif roll < 0.72:
        text = re.sub(r"\b(you|are|please|thanks|because|today)\b", lambda m: SLANG[m[1]], text)
    if rng.random() < 0.25:
        own = ("#fail", "#neveragain", "#winning", "#love") if mood == "negative" else ("#love", "#winning", "#happy")
        loud = own if mood != "neutral" and rng.random() < 0.4 else (*tags, *tags, *TAGS[: 6 if mood == "negative" else 4])
        text += " " + " ".join(dict.fromkeys(rng.sample(loud, rng.choice((1, 1, 2)))))
    if rng.random() < 0.1:
        text = text.replace("!", "!!!").replace("...", " ... ")
    return text.strip()


def mention(rng: random.Random) -> Told:
    """A public post to a company of any trade."""
    mood = rng.choice(("positive", "negative", "neutral"))
    handles, good, bad, plain, tags = mentions.TRADES[rng.choice(list(mentions.TRADES))]
    own, rival = rng.sample(handles.split("|"), 2)
    frame = rng.choice({"positive": mentions.GOOD, "negative": mentions.BAD, "neutral": mentions.PLAIN}[mood])
    questions = list(table(plain))
    if re.search("question|asking|thank|hi |hey|🙏|\\{q2\\}", frame):
        questions = [q for q in questions if "?" in q]
    (w, w2), (q, q2) = rng.sample(table(bad), 2), rng.sample(questions, 2)
    g = rng.choice(table(good))
    handle = "@" + own + rng.choice(("", "", "", "Help", "UK", "Care"))
    slots = {
        "a": handle if rng.random() < 0.9 else own,
        "rival": "@" + rival if rng.random() < 0.5 else rival,
        "g": g,
        "G": _start(g),
        "w": w,
        "W": _start(w),
        "w2": w2,
        "q": q,
        "Q": _start(q),
        "q2": q2,
        "x": "{" + mentions.TROUBLES + "}",
    }
    other_side = {"positive": r"\{[wW]\}|told you", "negative": "thank you for|usual|sweet|loyal|appreciate"}
    both = mood in other_side and bool(re.search(other_side[mood], frame))
    text = re.sub(r"([?!])[.,]", r"\1", filled(rng, frame, slots).replace("??", "?"))
    return Told(_posted(rng, text, tags.split("|"), mood), mood, both=both)
