"""The whole pipeline in its small form: corpus files, cases, runs, average, temperatures, shards, a reader that answers."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

from oneread import Choice, Decider
from oneread.readers.reader import load_reader
from training.splits import DEV, UNSEEN

TASKS = (DEV[0], DEV[1], UNSEEN[0], "clinc150", "cola")
WORDS = ("bug", "praise", "refund", "parcel")


def write_corpus(data: Path) -> None:
    sources = ["task\tgroup\ttrain\ttest\tsource repository\tlicence as found there"]
    for part, count in (("train", 40), ("test", 10)):
        (data / part).mkdir(parents=True)
        for task in TASKS:
            with gzip.open(data / part / f"{task}.jsonl.gz", "wt") as f:
                for i in range(count):
                    word = WORDS[i % 4]
                    f.write(json.dumps({"task": task, "group": "topic", "state": f"about {word} {i}", "type": "choice", "instructions": "which", "criteria": dict.fromkeys(WORDS), "answer": word}) + "\n")  # fmt: skip  # noqa: E501
    sources += [f"{task}\ttopic\t40\t10\tnobody/nothing\tMIT" for task in TASKS]
    (data / "SOURCES.tsv").write_text("\n".join(sources) + "\n")


def test_one_command_leads_from_a_corpus_to_a_reader_that_answers(tmp_path: Path) -> None:
    write_corpus(tmp_path / "data")
    command = [sys.executable, "-m", "training.pipeline", str(tmp_path / "data"), str(tmp_path / "work"), "--small"]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[2], capture_output=True)
    report = json.loads((tmp_path / "work" / "soup" / "report.json").read_text())
    assert set(report["temperatures"]) == {"noul", "choice", "score"}
    assert set(report["after"]["unseen"]["tasks"]) == {UNSEEN[0]}
    assert (tmp_path / "work" / "training.png").stat().st_size > 10_000
    with Decider(load_reader(tmp_path / "work" / "reader")) as decider:
        answer = decider.ask("about refund", {"q": Choice(dict.fromkeys(WORDS), "which")}).answers["q"]
    assert abs(sum(answer.probabilities.values()) - 1) < 1e-6  # type: ignore[union-attr]
