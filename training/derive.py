# ruff: noqa: E501  (a table of texts, one a line)
"""Relevance cases derived from training records: a question, and a sentence that answers it or one that does not.

`derive` also gives the cases of `derive_toxicity`, which has tables of its own.

Nothing is derived from tasks that are held out (`derive` gets only what is trained on). Task names are ``derived:SOURCE``.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from oneread.canvas.text import render
from oneread.questions import Choice, Content, Noul, Score

from .augment import MEANINGLESS
from .corpus import Example
from .derive_toxicity import toxicity
from .made.relevance import cases, judged, topical

# relation of fewrel_relation -> questions for the object, given the subject; and words without which no sentence states it
RELATIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "child": (("Who was a child of {s}?", "Who is the son or daughter of {s}?", "Name one of {s}'s children.", "Which child did {s} have?"), r"son|daughter|child|father|mother|parent|born to|heir"),
    "mother": (("Who was the mother of {s}?", "Who is {s}'s mother?", "Which woman gave birth to {s}?", "What was the name of {s}'s mother?"), r"son|daughter|child|mother|parent|born to|mum|mom"),
    "spouse": (("Who was {s} married to?", "Who is the husband or wife of {s}?", "Whom did {s} marry?", "Who was {s}'s spouse?"), r"wife|wives|husband|marri|spouse|consort|widow|queen|wed|couple|engag|son|daughter|parent"),
    "military_rank": (("What rank did {s} hold?", "Which military rank did {s} reach?", "What was {s}'s rank in the forces?"), r"general|colonel|captain|major|lieutenant|admiral|sergeant|corporal|marshal|command|brigad|officer|private|cadet|rank|ensign|commodore"),
    "voice_type": (("What kind of voice does {s} have?", "In which vocal range does {s} sing?", "What is {s}'s voice type?"), r"soprano|tenor|bariton|bass|contralto|mezzo|alto|voice|sing|countertenor"),
    "position_played_on_team_speciality": (("What position does {s} play?", "Which role does {s} have on the pitch?", "Where on the field did {s} play?"), r"keeper|defen|midfield|forward|striker|back|wing|guard|cent|pitcher|tackle|receiver|lineman|linebacker|catcher|infield|outfield|position|hooker|prop|lock|shortstop|baseman|kicker|punter|safety|end|weight|fielder|setter|libero|bowler|batsman"),
    "competition_class": (("In which weight class did {s} fight?", "What division did {s} compete in?", "At what weight did {s} box?"), r"weight|class|division"),
    "member_of": (("Which group or organisation does {s} belong to?", "What is {s} a member of?", "Of which band, party or body is {s} a member?"), ""),
    "sport": (("Which sport does {s} belong to?", "What sport is {s} about?", "Which game is played by or at {s}?"), r"ball|hockey|rugby|cricket|tennis|sport|soccer|box|racing|golf|athlet|game|player|league|team"),
    "constellation": (("In which constellation is {s}?", "In what part of the sky does {s} lie?", "Which constellation contains {s}?"), r"constell|star|galax"),
    "crosses": (("What does {s} cross?", "Which river or road does {s} span?", "Over what does {s} lead?"), r"cross|over|span|river|creek|bridge|under|strait|bay"),
    "located_in_or_next_to_body_of_water": (("On which body of water does {s} lie?", "Which sea, lake or river is next to {s}?", "What water borders {s}?"), r"river|sea|lake|coast|ocean|bay|shore|gulf|strait|water|sound|creek|fjord"),
    "part_of": (("What is {s} part of?", "To which larger whole does {s} belong?", "What does {s} form a part of?"), ""),
    "main_subject": (("What is {s} about?", "What topic does {s} deal with?", "Which subject is treated in {s}?"), ""),
    "original_language_of_film_or_tv_show": (("In which language was {s} made?", "What language is spoken in {s}?", "What is the original language of {s}?"), r"language|[A-Z][a-z]+(an|ish|ese|il|di|gu|ali|am|du|da|thi)\b"),
    "follows": (("What came before {s}?", "What preceded {s}?", "After what did {s} follow?"), ""),
}  # fmt: skip
WORKS = ("main_subject", "original_language_of_film_or_tv_show")
PERSON = ("child", "mother", "spouse", "military_rank", "voice_type", "position_played_on_team_speciality", "competition_class")

# questions, relations of their heads, what a sentence that begins with the subject needs to answer it, what none that does not answer may hold
FACTS: tuple[tuple[tuple[str, ...], tuple[str, ...], str, str], ...] = (
    (("When was {s} born?", "What is the date of birth of {s}?", "In which year was {s} born?"), PERSON, r"^.{0,60}\( ?(born )?[^()]{0,30}\d{4}", r"\bborn\b|\d{4}"),
    (("Who directed {s}?", "Who was the director of {s}?"), WORKS, r"directed by [A-Z]", r"direct|by\b"),
    (("In what year did {s} come out?", "When was {s} released?", "What is the year of {s}?"), WORKS, r"^.{0,60}(is|was) an? \d{4}\b|released (in|on) [^.]{0,20}\d{4}", r"\d{4}"),
    (("What nationality is {s}?", "Which country does {s} come from?"), PERSON, r"^.{0,90}\b(is|was) an? (former |retired |professional )?(American|British|English|French|German|Italian|Canadian|Swedish|Spanish|Russian|Australian|Dutch|Polish|Irish|Scottish|Brazilian|Japanese|Norwegian|Danish|Mexican|Argentine|Hungarian)\b", r"[A-Z][a-z]+(an|ish|ese|ch|ine|sh)\b|\b(in|of|from|at) [A-Z]|U\.|US"),
    (("Where was {s} born?", "What is the birthplace of {s}?"), PERSON, r"^.{0,80}born [^.]{0,30}\bin [A-Z]", r"\bborn\b|\bin [A-Z]|\bnative"),
    (("What is {s} known for?", "Who is or was {s}?", "What did {s} do for a living?"), PERSON, r"^.{0,110}\b(is|was) an? [^.]{0,50}(player|singer|actor|actress|politician|writer|officer|musician|boxer|footballer|poet|composer|soprano|tenor|goalkeeper|midfielder|defender)", r"\b(is|was|were|as|former|the)\b [^.]{0,40}(player|singer|actor|actress|politician|writer|officer|musician|boxer|footballer|poet|composer|soprano|tenor|goalkeeper|midfielder|defender)|\b(is|was) an? |^[A-Z][^,]{0,40}, (an?|the) "),
)  # fmt: skip
FIELD = re.compile(
    r"^(question|query|problem|task|abstract|passage|document|text|context|conclusion|response|answer|event|subject|object|sentence|proposed answer|candidate) ?: ",
    re.I,
)


def fields(state: Content) -> dict[str, str]:
    """The named parts of a state, also when they stand in a text as ``Name: value``."""
    if isinstance(state, Mapping):
        return {k.lower(): v for k, v in state.items() if isinstance(v, str)}
    out: dict[str, str] = {}
    name = ""
    for line in render(state).split("\n"):
        if m := FIELD.match(line):
            name = m[1].lower().replace(" ", "_")
            out[name] = line[m.end() :]
        elif name and line.strip():
            out[name] += "\n" + line
    return out


def first(parts: Mapping[str, str], *names: str) -> str:
    return next((parts[n] for n in names if n in parts), "")


def relation(e: Example) -> str:
    """The relation that a record of fewrel_relation states, in the spelling of `RELATIONS`; empty when it does not say."""
    if isinstance(e.question, Choice):
        name = list(e.question.options)[e.answer]
        described = e.question.options[name]
        name = str(described or "").split(":")[0] if MEANINGLESS.match(name) else name
    elif (
        isinstance(e.question, Noul)
        and e.answer == 0
        and (m := re.search('"(.+)"', text := render(e.question.instructions)))
        and "other than" not in text
    ):
        name = m[1]
    else:
        return ""
    name = re.sub(r"\W+", "_", name.lower()).strip("_")
    return name if name in RELATIONS else ""


def tidy(text: str) -> str:
    """Without the spaces that tokenising left before and after marks."""
    text = re.sub(r" ([,.;:!?%)\]'])", r"\1", text.replace("\n", " "))
    text = re.sub(r"([(\[$]) ", r"\1", text).replace(" - ", "-").replace(" – ", "–")
    return re.sub(r"\s+", " ", text).strip()


def from_relations(rng: random.Random, records: Sequence[Example], wanted: int) -> Iterator[Example]:
    """Who or what a head entity is related to, against sentences on the same head, and on the same relation."""
    task = "derived:fact_sentence"
    known: list[tuple[str, str, str, str]] = []
    for e in records:
        parts, r = fields(e.state), relation(e)
        if r and all(k in parts for k in ("text", "subject", "object")) and re.search("[A-Za-z]{3}", parts["subject"]):
            known.append((r, tidy(parts["subject"]), tidy(parts["object"]), tidy(parts["text"])))
    known = list(dict.fromkeys(known))
    of: dict[str, list[tuple[str, str, str, str]]] = defaultdict(list)
    holds: dict[str, set[str]] = defaultdict(set)
    for k in known:
        of[k[0]].append(k)
        for word in set(re.findall(r"[A-Z]\w+", k[3])):
            holds[word].add(k[3])
    lists: list[list[Example]] = []
    for r, s, o, text in known:
        question = rng.choice(RELATIONS[r][0]).format(s=s)
        words = re.findall(r"[A-Z]\w+", s)
        with_head = set.intersection(*(holds[w] for w in words)) if words else set()
        lacking = re.compile(RELATIONS[r][1] or "$^", re.I)
        near = [t for t in with_head if s in t and o not in t and not lacking.search(t)]
        far = [x[3] for x in rng.sample(of[r], min(6, len(of[r]))) if x[1] != s and s not in x[3]]
        lists.append(list(cases(rng, task, question, text, near, far)))
    by: dict[str, list[str]] = defaultdict(list)
    for r, s, _, text in known:  # the same sentence answers one question and not another
        if r in PERSON:
            for other in ("child", "mother", "spouse", *(("military_rank",) if r in ("child", "mother", "spouse") else ())):
                if other != r and not re.search(RELATIONS[other][1], text, re.I):
                    by[other].append(text + "\0" + s)
    for r, pairs in by.items():
        positives = list(of[r])
        for i, pair in enumerate(rng.sample(pairs, min(len(pairs), 2 * len(positives)))):
            text, s = pair.split("\0")
            _, head, _, right = positives[i % len(positives)]
            lists.append(
                [
                    judged(rng, task, rng.choice(RELATIONS[r][0]).format(s=s), text, 1),
                    judged(rng, task, rng.choice(RELATIONS[r][0]).format(s=head), right, 2),
                ]
            )
    for asks, heads, has, never in FACTS:
        yes = [(s, t) for r, s, _, t in known if r in heads and t.startswith(s) and re.search(has, t)]
        no = [(s, t) for r, s, _, t in known if r in heads and s in t and not re.search(never, t.replace(s, ""))]
        n = min(len(yes), len(no), 1200)
        for (s, t), (s2, t2) in zip(rng.sample(yes, n), rng.sample(no, n), strict=True):
            lists.append(
                [judged(rng, task, rng.choice(asks).format(s=s), t, 2), judged(rng, task, rng.choice(asks).format(s=s2), t2, 1)]
            )
    rng.shuffle(lists)
    out = [e for group in lists for e in group]
    yield from out[:wanted]


STOP = frozenset(
    [
        "the",
        "and",
        "for",
        "that",
        "with",
        "this",
        "from",
        "was",
        "were",
        "are",
        "has",
        "have",
        "had",
        "its",
        "his",
        "her",
        "their",
        "what",
        "which",
        "who",
        "when",
        "how",
        "does",
        "did",
        "can",
        "not",
        "you",
        "would",
        "could",
        "into",
        "than",
        "then",
    ]
)


def words_of(text: str) -> frozenset[str]:
    return frozenset(w for w in re.findall(r"[a-z]{3,}", text.lower()) if w not in STOP)


def paired(rng: random.Random, task: str, pairs: Sequence[tuple[str, str]], wanted: int, tries: int = 40) -> Iterator[Example]:
    """A question with its own passage, against the passages of other questions that share most of its words."""
    bags = [words_of(p) for _, p in pairs]
    made = 0
    for i in rng.sample(range(len(pairs)), len(pairs)):
        q, p = pairs[i]
        others = [j for j in rng.sample(range(len(pairs)), min(tries, len(pairs))) if pairs[j][0] != q and pairs[j][1] != p]
        mine = words_of(q)
        others = [j for _, _, j in sorted((-len(mine & bags[j]), at, j) for at, j in enumerate(others))]
        yield topical(rng, task, q, p, True)
        if others:
            yield topical(rng, task, q, pairs[rng.choice(others[:3])][1], False)
        made += 2
        if made >= wanted:
            return


def sentences(text: str) -> list[str]:
    return [s.strip() for s in re.split(r"(?<=[a-z)\]][.!?]) +(?=[A-Z])", text.replace("\n", " ")) if len(s.split()) > 4]


def from_papers(rng: random.Random, papers: Sequence[Example], concluded: Sequence[Example]) -> Iterator[Example]:
    """A research question: the conclusion answers it, the opening sentences of its abstract do not, nor do other conclusions."""
    task = "derived:conclusion"
    opening = {
        f["question"]: sentences(f["abstract"])[:2] for e in papers if "question" in (f := fields(e.state)) and "abstract" in f
    }
    ends = {f["question"]: f["conclusion"] for e in concluded if "question" in (f := fields(e.state)) and "conclusion" in f}
    for q, end in ends.items():
        near = opening.get(q, [])
        far = rng.sample(sorted(ends.values()), 2)
        for _ in range(3):
            yield from cases(rng, task, q, end, near if rng.random() < 0.6 else [], far)


def from_facts(rng: random.Random, records: Sequence[Example]) -> Iterator[Example]:
    """A question that takes several steps: its own facts help, facts of other questions do not."""
    pairs = []
    for e in records:
        if isinstance(e.state, Mapping) and isinstance(e.state.get("facts"), list):
            pairs += [(str(e.state["question"]), str(f)) for f in e.state["facts"]]  # type: ignore[union-attr]
        elif (
            isinstance(e.state, str)
            and FIELD.match(e.state) is None
            and len(e.state.split()) > 12
            and render(e.question.instructions).endswith("?")
        ):
            pairs.append((render(e.question.instructions), e.state.strip()))
    pairs = [
        (q, f)
        for q, f in pairs
        if len(words_of(q) & words_of(f)) > 0 and not q.lower().startswith(("using", "is the correct", "given"))
    ]
    yield from paired(rng, "derived:helpful_fact", pairs, 6000)


def from_answers(rng: random.Random, records: Sequence[Example]) -> Iterator[Example]:
    """Questions with judged passages: each pair in four other wordings, and which of a question's passages answers it.

    The wordings of the records themselves are not used, as a task that is held out has the same.
    """
    task = "derived:answer_passage"
    judged_as: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for e in records:
        parts = fields(e.state)
        q, p = first(parts, "question", "query"), first(parts, "passage", "context", "text", "document", "answer", "sentence")
        if not (q and p) or isinstance(e.question, Score):
            continue
        if isinstance(e.question, Choice):
            name, text = list(e.question.options.items())[e.answer]
            relevant = not re.search("not|irrelevant|drop", f"{name} {text if MEANINGLESS.match(name) else ''}", re.I)
        else:
            relevant = (e.answer == 0) != bool(re.search("useless|dropped", render(e.question.instructions)))
        judged_as[q][0 if relevant else 1].append(p)
    for q, (right, wrong) in judged_as.items():
        for p, grade in [(p, 2) for p in right] + [(p, 1) for p in wrong if p not in right]:
            for _ in range(4):
                yield judged(rng, task, q, p, grade)
        for p in right:
            yield from cases(rng, task, q, p, [w for w in wrong if w not in right], [])


def derive(corpus: Mapping[str, Sequence[Example]], seed: int, share: float = 1.0) -> Iterator[Example]:
    """Cases from the records of `corpus`, task name -> examples; tasks that are not in it give none.

    Args:
        share: how many of the usual number (about 80,000) of cases.
    """
    rng = random.Random(f"{seed} derive")

    def of(task: str) -> Sequence[Example]:
        return corpus.get(task, ())

    def pairs(task: str, q: Sequence[str], p: Sequence[str]) -> list[tuple[str, str]]:
        both = ((first(f, *q), first(f, *p)) for f in (fields(e.state) for e in of(task)))
        return list(dict.fromkeys((a, b) for a, b in both if a and b))

    sources: tuple[Callable[[], Iterator[Example]], ...] = (
        lambda: from_relations(rng, of("fewrel_relation"), int(26000 * share)),
        lambda: from_papers(rng, of("pubmedqa"), of("pubmedqa_conclusion")) if of("pubmedqa_conclusion") else iter(()),
        lambda: from_facts(rng, of("strategyqa")),
        lambda: from_answers(rng, of("trecqa_answer_relevance")),
        lambda: paired(rng, "derived:response", pairs("halueval_response", ("query",), ("response",)), int(3000 * share)),
        lambda: paired(
            rng, "derived:context", pairs("mctaco_temporal", ("question",), ("text", "context", "event")), int(4000 * share)
        ),
        lambda: toxicity(rng, corpus, share),
    )
    for source in sources:
        yield from source()
