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
from .ask import choice, noul, score, wrap
from .opinion_texts import SUBTLE_BAD, SUBTLE_GOOD, SUBTLE_MIXED
from .opinions import Told, cap, feature, mention, narration, with_article
from .review_asks import (
    ASKS,
    ASPECTS,
    COMPLAINT,
    CRITERIA,
    FEATURE_ASKS,
    FLAWED,
    LEVEL_ASKS,
    MESSAGE_ASKS,
    MESSAGE_MOODS,
    MOODS,
    NO,
    NO_POINT,
    NO_VIEW_THREE,
    PLAIN,
    PLEASED,
    POINT,
    POINTS,
    RECOMMEND_ASKS,
    RECOMMENDS,
    STAR_ASKS,
    STARS,
    THREE,
    UNHAPPY,
    YES,
)
from .review_texts import BAD, BLAME, BUT, GOOD, KINDS, MIXED, PRAISE, STORY, TO_COMPANY
from .spin import COMPANIES, SHOPS, spin


def _fill(rng: random.Random, text: str, x: str) -> str:
    p2, p2b, b2 = (re.sub(r"^an? ", "", spin(rng, t)) for t in (PRAISE, PRAISE, BLAME))
    p2, p2b, b2 = (
        p2 if p2 not in NOUNS else "special",
        p2b if p2b not in NOUNS else "convincing",
        b2 if b2 not in NOUNS else "dull",
    )
    slots = {
        "X": cap(x),
        "x": x,
        "p2": p2,
        "P2": cap(p2),
        "p2b": p2b,
        "b2": b2,
        "p": PRAISE,
        "b": BLAME,
        "brand": rng.choice(COMPANIES),
    }
    for name, value in slots.items():
        text = text.replace("{" + name + "}", value)
    text = spin(rng, text)
    return with_article(text)


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
        if lead and not text.startswith(("I ", "I'")) and text.split()[0][1:].islower() and LOWERED.fullmatch(text.split()[0])
        else text
    )


LOWERED = re.compile(
    "The|A|An|It|They|You|We|Nobody|Not|Even|Every|Each|Half|After|Nothing|Everything|Setting|Overpriced|Worth|Fair|Hidden|Huge|Tiny|Breakfast|And|Friendly|Arrogant|Lines"
)


WITH_GROUP = {"f:": ("film", "book"), "g:": ("product",), "v:": ("hotel", "restaurant", "service")}


def _verdicts(mood: str, kind: str) -> list[str]:
    """Sentences with this verdict that suit the kind of thing."""
    table = {"positive": (*GOOD, *SUBTLE_GOOD), "negative": (*BAD, *SUBTLE_BAD), "neutral": (*MIXED, *SUBTLE_MIXED)}[mood]
    return [re.sub("^[fgv]:", "", t) for t in table if kind in WITH_GROUP.get(t[:2], (kind,))]


def review_text(rng: random.Random, kind: str, mood: str, size: int) -> tuple[str, dict[str, bool]]:
    """A review whose verdict is `mood`, of about `size` sentences, and what it says of each aspect that it names."""
    x = spin(rng, rng.choice(_split(KINDS[kind][0])))
    aspects, facts = KINDS[kind][1], KINDS[kind][2]
    said: dict[str, bool] = {}
    good = mood == "positive"
    verdicts = _verdicts(mood, kind)
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


def _reviewed(rng: random.Random) -> tuple[str, Told, dict[str, bool]]:
    """What is reviewed ("feature" for a remark on one), the review, and what it says of each aspect that it names."""
    roll = rng.random()
    if roll < 0.34:
        return "feature", feature(rng), {}
    if roll < 0.6:
        kind, told = narration(rng)
        return kind, told, {}
    kind = rng.choice(("film", "film", "film", "book", "product", "product", "hotel", "restaurant", "service"))
    mood = rng.choice(("positive", "positive", "negative", "negative", "neutral"))
    size = rng.choice((1, 1, 2, 3, 4, 6, 8, 12, 16, 22))
    text, said = review_text(rng, kind, mood, size)
    return kind, Told(text, mood), said


def opinion(rng: random.Random) -> Iterator[Example]:
    """A review: verdict as choice, yes/no and stars, and what it says of one aspect."""
    kind, told, said = _reviewed(rng)
    mood, one_feature = told.mood, kind == "feature"
    text = _worn(rng, told.text)
    category = "product" if one_feature else kind
    state: Content = wrap(
        rng,
        text,
        ("review", "text", "comment", "feedback", "opinion"),
        **({"category": category} if rng.random() < 0.5 else {"source": rng.choice(("web", "app", "mail"))}),
    )
    moods = POINTS if one_feature and not told.both else MOODS
    three = (mood == "neutral" or rng.random() < 0.4) and not told.mild
    labels = moods if three else {k: moods[k] for k in ("positive", "negative")}
    if rng.random() < 0.6:
        asks: Sequence[str] = ASKS
        if one_feature:
            asks = FEATURE_ASKS if not told.both and rng.random() < 0.5 else (ASKS[0], ASKS[3])
        yield choice(rng, "made:opinion_verdict", state, asks, labels, mood)
    if mood != "neutral" and (not one_feature or told.both):
        yield noul(rng, "made:opinion_good", state, mood == "positive", YES, NO, rng.choice(CRITERIA))
    elif one_feature and (mood != "neutral" or rng.random() < 0.5):
        yield noul(rng, "made:opinion_point", state, mood == "positive", POINT, () if mood == "neutral" else NO_POINT)
    if mood != "neutral" and (told.both or not one_feature) and rng.random() < 0.2:
        yield choice(rng, "made:opinion_recommend", state, RECOMMEND_ASKS, RECOMMENDS, "yes" if mood == "positive" else "no")
    roll = rng.random()
    if roll < 0.35 and not one_feature and not (told.both and not said):
        level = 2
        if mood != "neutral":  # a flaw that is named costs a star
            bare = not any((v != (mood == "positive")) for v in said.values()) and not FLAWED.search(told.text)
            level = (4 if bare else 3) if mood == "positive" else (0 if bare else 1)
        yield score(rng, "made:opinion_stars", state, level, STAR_ASKS, STARS)
    elif roll < 0.5 and not told.mild:
        scales = NO_VIEW_THREE if one_feature else THREE
        yield score(
            rng,
            "made:opinion_level",
            state,
            {"negative": 0, "neutral": 1, "positive": 2}[mood],
            LEVEL_ASKS if one_feature else STAR_ASKS[2:4],
            scales,
        )
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


TRAVEL = ("SkyNorth", "AeroLine", "Bluewing", "Continair", "Pacifly", "TransNord", "Railgo", "Sunair", "Coastrail")


def message_text(rng: random.Random) -> Told:
    """A short public message to a company, most often one that travels."""
    mood = rng.choice(("positive", "negative", "neutral"))
    handle = "@" + rng.choice(SHOPS if rng.random() < 0.3 else TRAVEL) + rng.choice(("", "", "Help", "Air", "Care"))
    texts: Sequence[str] = TO_COMPANY[mood]
    parts = rng.sample(texts, 1 if rng.random() < 0.75 else 2)
    if mood != "neutral" and rng.random() < 0.2:
        parts.insert(rng.randint(0, 1), rng.choice(TO_COMPANY["neutral"][4:6]))
    text = " ".join(
        _fill(rng, p.replace("{a}", handle if i == 0 else "" if p.startswith("{a} ") else "them"), "it").strip()
        for i, p in enumerate(parts)
    )
    roll = rng.random()
    return Told(
        text.lower()
        if roll < 0.15
        else text.replace(handle, "").strip() + " " + handle
        if roll < 0.25 and text.startswith(handle)
        else text
        + " "
        + rng.choice(("#travel", "#fail" if mood == "negative" else "#monday", "#service", "😊" if mood == "positive" else "✈️"))
        if roll < 0.35
        else text,
        mood,
    )


def message(rng: random.Random) -> Iterator[Example]:
    """A public message to a company: praise, a complaint or neither."""
    told = message_text(rng) if rng.random() < 0.35 else mention(rng)
    text, mood = told.text, told.mood
    state = wrap(rng, text, ("tweet", "post", "message", "text", "mention"))
    if rng.random() < 0.7:
        yield choice(rng, "made:mention_mood", state, MESSAGE_ASKS, MESSAGE_MOODS, mood)
    roll = rng.random()
    if told.both:  # thanks and trouble in one: only the sum of it is asked for
        yield noul(rng, "made:mention_sum", state, mood == "negative", UNHAPPY, PLEASED[1:2])
    elif roll < 0.45:
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
            (
                ("negative", "neutral", "positive"),
                ("let down", "no feeling shown", "content"),
                ("complaint", "no judgement", "praise"),
            ),
        )
