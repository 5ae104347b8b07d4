"""Tuning learns what cases teach, writes a reader that serves it, and leaves alone what it should."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from oneread import Decider, NoulAnswer
from oneread.calibration.profile import ProfileError, uncalibrated
from oneread.cli import app
from oneread.evaluate.cases import CasesError, cases_of
from oneread.readers.export import q8
from oneread.readers.manifest import read_manifest, verify_files
from oneread.readers.reader import load_reader
from oneread.readers.weights import stored_tensors
from oneread.tuning.examples import examples
from oneread.tuning.train import Recipe, Trainer, choose_share, log_losses
from oneread.tuning.tune import TuningError, stored_with, tune

from .test_model import encoder_of
from .tiny import colour_rows, tiny_reader

ALL = Recipe(layers=2, epochs=12, rate=3e-3, dropout=0.0)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_reader(tmp_path_factory.mktemp("base") / "r")


def test_cases_are_learned_and_the_new_reader_serves_it(base: Path, tmp_path: Path) -> None:
    out = tmp_path / "new"
    tuned = tune(colour_rows(240, nouls=True), out, base, ALL, keep=colour_rows(20, seed=7, nouls=True), threads=1)
    assert tuned.before["accuracy"] < 0.7
    assert tuned.after["accuracy"] > 0.9
    assert tuned.after["log_score"] < tuned.before["log_score"]
    assert tuned.keep_after["accuracy"] > tuned.keep_before["accuracy"]  # here the kept cases are of the same kind
    assert sum(tuned.cases) == 240
    manifest = read_manifest(out)
    verify_files(out, manifest)
    assert manifest.name == "tiny-tuned"
    fresh = cases_of(colour_rows(60, seed=3, nouls=True))
    with Decider(load_reader(out, 1)) as decider:
        answers = [decider.ask(case.state, {"q": case.question}).answers["q"] for case in fresh]
    said_yes = [isinstance(answer, NoulAnswer) and answer.noul > 0.5 for answer in answers]
    assert sum(said == (case.gold == 0) for said, case in zip(said_yes, fresh, strict=True)) > 52


def test_a_profile_of_the_old_reader_is_refused_by_the_new_one(base: Path, tmp_path: Path) -> None:
    tune(colour_rows(160, nouls=True), tmp_path / "new", base, ALL, threads=1)
    old, new = load_reader(base, 1), load_reader(tmp_path / "new", 1)
    with pytest.raises(ProfileError):
        Decider(new, calibration=uncalibrated(old.name, old.digest))
    old.close()
    new.close()


def test_layers_that_are_not_trained_are_stored_as_they_were(base: Path, tmp_path: Path) -> None:
    tune(colour_rows(240, nouls=True), tmp_path / "new", base, Recipe(layers=1, epochs=12, rate=1e-2), threads=1)
    old, new = (dict(stored_tensors(sorted(d.glob("*.safetensors")))) for d in (base, tmp_path / "new"))
    assert old.keys() == new.keys()
    changed = {name for name in old if not np.array_equal(old[name], new[name])}
    assert changed
    assert all(name.startswith("lay.1.") or name == "head.w" for name in changed)


def test_the_written_reader_holds_no_text_of_a_case(base: Path, tmp_path: Path) -> None:
    tune(colour_rows(160, nouls=True), tmp_path / "new", base, ALL, threads=1)
    assert "colour" not in (tmp_path / "new" / "reader.json").read_text()


def test_held_out_cases_are_never_trained_on(base: Path, tmp_path: Path) -> None:
    rows = colour_rows(200)
    tuned = tune(rows, tmp_path / "new", base, ALL, test=rows[:50], threads=1)
    assert tuned.cases[2] == 50
    assert tuned.cases[0] + tuned.cases[1] == 150


def test_cases_that_teach_nothing_write_no_reader(base: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [
        replace(row, cases=tuple(replace(case, gold=int(rng.integers(2))) for case in row.cases))
        for row in colour_rows(200, nouls=True)
    ]
    with pytest.raises(TuningError, match="did not help"):
        tune(rows, tmp_path / "new", base, Recipe(layers=2, epochs=30, rate=1e-2, dropout=0.0), threads=1)
    assert not (tmp_path / "new").exists()


def test_too_few_cases_and_a_used_directory_are_refused(base: Path, tmp_path: Path) -> None:
    with pytest.raises(CasesError, match="at least 40"):
        tune(colour_rows(30), tmp_path / "new", base, ALL, threads=1)
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "x").write_text("")
    with pytest.raises(TuningError, match="empty directory"):
        tune(colour_rows(100), tmp_path / "used", base, ALL, threads=1)


def trainer(base: Path, recipe: Recipe) -> tuple[Trainer, list[object]]:
    reader = load_reader(base, 1)
    found = examples(reader.canvas, cases_of(colour_rows(64)), np.random.default_rng(0))
    reader.close()
    return Trainer(encoder_of(base), recipe), found  # type: ignore[return-value]


def test_the_same_seed_gives_the_same_weights(base: Path) -> None:
    def weights() -> dict[str, np.ndarray]:
        subject, found = trainer(base, ALL)
        subject.train([subject.prepare(found)] * 2)  # type: ignore[arg-type]
        return subject.changes()

    first, second = weights(), weights()
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_a_blend_goes_from_the_first_weights_to_the_last(base: Path) -> None:
    subject, found = trainer(base, ALL)
    data = subject.prepare(found)  # type: ignore[arg-type]
    before = subject.scores(data)
    subject.train([data] * 6)
    after = subject.scores(data)
    assert log_losses(after, data.examples).mean() < log_losses(before, data.examples).mean()
    subject.blend(0.0)
    assert all(np.allclose(a, b, atol=1e-5) for a, b in zip(subject.scores(data), before, strict=True))
    subject.blend(1.0)
    assert all(np.allclose(a, b, atol=1e-5) for a, b in zip(subject.scores(data), after, strict=True))


def test_the_least_share_within_a_standard_error_of_the_best_is_taken() -> None:
    rng = np.random.default_rng(0)
    noise, start = rng.normal(0, 0.3, 40), rng.uniform(0.5, 1.5, 40)
    noise -= noise.mean()
    clear = {0.0: start, 0.5: start - 0.4, 1.0: start - 0.4 + noise}
    assert choose_share(clear) == 0.5
    assert choose_share({0.0: start, 1.0: start - 0.02 + noise}) == 0.0
    assert choose_share({0.0: start, 0.5: start - 0.2, 1.0: start - 0.5}) == 1.0


def test_examples_in_another_order_keep_the_right_answer(base: Path) -> None:
    reader = load_reader(base, 1)
    cases = cases_of(colour_rows(30))
    plain, shuffled = examples(reader.canvas, cases), examples(reader.canvas, cases, np.random.default_rng(1))
    reader.close()

    def right_token(example: object) -> int:
        read, slot = example.reads[0], example.options[0].index(example.gold)  # type: ignore[attr-defined]
        return int(read.canvas[read.slots[slot].position - 1])

    assert [right_token(e) for e in plain] == [right_token(e) for e in shuffled]
    assert [e.gold for e in plain] != [e.gold for e in shuffled]


def test_changed_matrices_are_stored_in_int8_and_vectors_as_they_were() -> None:
    rng = np.random.default_rng(0)
    packed, scale = np.zeros((4, 16), np.uint8), np.zeros((4, 1), np.float16)
    stored = {
        "a.weight.q4": packed,
        "a.weight.scale": scale,
        "a.bias": np.zeros(4, np.float16),
        "b.weight": np.zeros((2, 2), np.float32),
    }
    value = rng.normal(size=(4, 32)).astype(np.float32)
    found = stored_with(stored, {"a.weight": value, "a.bias": np.ones(4, np.float32), "b.weight": np.ones((2, 2), np.float32)})
    assert set(found) == {"a.weight.q8", "a.weight.scale", "a.bias", "b.weight"}
    assert found["a.bias"].dtype == np.float16
    assert found["b.weight"].dtype == np.float32
    codes, scales = q8(value)
    assert np.array_equal(found["a.weight.q8"], codes)
    assert np.abs(codes * scales.astype(np.float32)[:, None] - value).max() <= np.abs(value).max() / 127


def test_the_command_tells_before_and_after(base: Path, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    lines = []
    for row in colour_rows(200, nouls=True):
        case = row.cases[0]
        wire: dict[str, object] = {"state": row.state, "instructions": case.question.instructions, "type": case.type}
        lines.append(json.dumps({**wire, "answer": case.gold == 0}))
    path.write_text("\n".join(lines))
    out = tmp_path / "new"
    arguments = [
        "tune",
        str(path),
        "--reader",
        str(base),
        "--out",
        str(out),
        "--epochs",
        "12",
        "--rate",
        "0.003",
        "--threads",
        "1",
    ]
    too_many = CliRunner().invoke(app, arguments)  # four layers, which this reader does not have
    assert too_many.exit_code == 1
    assert "has 2 layers" in too_many.output
    arguments += ["--layers", "2"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "before" in result.output
    assert "after" in result.output
    again = CliRunner().invoke(app, arguments)
    assert again.exit_code == 1
    assert "empty directory" in again.output
