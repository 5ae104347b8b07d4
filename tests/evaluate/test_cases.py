"""Files of cases: both forms are read, faults are named by line, and no text is repeated."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from oneread import Choice, Noul, Score
from oneread.evaluate.cases import CasesError, cases_of, labels, load_rows, parse_row, sample

SECRET = "the evidence itself"
NOUL = {"state": SECRET, "type": "noul", "instructions": "Is it?", "criteria": {"true": "a", "false": None}, "answer": False}
CHOICE = {"task": "t", "group": "g", "state": {"a": 1}, "type": "choice", "criteria": {"x": None, "y": "why"}, "answer": "y"}
SCORE = {"state": ["s"], "type": "score", "instructions": "How?", "criteria": ["low", "mid", "high"], "answer": 2}
SEVERAL = {
    "state": SECRET,
    "questions": {
        "first": {k: v for k, v in NOUL.items() if k not in ("state", "answer")},
        "second": {"type": "score", "criteria": ["l", "h"]},
    },
    "answers": {"first": True, "second": 0},
}


def test_both_forms_and_all_types_are_read(tmp_path: Path) -> None:
    plain, packed = tmp_path / "some.jsonl", tmp_path / "other.jsonl.gz"
    plain.write_text("\n".join(json.dumps(v) for v in (NOUL, CHOICE)) + "\n\n")
    packed.write_bytes(gzip.compress("\n".join(json.dumps(v) for v in (SCORE, SEVERAL)).encode()))
    rows = load_rows([plain, packed])
    cases = cases_of(rows)
    assert [len(row.cases) for row in rows] == [1, 1, 1, 2]
    assert [case.gold for case in cases] == [1, 1, 2, 0, 0]
    assert [(case.task, case.group) for case in cases] == [("some", "some"), ("t", "g"), *[("other", "other")] * 3]
    assert cases[0].question == Noul("Is it?", "a", None)
    assert cases[1].question == Choice({"x": None, "y": "why"})
    assert cases[2].question == Score(["low", "mid", "high"], "How?")
    assert [case.source for case in cases] == [
        "some.jsonl:1",
        "some.jsonl:2",
        "other.jsonl.gz:1",
        "other.jsonl.gz:2",
        "other.jsonl.gz:2",
    ]
    assert cases[3].cluster == cases[4].cluster == cases[0].cluster != cases[1].cluster
    assert len({case.digest for case in cases}) == 4  # the first question of SEVERAL is NOUL again
    assert list(rows[3].request.questions) == ["first", "second"]
    assert cases_of(load_rows([tmp_path])) == cases_of(load_rows([packed, plain]))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"answer": "yes"}, "true or false"),
        ({"type": "choice", "criteria": {"a": None, "b": None}, "answer": SECRET}, "one of its options"),
        ({"type": "score", "criteria": ["a", "b"], "answer": 2}, "0 to 1"),
        ({"type": "score", "criteria": ["a", "b"], "answer": True}, "0 to 1"),
        ({"type": "score", "criteria": {"a": 1}, "answer": 0}, "criteria"),
        ({"type": SECRET}, "type should be"),
        ({"type": "choice", "criteria": {"a": None}, "answer": "a"}, "At least 2"),
        ({"state": 3}, "string, an object or an array"),
        ({"questions": {"a": {}}, "answers": {"b": True}}, "same ids"),
        ({"questions": {"a": SECRET}, "answers": {"a": True}}, "a question should be an object"),
    ],
)
def test_faults_are_named_by_line_without_the_text(change: dict[str, Any], said: str) -> None:
    with pytest.raises(CasesError, match=said) as caught:
        parse_row({**NOUL, **change}, "f.jsonl:7", "f")
    assert str(caught.value).startswith("f.jsonl:7")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("line", ["{", "[1]", '{"type": "noul"}', '{"state": "x", "type": "noul"}', "[" * 100_000])
def test_lines_that_are_no_case_are_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "f.jsonl"
    path.write_text(json.dumps(NOUL) + "\n" + line + "\n")
    with pytest.raises(CasesError, match=r"f\.jsonl:2"):
        load_rows([path])


def test_missing_empty_and_damaged_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CasesError, match="cannot be read"):
        load_rows([tmp_path / "none.jsonl"])
    with pytest.raises(CasesError, match=r"no \.jsonl"):
        load_rows([tmp_path])
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(CasesError, match="No case"):
        load_rows([tmp_path / "empty.jsonl"])
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(json.dumps(NOUL).encode())[:-9])
    with pytest.raises(CasesError, match="cannot be read"):
        load_rows([tmp_path / "cut.jsonl.gz"])
    (tmp_path / "text.jsonl.gz").write_text("not gzip")
    with pytest.raises(CasesError, match="cannot be read"):
        load_rows([tmp_path / "text.jsonl.gz"])


def test_labels_name_every_answer() -> None:
    assert labels(Noul("a")) == ("yes", "no")
    assert labels(Choice({"x": None, "y": None})) == ("x", "y")
    assert labels(Score(["a", "b", "c"])) == ("0", "1", "2")


def test_a_sample_is_the_same_for_the_same_seed_and_keeps_order() -> None:
    rows = [parse_row({**NOUL, "state": str(i)}, f"f:{i}", "f") for i in range(50)]
    drawn = sample(rows, 10, 1)
    assert drawn == sample(rows, 10, 1) != sample(rows, 10, 2)
    assert [rows.index(row) for row in drawn] == sorted(rows.index(row) for row in drawn)
    assert sample(rows, None, 1) == sample(rows, 50, 1) == rows
