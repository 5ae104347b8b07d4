"""Cases: made ones are valid and balanced, variants keep the label, files and weights survive a trip."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from oneread.canvas.text import option_texts, render
from oneread.questions import Choice, Noul, Request, Score, option_count, validate
from training.augment import augment
from training.cases import CaseFile, CaseWriter
from training.corpus import Example, parse, target_of
from training.made import generate
from training.prepare import quotas
from training.splits import DEV, UNSEEN, Task
from training.transport import load_parts, pack8, save_parts, unpack8


def test_made_cases_are_valid_and_repeat_with_their_seed() -> None:
    examples = list(generate(300, 4))
    for e in examples:
        validate(Request(e.state, {"q": e.question}))
        assert 0 <= e.answer < option_count(e.question)
    assert [(e.task, render(e.state), e.answer) for e in generate(300, 4)] == [
        (e.task, render(e.state), e.answer) for e in examples
    ]


def test_made_answers_are_balanced() -> None:
    yes = Counter((e.task, e.answer) for e in generate(6000, 1) if isinstance(e.question, Noul))
    for task in {t for t, _ in yes}:
        share = yes[task, 0] / (yes[task, 0] + yes[task, 1])
        assert 0.1 < share < 0.9, task


def test_a_noul_record_puts_yes_first() -> None:
    record = {"task": "t", "state": "s", "type": "noul", "instructions": "Is it?", "criteria": {"true": "it is"}, "answer": True}
    example = parse(record)
    assert option_texts(example.question)[example.answer] == "yes: it is"


def test_variants_of_a_choice_keep_the_answer_or_leave_it_out_for_none() -> None:
    options = {"refund": "wants money back", "shipping": "asks for a parcel", "praise": "is happy"}
    example = Example("t", Choice(options, "What is it?"), "My money, please.", 0)
    pool = {**options, **{f"label_{i}": None for i in range(30)}}
    left_out = 0
    for seed in range(300):
        e = augment(example, random.Random(seed), pool, ["planet", "river"])
        text = option_texts(e.question)[e.answer].lower().replace("-", " ").replace(".", " ")
        if "refund" not in text:
            assert not any("refund" in t.lower() for t in option_texts(e.question))
            left_out += 1
    assert 0 < left_out < 60


def test_a_reversed_score_names_the_same_level() -> None:
    example = Example("t", Score(["awful", "fair", "great"], "How?"), "I loved it.", 2)
    texts = {
        option_texts(e.question)[e.answer].split(": ")[1] for e in (augment(example, random.Random(s), {}, []) for s in range(60))
    }
    assert texts == {"great"}


def test_a_score_spreads_its_target_by_distance() -> None:
    target = target_of(Example("t", Score(list("abcd"), None), "s", 1), 4, 0.05)
    assert sum(target) == pytest.approx(1)
    assert target[1] > target[0] == target[2] > target[3] > 0


def test_a_case_file_comes_back_as_it_was(tmp_path: Path) -> None:
    writer = CaseWriter()
    for e in generate(40, 2):
        e.write(writer, 0.02)
    before = writer.file()
    before.save(tmp_path / "x.npz")
    after = CaseFile.load(tmp_path / "x.npz")
    assert after.texts == before.texts
    assert after.tasks == before.tasks
    assert (after.options == before.options).all()
    assert np.abs(after.target - before.target).max() < 1e-3


def test_weights_survive_the_trip(tmp_path: Path) -> None:
    torch.manual_seed(0)
    tensors = {"a.weight": torch.randn(300, 40), "b": torch.randn(7), "rb.weight": torch.randn(4, 2)}
    paths = save_parts(pack8(tensors), tmp_path, "w", 2000)
    assert len(paths) > 3
    assert all(p.stat().st_size < 4000 for p in paths)
    back = unpack8(load_parts(paths[::-1]))
    assert back.keys() == tensors.keys()
    for name, t in tensors.items():
        assert (back[name] - t).abs().max() <= t.abs().max() / 127


def test_quotas_share_out_by_group_and_never_ask_for_more_than_there_is() -> None:
    tasks = {n: Task(n, g, "MIT") for n, g in (("a", "x"), ("b", "x"), ("c", "y"), ("d_ja", "z"))}
    share = quotas(tasks, {"a": 5000, "b": 100, "c": 5000, "d_ja": 5000}, 6000)
    assert share["b"] == 200  # twice each of its records
    assert share["c"] > share["a"] > share["d_ja"]
    assert 5900 < sum(share.values()) <= 6000


def test_held_out_tasks_are_enough_and_apart() -> None:
    assert len(set(UNSEEN)) >= 20
    assert not set(UNSEEN) & set(DEV)


def test_a_target_that_does_not_sum_to_one_is_refused() -> None:
    with pytest.raises(ValueError, match="the target sums to"):
        CaseWriter().add("t", "choice", "which", "state", ["a", "b", "c"], [0.01, 0.01, 0.01])
