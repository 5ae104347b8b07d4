"""Our wordings are told from those of tasks that are held out; what every task asks is nobody's."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from oneread.questions import Choice, Content, Noul, Question, Score
from training import prepare
from training.cases import CaseFile
from training.corpus import Example
from training.splits import DEV, UNSEEN
from training.wordings import Held, held_wordings

TASK, OTHER = UNSEEN[0], DEV[0]
RECORDS: tuple[dict[str, Any], ...] = (
    {
        "type": "choice",
        "instructions": "Which fruit is it?",
        "criteria": {"ripe_apple": "Sweet fruit from the orchard trees", "pear": None, "plum": None},
        "answer": "pear",
    },
    {
        "type": "choice",
        "instructions": "category",
        "criteria": {"ripe_apple": None, "pear": None, "plum": None},
        "answer": "plum",
    },
    {"type": "noul", "instructions": "Is this a ripe apple?", "criteria": None, "answer": True},
    {
        "type": "noul",
        "instructions": "Would a careful gardener pick that fruit before winter comes?",
        "criteria": None,
        "answer": True,
    },
)
MOODS = {
    "type": "choice",
    "instructions": "What is the sentiment?",
    "criteria": {"positive": None, "negative": None, "neutral": None},
    "answer": "positive",
}


def _write(folder: Path, task: str, records: tuple[dict[str, Any], ...], part: str = "train") -> None:
    (folder / part).mkdir(parents=True, exist_ok=True)
    with gzip.open(folder / part / f"{task}.jsonl.gz", "wt") as f:
        for r in records:
            f.write(json.dumps({"task": task, "group": "g", "state": f"said {r['instructions']}", **r}) + "\n")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two tasks that are held out, each wording in two records, and one wording in a single record."""
    alone = {"type": "noul", "instructions": "Does the tortoise outrun the hare?", "criteria": None, "answer": True}
    _write(tmp_path, TASK, RECORDS)
    _write(tmp_path, TASK, (*RECORDS, alone), "test")
    _write(tmp_path, OTHER, (MOODS, MOODS))
    return tmp_path


@pytest.fixture
def held(data: Path) -> Held:
    return held_wordings(data)


def _asked(held: Held, question: Question) -> set[str]:
    return set(held.collisions(Example("made:x", question, "s", 0)).values())


@pytest.mark.parametrize(
    "text",
    [
        "Would a careful gardener pick that fruit before winter comes?",
        "would_a_careful_gardener PICK that fruit, before winter comes",
        "Before winter comes, would some gardener pick fruit?",  # the same content words but one
        "Say whether a careful gardener pick that fruit or sell the orchard, the barn and every tree",  # a run of five
        "Is this a ripe apple?",
        "ripeApples",
    ],
)
def test_a_question_of_a_held_out_task_collides(held: Held, text: str) -> None:
    assert _asked(held, Noul(text)) == {TASK}


@pytest.mark.parametrize(
    "text",
    [
        "category",
        "Which fruit is it?",  # one content word, and no label
        "What is the sentiment?",
        "Is this an apple?",
        "Would a careless gardener sell vegetables in spring?",
        "Does the tortoise outrun the hare?",  # one record's content
    ],
)
def test_what_everybody_asks_does_not_collide(held: Held, text: str) -> None:
    assert _asked(held, Noul(text)) == set()


def test_label_sets_collide_when_ours_holds_all_of_theirs(held: Held) -> None:
    assert _asked(held, Choice(dict.fromkeys(("Plum", "pear", "RipeApple", "fig")), "Sort it.")) == {TASK}
    assert _asked(held, Choice(dict.fromkeys(("plum", "pear", "fig")), "Sort it.")) == set()
    assert _asked(held, Choice(dict.fromkeys(("positive", "negative", "neutral")), "Sort it.")) == set()
    assert _asked(held, Score(["plum", "pear", "ripe apple"], "Sort it.")) == {TASK}


def test_descriptions_collide_alone_when_long_and_in_pairs_when_short(held: Held) -> None:
    long: dict[str, Content | None] = {"a": "sweet fruit from orchard trees", "b": None}
    assert _asked(held, Choice(long, "Sort it.")) == {TASK}
    assert _asked(held, Noul("Sort it.", "a ripe apple", "some other thing")) == set()


def test_a_template_collides_whatever_stands_in_its_slot(tmp_path: Path) -> None:
    asks = [f"Does the signed contract oblige {who} to pay?" for who in ("Smith", "Jones")]
    _write(tmp_path, TASK, tuple({"type": "noul", "instructions": a, "criteria": None, "answer": True} for a in asks))
    held = held_wordings(tmp_path)
    assert _asked(held, Noul("Does the signed contract oblige Miller to deliver?")) == {TASK}
    assert _asked(held, Noul("Does the contract say that Smith delivers by May?")) == set()


def test_cases_in_the_words_of_a_held_out_task_are_not_trained_on(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    colliding = Example("made:fruit", Noul("Is this a ripe apple?"), "red and round", 0)
    fine = Example("made:fruit", Noul("Could one bake a pie of it?"), "red and round", 0)
    monkeypatch.setattr(prepare, "generate", lambda n, seed: iter([colliding, fine]))
    monkeypatch.setattr(prepare, "derive", lambda corpus, seed, share: iter([colliding, colliding, fine]))
    (data / "SOURCES.tsv").write_text("task\tgroup\tlicence as found there\ncola\tg\tMIT\n")
    _write(data, "cola", ({"type": "noul", "instructions": "Is it grammatical?", "criteria": None, "answer": True},) * 3)
    prepare.write_training(data, data, draws=3, made=2, seed=1)
    said = capsys.readouterr().out
    assert f"made: left out for their wording: 1 cases, as in {{'{TASK}': 1}}" in said
    assert f"derived: left out for their wording: 2 cases, as in {{'{TASK}': 2}}" in said
    assert "made:fruit" in CaseFile.load(data / "train.npz").tasks
    assert "train: 5 cases" in said
