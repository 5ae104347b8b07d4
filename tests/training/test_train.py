"""The training command with the smallest configuration, on a CPU."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from oneread.readers.reader import EMBEDDED
from training.bases import framing, tiny
from training.cases import CaseWriter
from training.feed import load_cases, load_encoder
from training.measure import ece, outcomes
from training.report import fit_temperatures
from training.soup import mix
from training.splits import DEV
from training.train import Settings, train
from training.transport import pack8, save_parts

SETTINGS = Settings(
    "tiny",
    layout="state_first",
    lr=4e-3,
    batch_tokens=3000,
    tokens=2e5,
    dropout=0.0,
    warmup=20,
    easy=0,
    head_lr=1.0,
    evals=2,
    workers=1,
    seed=3,
)
WORDS = ("bug", "praise", "refund", "parcel")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A tiny base, and cases whose answer is the option that the state names."""
    data, bases = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("bases")
    tokenizer = json.loads((EMBEDDED / "tokenizer.json").read_text())
    config, tensors = tiny(tokenizer, 30527)
    (bases / "tiny.json").write_text(json.dumps({"model": config.__dict__, "form": framing(tokenizer)}))
    (bases / "tiny.tokenizer.json").write_text(json.dumps(tokenizer))
    save_parts(pack8(tensors), bases, "tiny", 1_000_000)
    rng = random.Random(0)
    for name, count in (("train", 3000), ("measured", 200)):
        writer = CaseWriter()
        for _ in range(count):
            gold = rng.randrange(4)
            writer.add(DEV[0], "choice", "which", WORDS[gold], WORDS, [float(i == gold) for i in range(4)])
        writer.file().save(data / f"{name}.npz")
    return data, bases


@pytest.fixture(scope="module")
def trained(folders: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, float]]:
    torch.set_num_threads(2)
    run = tmp_path_factory.mktemp("run")
    return run, train(run, *folders, SETTINGS)


def test_it_learns_and_writes_what_it_says(trained: tuple[Path, dict[str, float]]) -> None:
    run, last = trained
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert lines[-1]["train_loss"] < 0.7 * np.log(4)
    assert last["accuracy"] > 0.6
    assert {"scores.npz", "weights.safetensors", "config.json", "result.json"} <= {p.name for p in run.iterdir()}


def test_the_last_weights_are_kept_beside_the_best(trained: tuple[Path, dict[str, float]]) -> None:
    run, _ = trained
    for name in ("weights.safetensors", "scores.npz", "config.json", "result.json", "int8.0.safetensors"):
        assert (run / "last" / name).exists()
    best, last = (json.loads((folder / "result.json").read_text()) for folder in (run, run / "last"))
    losses = [json.loads(line)["tempered_log_loss"] for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert best["kept"]["dev_tempered_log_loss"] == min(losses)
    for result, loss in ((best, min(losses)), (last, losses[-1])):
        assert result["measured"]["state_first"]["dev_tempered_log_loss"] == pytest.approx(loss, abs=2e-4)


def test_an_average_of_best_and_last_names_both_and_says_its_dev_figures(
    trained: tuple[Path, dict[str, float]], folders: tuple[Path, Path], tmp_path: Path
) -> None:
    run, _ = trained
    command = [sys.executable, "-m", "training.soup", str(tmp_path / "soup"), f"{run}=0.25", f"{run / 'last'}=0.75"]
    where = ["--data", str(folders[0]), "--bases", str(folders[1])]
    said = subprocess.run([*command, *where], check=True, cwd=Path(__file__).parents[2], capture_output=True, text=True).stdout
    assert "dev_accuracy" in said
    assert "unseen_accuracy" in said
    result = json.loads((tmp_path / "soup" / "result.json").read_text())
    assert result["soup"] == {run.name: 0.25, f"{run.name}/last": 0.75}
    assert result["measured"]["state_first"]["dev"]["accuracy"] > 0.6
    half, best, last = (load_file(f / "weights.safetensors") for f in (tmp_path / "soup", run, run / "last"))
    for name, value in half.items():
        assert torch.allclose(value.float(), 0.25 * best[name].float() + 0.75 * last[name].float(), atol=2e-3)


def test_a_resumed_run_goes_on_where_it_stopped(folders: tuple[Path, Path], tmp_path: Path) -> None:
    half = replace(SETTINGS, tokens=2e4)
    train(tmp_path, *folders, half, save_every=1e-6)
    steps = json.loads((tmp_path / "metrics.jsonl").read_text().splitlines()[-1])["step"]
    train(tmp_path, *folders, replace(SETTINGS, tokens=4e4), resume=True)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert lines[-1]["step"] > steps
    assert [line["step"] for line in lines] == sorted(line["step"] for line in lines)


def test_a_soup_of_one_run_is_that_run(trained: tuple[Path, dict[str, float]]) -> None:
    run, _ = trained
    weights = load_file(run / "weights.safetensors")
    for name, value in mix({run: 1.0}).items():
        assert torch.equal(value, weights[name].float())


def test_a_temperature_undoes_a_scale(folders: tuple[Path, Path]) -> None:
    data, bases = folders
    _, _, tokenizer = load_encoder(bases, "tiny")
    cases, _ = load_cases(data, bases, "tiny", "measured", tokenizer)
    rng = np.random.default_rng(0)
    # scores whose softmax at temperature 1 is right about as often as it says
    scores = rng.normal(0, 1.5, len(cases.options)).astype(np.float32)
    p = np.exp(scores.reshape(-1, 4))
    gold = np.array([rng.choice(4, p=row / row.sum()) for row in p])
    cases.target = np.eye(4, dtype=np.float32)[gold].reshape(-1)
    index = np.arange(len(cases))
    fitted = {int(a): b for a, b in fit_temperatures(cases, 2 * scores, index)["choice"]}
    assert 1.5 < fitted[4] < 2.7
    sharp, calm = (outcomes(cases, 2 * scores, index, t) for t in (1.0, fitted[4]))
    assert ece(calm["right"], calm["confidence"]) < ece(sharp["right"], sharp["confidence"])
