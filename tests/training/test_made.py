"""Made mails, tones and posts: their labels agree, they vary, and no mark on the surface gives the answer away."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

import pytest

from oneread.canvas.text import render
from oneread.questions import Choice, Noul, Request, option_count, validate
from training.corpus import Example
from training.made import forums, generate, ham_texts, mail, opinions, posts, reviews, spam_texts, stories, tone
from training.made.feature_texts import PRODUCTS
from training.made.spin import spin

SOURCES = (mail.message, posts.post, tone.tone, tone.hurry, stories.story)
NEWER = (reviews.opinion, reviews.message, forums.sentence)


TABLES = {
    "made:message_ham": mail.BINARY,
    "made:speech_kind": posts.KINDS,
    "made:tone": tone.TONES,
    "made:story_emotion": stories.NAMES,
}


def _draw(source: Callable[[random.Random], Iterator[Example]], n: int, seed: int = 1) -> list[list[Example]]:
    rng = random.Random(seed)
    return [list(source(rng)) for _ in range(n)]


def _is_spam(examples: list[Example]) -> bool:
    """By the choice among spam and ham, whose option names say which is which."""
    (e,) = (e for e in examples if e.task == "made:message_ham")
    assert isinstance(e.question, Choice)
    return list(e.question.options)[e.answer] in {name for name, _ in mail.BINARY["spam"]}


@pytest.mark.parametrize("source", SOURCES + NEWER)
def test_cases_are_valid_and_repeat_with_their_seed(source: Callable[[random.Random], Iterator[Example]]) -> None:
    drawn = _draw(source, 400)
    assert drawn == _draw(source, 400)
    assert drawn != _draw(source, 400, seed=2)
    for e in (e for examples in drawn for e in examples):
        validate(Request(e.state, {"q": e.question}))
        assert 0 <= e.answer < option_count(e.question)
        assert not set("{}") & set(render(e.state) if isinstance(e.state, str) else "".join(map(str, _leaves(e.state))))
    assert sum(not examples for examples in drawn) < 40


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        for v in value.values():
            yield from _leaves(v)
    else:
        yield value


HAM = (ham_texts.PERSONAL, ham_texts.BUSINESS, ham_texts.NOTICE, ham_texts.NEWSLETTER)
MARKS = {
    "link": r"http|www|\w/\w",
    "money": r"[$€£]|USD|EUR|dollars",
    "loud": "!",
    "capitals": r"\b[A-Z]{5,}\b",
    "free": r"(?i)\bfree\b",
    "prize": r"(?i)\b(win|won|offer|prize|save)\b",
    "unsubscribe": "(?i)unsubscribe",
    "reply": r"(?i)\bre:",
    "long": r"(\S+\s+){90}",
}


@pytest.mark.parametrize("kinds", [spam_texts.ADVERTS, spam_texts.FRAUDS, *HAM])
def test_every_kind_of_mail_has_subjects_openers_points_and_closers(kinds: dict[str, str]) -> None:
    rng = random.Random(0)
    for name, text in kinds.items():
        parts = text.split("\n")
        assert len(parts) == 4, name
        for part in parts:
            for alternative in part.split(" // "):
                assert alternative.strip(), name
                for _ in range(5):
                    assert not set("{}|") & set(spin(rng, alternative)), (name, alternative)


def test_mails_vary_in_text_and_length() -> None:
    states = [render(examples[0].state) for examples in _draw(mail.message, 5000)]
    assert len(set(states)) / len(states) > 0.97
    words = sorted(len(s.split()) for s in states)
    assert words[len(words) // 20] < 20
    assert words[-len(words) // 20] > 100


def test_no_mark_on_the_surface_tells_spam_from_ham() -> None:
    seen: dict[str, Counter[bool]] = defaultdict(Counter)
    for examples in _draw(mail.message, 4000):
        if any(e.task == "made:message_ham" for e in examples):
            text = render(examples[0].state)
            for name, mark in MARKS.items():
                seen[f"{name} {bool(re.search(mark, text))}"][_is_spam(examples)] += 1
    for name, count in seen.items():
        assert count.total() < 60 or 0.2 < count[True] / count.total() < 0.8, (name, count)


def test_a_state_never_has_two_labels() -> None:
    for source, task in zip((mail.message, posts.post, tone.tone, stories.story), TABLES, strict=True):
        golds: dict[str, set[str]] = defaultdict(set)
        for e in (e for examples in _draw(source, 4000) for e in examples if e.task == task):
            golds[render(e.state)].add(_meaning(e))
        assert all(len(g) == 1 for g in golds.values()), [s for s, g in golds.items() if len(g) > 1][:3]


def _meaning(e: Example) -> str:
    """The key of the label whose names hold the right option."""
    assert isinstance(e.question, Choice)
    name = list(e.question.options)[e.answer]
    (key,) = (k for k, names in TABLES[e.task].items() if name == k or name in {n for n, _ in names})
    return key


def test_questions_about_one_state_agree() -> None:
    """Plain nouls (no opposite wording, no criteria) say the same as the choice beside them."""
    checks = {
        "made:message_spam": (mail.SPAM_ASKS, mail.HAM_ASKS, "made:message_ham", {"spam"}),
        "made:speech_hate": (posts.HATE_ASKS, posts.NO_HATE, "made:speech_kind", {"group_attack"}),
        "made:speech_bad": (posts.BAD_ASKS, posts.GOOD_ASKS, "made:speech_kind", {"group_attack", "incivility"}),
        "made:tone_calm": (tone.CALM, tone.UPSET, "made:tone", {"calm"}),
        "made:tone_urgent": (tone.URGENT, tone.RELAXED, "made:tone", {"worried"}),
        "made:tone_happy": (tone.HAPPY, tone.UNHAPPY, "made:tone", {"happy"}),
    }
    agreed: Counter[str] = Counter()
    for source in SOURCES:
        for examples in _draw(source, 1500):
            golds = {e.task: _meaning(e) for e in examples if e.task in {c[2] for c in checks.values()}}
            for e in examples:
                if e.task in checks and isinstance(e.question, Noul) and e.question.yes is None and e.question.instructions:
                    yes, no, other, truths = checks[e.task]
                    if other in golds and (e.task, golds[other]) != ("made:tone_calm", "happy"):
                        positive = e.question.instructions in yes
                        assert positive or e.question.instructions in no
                        assert (e.answer == 0) == ((golds[other] in truths) == positive), e
                        agreed[e.task] += 1
    assert set(agreed) == set(checks)
    assert min(agreed.values()) > 50


def test_what_is_praised_or_told_stands_in_texts_of_either_verdict() -> None:
    rng = random.Random(4)
    clauses = [c for _, rows in PRODUCTS.values() for _, *sides in rows for side in sides for c in side.split(" // ")]
    plain = [c for c in clauses if not set("{}") & set(c)]
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for _ in range(12000):
        told = opinions.feature(rng)
        seen.update({c: seen[c] + Counter([told.mood]) for c in plain if c in told.text.lower()})
    often = [c for c in seen.values() if c.total() > 30]
    assert len(often) > 30
    assert all(min(c["positive"], c["negative"]) > 0.08 * c.total() for c in often)
    plots: dict[bool, Counter[str]] = defaultdict(Counter)
    for _ in range(2000):
        _, told = opinions.narration(rng)
        if (grim := "funeral" in told.text) != ("wedding" in told.text):
            plots[grim][told.mood] += 1
    assert all(0.4 < c["positive"] / c.total() < 0.6 for c in plots.values())


@pytest.mark.parametrize("mark", ["thank", "love", "great", "!", "#"])
def test_no_kind_word_in_a_post_tells_praise_from_complaint(mark: str) -> None:
    rng = random.Random(5)
    told = [opinions.mention(rng) for _ in range(6000)]
    count = Counter(t.mood for t in told if mark in t.text.lower())
    assert min(count["positive"], count["negative"]) > 0.15 * (count["positive"] + count["negative"]), count
    assert len({t.text for t in told}) > 0.9 * len(told)


def test_spam_tone_toxicity_reviews_and_relevance_are_most_of_all_made_cases() -> None:
    tasks = Counter(e.task.split(":")[1].split("_")[0] for e in generate(6000, 3))
    named = ("message", "mail", "tone", "hurry", "story", "speech", "post", "forum", "opinion", "mention", "fact")
    assert 0.55 < sum(tasks[k] for k in named) / tasks.total() < 0.75
    assert all(tasks[k] > 0.05 * tasks.total() for k in ("fact", "opinion", "mention", "forum", "rule"))
