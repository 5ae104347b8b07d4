# ruff: noqa: E501  (a table of texts, one a line)
"""Reviews, from one sentence to several paragraphs, and messages to companies: overall verdict, aspects, stars.

In a long review praise and blame mix, most of it describes; the verdict counts. A message to a company may ask, thank, or
complain without one unkind word.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from oneread.questions import Content

from ..corpus import Example
from .ask import Label, choice, noul, score, wrap
from .review_texts import BAD, BLAME, BUT, GOOD, KINDS, MIXED, PRAISE, STORY, TO_COMPANY
from .spin import SHOPS, spin

MOODS: dict[str, Label] = {
    "positive": (("positive", "The verdict is favourable"), ("good", "likes it"), ("favourable", "Recommends it on the whole"), ("thumbs_up", "worth it"), ("satisfied", "pleased with it")),
    "negative": (("negative", "The verdict is unfavourable"), ("bad", "dislikes it"), ("unfavourable", "Advises against it on the whole"), ("thumbs_down", "not worth it"), ("dissatisfied", "unhappy with it")),
    "neutral": (("mixed", "Good and bad in balance"), ("neutral", "Neither for nor against"), ("undecided", "no clear verdict"), ("so-so", "average"), ("lukewarm", "neither warm nor cold")),
}  # fmt: skip
MESSAGE_MOODS: dict[str, Label] = {
    "positive": (("positive", "Praise or thanks that are meant"), ("happy", "pleased with the company"), ("praise", "says something good"), ("satisfied", "a content customer")),
    "negative": (("negative", "A complaint, also an ironic one"), ("unhappy", "displeased with the company"), ("complaint", "something went wrong"), ("dissatisfied", "an annoyed customer")),
    "neutral": (("neutral", "A question, request or fact without judgement"), ("none", "no feeling about the company"), ("inquiry", "asks or informs"), ("factual", "no opinion stated")),
}  # fmt: skip
ASKS = (
    "What is the overall sentiment?", "Is the review positive or negative?", "Verdict of the reviewer?", "sentiment", "Does the author recommend it?", "How does the writer feel about it, all in all?", "Classify the review.",
    "Polarity of the text?", "Which opinion does the text express?", "On balance, what does the reviewer think?",
)  # fmt: skip
YES = (
    "Does the reviewer like it?", "Is the review positive?", "Is the overall verdict favourable?", "Would the author recommend it?", "Was it worth it for the writer?", "Is the sentiment positive?", "Is this a good review?", "The author enjoyed it.", "Would this reviewer come back for more?",
)  # fmt: skip
NO = (
    "Is the review negative?", "Does the author advise against it?", "Is the reviewer disappointed?", "Is this a bad review?", "Is the sentiment negative?", "Did the writer regret it?", "The author disliked it.", "Is the overall verdict unfavourable?",
)  # fmt: skip
CRITERIA = (
    ("the verdict as a whole is favourable", "the verdict as a whole is unfavourable"), ("likes it in spite of possible flaws", "dislikes it in spite of possible strengths"), ("positive", "negative"),
)  # fmt: skip
STARS = (
    ("1 star", "2 stars", "3 stars", "4 stars", "5 stars"), ("terrible", "poor", "average", "good", "excellent"), ("hates it", "dislikes it", "is lukewarm", "likes it", "loves it"),
    ("very negative", "negative", "neutral", "positive", "very positive"),
)  # fmt: skip
THREE = (("negative", "mixed", "positive"), ("dislikes it", "undecided", "likes it"), ("unhappy", "so-so", "happy"))
STAR_ASKS = (
    "How many stars did the reviewer give?",
    "rating",
    "How satisfied is the author?",
    "Rate the sentiment.",
    "Guess the rating.",
)
MESSAGE_ASKS = (
    "How does the customer feel about the company?", "Sentiment of the message?", "Is this praise, a complaint or neither?", "tone towards the company", "What is the sentiment of this post?", "Classify the customer's attitude.",
)  # fmt: skip
COMPLAINT = (
    "Is this a complaint?",
    "Is the customer unhappy with the company?",
    "Is the sentiment negative?",
    "Is the author displeased?",
    "Does the message criticise the company?",
    "complaint",
)
PLEASED = (
    "Is the customer pleased?",
    "Is the sentiment positive?",
    "Is this praise?",
    "Would the company like to quote this?",
    "Does the author thank or praise the company?",
)
PLAIN = (
    "Is this free of any judgement?",
    "Is the message neutral?",
    "Is it merely a question or a statement of fact?",
    "Neither praise nor complaint?",
)


def _fill(rng: random.Random, text: str, x: str) -> str:
    p2, b2 = (re.sub(r"^an? ", "", spin(rng, t)) for t in (PRAISE, BLAME))
    text = (
        text.replace("{X}", x[0].upper() + x[1:])
        .replace("{x}", x)
        .replace("{p2}", p2 if p2 not in NOUNS else "special")
        .replace("{b2}", b2 if b2 not in NOUNS else "dull")
    )
    text = spin(rng, text.replace("{p}", PRAISE).replace("{b}", BLAME))
    return re.sub(r"\b([Aa]) ([aeiou])", r"\1n \2", text)


NOUNS = (
    "joy",
    "treat",
    "gem",
    "pleasure",
    "mess",
    "letdown",
    "chore",
    "disgrace",
    "joke",
    "waste",
    "spot on",
    "beautifully done",
)


def _aspect(rng: random.Random, kind: str, which: int, good: bool, x: str) -> str:
    _, praise, blame = KINDS[kind][1][which]
    text = _fill(rng, rng.choice(_split(praise if good else blame)), x)
    return text[0].upper() + text[1:] + "."


def _split(text: str) -> list[str]:
    """Alternatives at the outer level only."""
    out, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "{") - (c == "}")
        if c == "|" and depth == 0:
            out.append(text[start:i])
            start = i + 1
    return [*out, text[start:]]


def _concede(rng: random.Random, text: str) -> str:
    lead = spin(rng, rng.choice(BUT))
    return lead + (
        text[0].lower() + text[1:]
        if lead and not text.startswith(("I ", "I'")) and text.split()[0][1:].islower() and text.split()[0] in LOWERED
        else text
    )


LOWERED = frozenset(
    [
        "The",
        "A",
        "An",
        "It",
        "They",
        "You",
        "We",
        "Nobody",
        "Not",
        "Even",
        "Every",
        "Each",
        "Half",
        "After",
        "Nothing",
        "Everything",
        "Setting",
        "Overpriced",
        "Worth",
        "Fair",
        "Hidden",
        "Huge",
        "Tiny",
        "Breakfast",
        "And",
        "Friendly",
        "Arrogant",
        "Lines",
    ]
)


def review_text(rng: random.Random, kind: str, mood: str, size: int) -> tuple[str, dict[str, bool]]:
    """A review whose verdict is `mood`, of about `size` sentences, and what it says of each aspect that it names."""
    x = spin(rng, rng.choice(_split(KINDS[kind][0])))
    aspects, facts = KINDS[kind][1], KINDS[kind][2]
    said: dict[str, bool] = {}
    good = mood == "positive"
    verdicts = MIXED if mood == "neutral" else GOOD if good else BAD
    verdict = _fill(rng, rng.choice(verdicts), x)
    if size == 1:
        if mood == "neutral" or rng.random() < 0.5:
            return verdict, said
        which = rng.randrange(len(aspects))
        return _aspect(rng, kind, which, good, x), {aspects[which][0]: good}
    chosen = rng.sample(range(len(aspects)), min(len(aspects), rng.randint(1, 3 if size < 6 else 4)))
    opinions: list[str] = []
    for i, which in enumerate(chosen):
        agrees = i == 0 or rng.random() < (0.75 if size < 6 else 0.62)
        like = i % 2 == 0 if mood == "neutral" else good == agrees
        text = _aspect(rng, kind, which, like, x)
        opinions.append(text if mood == "neutral" or like == good else _concede(rng, text))
        said[aspects[which][0]] = like
    if mood == "neutral" and len(chosen) == 1:
        opinions, said = [], {}
    rng.shuffle(opinions)
    told = [_fill(rng, t, x) for t in rng.sample(facts, min(len(facts), max(0, size - len(opinions) - 1)))]
    if kind in ("film", "book") and size >= 4:
        told += [_fill(rng, rng.choice(STORY), x) for _ in range(rng.randint(1, size))]
    if size >= 6:
        cut = rng.randint(1, max(1, len(told) - 1))
        first, rest = told[:cut], told[cut:]
        middle = rest + opinions
        rng.shuffle(middle)
        end = [verdict]
        if mood != "neutral" and rng.random() < 0.5:
            end.insert(rng.randint(0, 1), _fill(rng, rng.choice(verdicts), x))
        if rng.random() < 0.25:
            first.insert(0, end.pop(0)) if len(end) > 1 else None
        parts = [" ".join(p) for p in (first, middle[: len(middle) // 2], middle[len(middle) // 2 :], end) if p]
        return rng.choice(("\n\n", "\n", " ")).join(parts), said
    parts = [*told, *opinions]
    rng.shuffle(parts)
    parts.insert(rng.choice((0, len(parts), len(parts))), verdict)
    return " ".join(parts), said


def _worn(rng: random.Random, text: str) -> str:
    roll = rng.random()
    return (
        text.lower()
        if roll < 0.12
        else text.replace(".", "!", 1)
        if roll < 0.17
        else text.replace(".", " .").replace(",", " ,")
        if roll < 0.24
        else text
    )


def opinion(rng: random.Random) -> Iterator[Example]:
    """A review: verdict as choice, yes/no and stars, and what it says of one aspect."""
    kind = rng.choice(("film", "film", "film", "book", "product", "product", "hotel", "restaurant", "service"))
    mood = rng.choice(("positive", "positive", "negative", "negative", "neutral"))
    size = rng.choice((1, 1, 2, 3, 4, 6, 8, 12, 16, 22))
    text, said = review_text(rng, kind, mood, size)
    state: Content = wrap(
        rng,
        _worn(rng, text),
        ("review", "text", "comment", "feedback", "opinion"),
        **({"category": kind} if rng.random() < 0.5 else {"source": rng.choice(("web", "app", "mail"))}),
    )
    labels = MOODS if mood == "neutral" or rng.random() < 0.4 else {k: MOODS[k] for k in ("positive", "negative")}
    if rng.random() < 0.6:
        yield choice(rng, "made:opinion_verdict", state, ASKS, labels, mood)
    if mood != "neutral":
        yield noul(rng, "made:opinion_good", state, mood == "positive", YES, NO, rng.choice(CRITERIA))
    roll = rng.random()
    if roll < 0.35:
        level = 2 if mood == "neutral" else rng.choice((3, 4)) if mood == "positive" else rng.choice((0, 1))
        bare = not any((v != (mood == "positive")) for v in said.values())
        if mood != "neutral":  # a flaw that is named costs a star
            level = (4 if bare else 3) if mood == "positive" else (0 if bare else 1)
        yield score(rng, "made:opinion_stars", state, level, STAR_ASKS, STARS)
    elif roll < 0.5:
        yield score(rng, "made:opinion_level", state, {"negative": 0, "neutral": 1, "positive": 2}[mood], STAR_ASKS[1:4], THREE)
    if said and rng.random() < 0.4:
        names = [a[0] for a in KINDS[kind][1]]
        name = rng.choice(names)
        view = "absent" if name not in said else "positive" if said[name] else "negative"
        yield choice(
            rng,
            "made:opinion_aspect",
            state,
            (f"What does the reviewer say about the {name}?", f"Opinion on the {name}?", f"How is the {name} judged?"),
            ASPECTS,
            view,
        )


ASPECTS: dict[str, Label] = {
    "positive": (("praised", "It is praised"), ("positive", "the reviewer likes it")),
    "negative": (("criticised", "It is criticised"), ("negative", "the reviewer dislikes it")),
    "absent": (("not_mentioned", "Nothing is said about it"), ("no_opinion", "it does not come up")),
}


def message(rng: random.Random) -> Iterator[Example]:
    """A short public message to a company."""
    mood = rng.choice(("positive", "negative", "neutral"))
    handle = (
        "@"
        + rng.choice((*SHOPS, "SkyNorth", "AeroLine", "Bluewing", "Continair", "Pacifly", "TransNord"))
        + rng.choice(("", "", "Help", "Air", "Care"))
    )
    texts: Sequence[str] = TO_COMPANY[mood]
    parts = rng.sample(texts, 1 if rng.random() < 0.75 else 2)
    if mood != "neutral" and rng.random() < 0.2:
        parts.insert(rng.randint(0, 1), rng.choice(TO_COMPANY["neutral"][4:6]))
    text = " ".join(
        _fill(
            rng, p.replace("{a}", handle if i == 0 else rng.choice(("", "you", "")) if "{a} " not in p[:4] else ""), "it"
        ).strip()
        for i, p in enumerate(parts)
    )
    roll = rng.random()
    text = (
        text.lower()
        if roll < 0.15
        else text.replace(handle, "").strip() + " " + handle
        if roll < 0.25 and text.startswith(handle)
        else text
        + " "
        + rng.choice(("#travel", "#fail" if mood == "negative" else "#monday", "#service", "😊" if mood == "positive" else "✈️"))
        if roll < 0.35
        else text
    )
    state = wrap(rng, text, ("tweet", "post", "message", "text", "mention"))
    if rng.random() < 0.7:
        yield choice(rng, "made:mention_mood", state, MESSAGE_ASKS, MESSAGE_MOODS, mood)
    roll = rng.random()
    if roll < 0.45:
        yield noul(rng, "made:mention_complaint", state, mood == "negative", COMPLAINT)
    elif roll < 0.7:
        yield noul(rng, "made:mention_praise", state, mood == "positive", PLEASED)
    elif roll < 0.8:
        yield noul(rng, "made:mention_neutral", state, mood == "neutral", PLAIN)
    if rng.random() < 0.2:
        yield score(
            rng,
            "made:mention_level",
            state,
            {"negative": 0, "neutral": 1, "positive": 2}[mood],
            STAR_ASKS[2:4],
            (("negative", "neutral", "positive"), ("unhappy", "neither", "happy"), ("complaint", "no judgement", "praise")),
        )
