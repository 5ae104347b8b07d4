"""Derived and made relevance cases say what passages hold; policies count; reviews agree; records that overlap are left out."""

from __future__ import annotations

import gzip
import itertools
import json
import random
import re
from collections import Counter
from pathlib import Path

from oneread.canvas.text import render
from oneread.questions import Choice, Noul, Request, Score, option_count, validate
from training import toxicity_asks as asks
from training.corpus import Example, parse
from training.derive import derive
from training.derive_toxicity import SOURCES, abusive, affirmed, sorted_posts, toxicity
from training.made import facts, forums, relevance, reviews, rules
from training.made.spin import spin
from training.prepare import without_overlap
from training.splits import DEV, UNSEEN

BRIDGES = [
    (f"{a} Bridge", f"{b} River") for a, b in itertools.product(("Long", "Old", "Iron", "North"), ("Red", "Blue", "Lost", "Wide"))
]


def _relations() -> list[Example]:
    """One sentence for each bridge that says what it crosses, and one on its age."""
    out = []
    for i, (bridge, river) in enumerate(BRIDGES):
        name = f"{i} {bridge}".replace("0", "Zero")
        state = {"text": f"The {name} leads over the {river}.", "subject": name, "object": river}
        record = {
            "task": "fewrel_relation",
            "type": "choice",
            "instructions": "Relation?",
            "criteria": {"crosses": None, "mother": None},
        }
        out.append(parse({**record, "state": state, "answer": "crosses"}))
    return out


def test_a_derived_passage_is_relevant_only_when_it_names_what_is_asked() -> None:
    examples = list(derive({"fewrel_relation": _relations()}, 1))
    assert len(examples) >= 2 * len(BRIDGES) - 4
    plain = [e for e in examples if isinstance(e.question, Noul) and e.question.yes is None]
    wordings = {
        w.format(q=q, p=p) for w in relevance.YES for q in ("question", "query", "request") for p in relevance.PASSAGE_KEYS
    }
    seen: Counter[bool] = Counter()
    for e in plain:
        text = render(e.state)
        heads = [n for n in (f"{i} {b}".replace("0", "Zero") for i, (b, _) in enumerate(BRIDGES)) if n in text]
        answered = len(set(heads)) == 1  # question and passage are about the same bridge
        yes = render(e.question.instructions) in wordings
        assert (e.answer == 0) == (answered == yes), (e, heads)
        seen[answered] += 1
    assert seen[True] > 3
    assert seen[False] > 3


def test_judged_passages_keep_their_judgement_in_other_words() -> None:
    good, bad = "Rain fell in Oslo on Monday.", "Oslo is in the north."
    asked = {
        "Is the passage useless for the question?": (None, True, False),
        "Does the passage answer the question?": (None, False, True),
        "Keep or drop?": ({"keep": None, "drop": None}, "drop", "keep"),
        "Which?": ({"A": "irrelevant", "B": "relevant"}, "A", "B"),
    }
    for ask, (criteria, of_bad, of_good) in asked.items():
        kind = "choice" if criteria else "noul"
        record = {"task": "t", "type": kind, "instructions": ask, "criteria": criteria}
        records = [
            parse({**record, "state": {"question": "When did it rain in Oslo?", "passage": p}, "answer": a})
            for p, a in ((good, of_good), (bad, of_bad))
        ]
        examples = list(derive({"trecqa_answer_relevance": records}, 2))
        assert len(examples) >= 8
        scores = [e for e in examples if isinstance(e.question, Score)]
        assert all(e.answer == (2 if good in render(e.state) else 1) for e in scores)
        assert not any(render(e.question.instructions) == ask for e in examples)
        plain = [e for e in examples if isinstance(e.question, Noul) and e.question.yes is None]
        wordings = {
            w.format(q=q, p=p) for w in relevance.YES for q in ("question", "query", "request") for p in relevance.PASSAGE_KEYS
        }
        assert all((e.answer == 0) == ((good in render(e.state)) == (e.question.instructions in wordings)) for e in plain)


def _posts() -> dict[str, list[Example]]:
    """Posts of the three sources: hate, foul ones with and without a group, harmless ones; each number is one post."""
    said = {
        "offensive_tweets": (
            ("Is this offensive?", True, "@user you are such an idiot {n}"),
            ("Is this offensive?", True, "You idiot {n}, why did you marry one of those Germans?"),
            ("Is this post acceptable, i.e. not offensive?", True, "Lovely morning, {n} ducks on the lake"),
            ("Is this post acceptable, i.e. not offensive?", False, "This shitty phone froze {n} times"),
        ),
        "hate_tweets": (
            ("Is this hateful?", True, "Send them back, all {n} immigrants are filth"),
            ("Is this hateful?", False, "{n} immigrants opened a bakery"),
        ),
        "hatecheck": (
            ("Is this hateful?", True, "I despise every one of {n} Muslims."),
            ("Is this message free of hateful content?", True, 'He said this was "typical fag behaviour", {n} of us left.'),
        ),
    }
    record = {"type": "noul", "criteria": None}
    return {
        task: [
            parse({**record, "task": task, "instructions": ask, "answer": answer, "state": {"post": text.format(n=n)}})
            for ask, answer, text in rows
            for n in range(30)
        ]
        for task, rows in said.items()
    }


def test_posts_are_sorted_by_label_and_words() -> None:
    kinds = sorted_posts(random.Random(1), _posts())
    begins = {kind: sorted({re.sub(r"\d+", "", text)[:12] for text in texts}) for kind, texts in kinds.items()}
    assert begins == {
        "hate": ["I despise ev", "Send them ba"],
        "insult": ["@user you ar"],
        "bad": ["You idiot , "],  # foul, and a group is named: rude or hateful
        "crude": ["This shitty "],
        "fine": [" immigrants ", "He said this", "Lovely morni"],
    }
    named = Choice({"A": "not_ok: Contains offensive language", "B": "ok: No offensive language"}, "Label?")
    assert [affirmed(Example("offensive_tweets", named, "x", i)) for i in (0, 1)] == [True, False]


def test_toxicity_cases_are_balanced_and_true() -> None:
    examples = list(toxicity(random.Random(2), _posts(), 0.05))
    answers: dict[str, Counter[int]] = {}
    for e in examples:
        validate(Request(e.state, {"q": e.question}))
        answers.setdefault(f"{e.task} {type(e.question).__name__}", Counter())[e.answer] += 1
        text = render(e.state).lower()
        hateful = "despise" in text or "send them" in text
        if e.task == "derived:speech_level":
            assert e.answer == (2 if hateful else 1 if "idiot" in text or "shitty" in text else 0)
        if e.task in ("derived:speech_aim", "derived:speech_clause") and hateful:
            assert "idiot" not in text  # nobody else is attacked beside the group
        if e.task == "derived:speech_level_of_four":
            assert (e.answer == 3) == hateful
        assert "germans" not in text or e.task.startswith("derived:speech_bad")  # not sure to be rude only
    assert len(examples) > 1500
    for task, seen in answers.items():
        if not task.endswith("Choice"):
            assert max(seen.values()) < 1.5 * min(seen.values()), (task, seen)


def test_a_statement_is_upheld_only_when_it_is_true_of_the_post() -> None:
    seen: Counter[bool] = Counter()
    for e in toxicity(random.Random(4), _posts(), 0.1):
        if e.task == "derived:speech_agree":
            asked, text = render(e.question.instructions), render(e.state).lower()
            kind = asks.GROUP if "despise" in text or "send them" in text else asks.COARSE
            kind = asks.PLAIN if not re.search("despise|send them|idiot|shitty", text) else kind
            assert isinstance(e.question, Choice)
            upheld = list(e.question.options)[e.answer] in {yes for yes, _ in asks.AGREE_LABELS}
            assert upheld == any(claim in asked for claim in kind), e
            seen[upheld] += 1
    assert min(seen[True], seen[False]) > 30


def test_foul_posts_are_called_insults_only_when_somebody_is_called_names() -> None:
    assert {abusive(t) for t in ("You are such a pathetic liar.", "@user He’s a dumb ass idiot", "shut the fuck up")} == {
        "insult"
    }
    unsure = (
        "Happy birthday you crazy bitch",
        "I'm such an idiot",
        "You have a dick? Damn",
        "When you are a stupid whore and own it",
        "The show about that bitch is shit",
        "He said you are an idiot",
        "fuck Russ 110%",
    )
    assert {abusive(t) for t in unsure} == {"rude"}
    assert {abusive(t) for t in ("Oh shit, the milk boiled over.", "That was fucking fast")} == {"crude"}


def test_toxicity_is_derived_from_no_task_that_is_held_out() -> None:
    assert not set(SOURCES) & {*UNSEEN, *DEV}
    records = [e for examples in _posts().values() for e in examples]
    assert list(toxicity(random.Random(3), dict.fromkeys((*UNSEEN, *DEV), records), 1.0)) == []


def test_nothing_is_derived_from_what_is_not_there() -> None:
    assert list(derive({}, 1)) == []
    assert list(derive({"cola": _relations()}, 1)) == []


def test_relevance_cases_are_valid_and_balanced() -> None:
    rng = random.Random(3)
    examples = [e for _ in range(1500) for e in facts.fact(rng)]
    for e in examples:
        validate(Request(e.state, {"q": e.question}))
        assert 0 <= e.answer < option_count(e.question)
        assert "{" not in (e.state if isinstance(e.state, str) and not e.state.startswith("{") else "")
    yes = [e.answer == 0 for e in examples if isinstance(e.question, Noul)]
    assert 0.4 < sum(yes) / len(yes) < 0.6


def test_the_fact_that_is_asked_for_is_found_by_its_subject_and_attribute_together() -> None:
    """Neither the subject nor the attribute alone decides: both stand in many passages that do not answer."""
    rng = random.Random(1)
    same_subject, same_attribute = 0, 0
    for _ in range(600):
        for e in facts.fact(rng):
            if isinstance(e.question, Score):
                same_subject += e.answer == 1
                same_attribute += e.answer == 0
    assert same_subject > 20
    assert same_attribute > 20


def test_points_are_what_counting_the_record_gives() -> None:
    rng = random.Random(7)
    meaning = {m: f for _, _, facts_ in rules.DOMAINS.values() for f in facts_ for m in f.means.strip("{}").split("|")}
    counted = 0
    for _ in range(800):
        for e in rules.rule(rng):
            state = e.state
            if isinstance(state, dict) and len(state) == 1:
                (state,) = state.values()
            if e.task != "made:rule_points" or not isinstance(state, dict) or len(state) < 2:
                continue
            text = render(e.question.instructions)
            found = re.findall(r"(?:(Add|Subtract|Plus|\+)\s*(\d)|(?:Add one|One) point) (?:if|when) ([^.]+)\.", text)
            if not found:
                continue
            begun = re.search(r"(?:[Ss]tart (?:at|from)|Begin with) (\d)", text)
            total = int(begun[1]) if begun else 0
            for sign, amount, condition in found:
                fact = meaning[condition]
                if state[fact.field] == fact.values[0]:
                    total += (-1 if sign == "Subtract" else 1) * int(amount or 1)
            cap = re.search(r"At most (\d)", text)
            assert e.answer == (min(total, int(cap[1])) if cap else total), (text, state)
            counted += 1
    assert counted > 100


def test_policies_are_valid_and_repeat_with_their_seed() -> None:
    drawn = [[e for _ in range(300) for e in rules.rule(rng)] for rng in (random.Random(1), random.Random(1), random.Random(2))]
    assert drawn[0] == drawn[1] != drawn[2]
    for e in drawn[0]:
        validate(Request(e.state, {"q": e.question}))
        assert 0 <= e.answer < option_count(e.question)


def test_the_first_matching_rule_wins() -> None:
    rng = random.Random(8)
    e = rules.first_match(rng, "ticket", "x", ["a holds", "b holds", "c holds"], [False, True, True])
    assert isinstance(e.question, Choice)
    policy = render(e.question.instructions) + render(e.state)
    action = list(e.question.options)[e.answer]
    assert re.search(rf"b holds[:,]? {action}|{action} if b holds", policy)


def test_questions_about_one_review_agree() -> None:
    rng = random.Random(2)
    agreed = 0
    for source in (reviews.opinion, reviews.message):
        for _ in range(1500):
            moods = set()
            for e in source(rng):
                if isinstance(e.question, Score):
                    top = len(e.question.levels) - 1
                    moods.add("neutral" if 2 * e.answer == top else "positive" if 2 * e.answer > top else "negative")
                elif e.task == "made:opinion_good" and isinstance(e.question, Noul):
                    no = e.question.instructions in reviews.NO
                    moods.add("positive" if (e.answer == 0) != no else "negative")
            assert len(moods) <= 1
            agreed += len(moods)
    assert agreed > 1000


def test_a_forum_sentence_that_names_a_group_is_often_harmless() -> None:
    rng = random.Random(4)
    named: Counter[str] = Counter()
    for kind, texts in forums.TEXTS.items():
        for text in texts:
            spin(rng, text.replace("{g}", "nuns"))  # every slot is known
            named[kind] += "{g}" in text
    assert named["fine"] >= named["hate"] * 0.8


def test_a_record_that_shares_eight_words_with_a_held_out_task_is_left_out(tmp_path: Path) -> None:
    said = "The quick brown fox jumps over the lazy dog in our garden."
    for task, state in ((UNSEEN[0], {"text": said}), (DEV[0], "Nothing that another record would say in eight words, ever.")):
        for part in ("train", "test"):
            (tmp_path / part).mkdir(exist_ok=True)
            with gzip.open(tmp_path / part / f"{task}.jsonl.gz", "wt") as f:
                f.write(json.dumps({"state": state}) + "\n")
    question = Noul("Is it?")
    kept = Example("cola", question, "The quick brown fox jumps over the fence, they say.", 0)
    dropped = [Example("cola", question, f"He wrote: {said.upper()}", 0), Example("cola", question, {"a": [f"x {said[:-1]}"]}, 0)]
    assert without_overlap({"cola": [*dropped, kept]}, tmp_path) == {"cola": [kept]}
