"""The decision log: what it keeps, what it leaves out, what it survives, and its replay."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from oneread import Decider
from oneread.calibration.temperature import Temperatures
from oneread.controls import Asking, Controls
from oneread.decision_log import DecisionLog, LogError, entries, parquet, replay, sqlite
from oneread.decision_log import store as store_module
from oneread.decision_log.codec import digest, request_of, request_value
from oneread.errors import MissingExtra
from oneread.questions import Choice, Image, Noul, Request, Score
from tests.fakes import FakeEngine, fake_reader

SECRET = "planted-secret"
REQUEST = Request(
    {"text": SECRET, "n": [1, None, True]},
    {
        "a": Noul("Is it?", yes="so", no={"k": "v"}),
        "b": Choice({"x": None, "y": {"deep": ["1"]}}, "Which?"),
        "c": Score(["low", {"l": 2}, "high"]),
    },
    Controls(ask=("a", "b", "c"), samples=2, rotations="auto", seed=7),
    {"b": Asking(depends_on=("a",), ask_if={"a": (True, False)}, abstain_below=0.1)},
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "log.sqlite"


BOTH = pytest.mark.parametrize("name", ["log.sqlite", "log.parquet"])


def everything(file: Path) -> bytes:
    return b"".join(path.read_bytes() for path in file.parent.rglob("*") if path.is_file())


def noted(file: Path, requests: list[Request], **choice: Any) -> Counter[str]:
    counted: Counter[str] = Counter()
    log = DecisionLog(file, counted=lambda outcome: counted.update([outcome]), **choice)
    with Decider(fake_reader()) as decider:
        for i, request in enumerate(requests):
            log.note(f"req_{i}", request, decider.decide(request), decider.reader.digest, None)
    log.close()
    return counted


def test_a_request_survives_the_log_whole() -> None:
    assert request_of(request_value(REQUEST)) == REQUEST
    assert digest(request_of(request_value(REQUEST))) == digest(REQUEST)


@BOTH
def test_by_default_evidence_is_not_kept(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    assert noted(file, [REQUEST]) == {"written": 1}
    (entry,) = entries(file)
    assert entry.request is None
    assert entry.digest == digest(REQUEST)
    assert set(entry.answers) == {"a", "b", "c"}
    assert all(sum(p) == pytest.approx(1) for p in entry.answers.values())
    assert SECRET.encode() not in everything(file)


@BOTH
def test_the_file_is_for_its_owner_only(tmp_path: Path, name: str) -> None:
    noted(tmp_path / name, [REQUEST])
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / name, *(tmp_path / name).glob("*")))


def test_the_digest_tells_requests_apart() -> None:
    others = [
        Request("other", REQUEST.questions),
        Request(REQUEST.state, {"a": Noul("Is it?")}),
        Request(REQUEST.state, REQUEST.questions, images=(Image(b"png", 1, 1),)),
    ]
    assert len({digest(r) for r in (REQUEST, *others)}) == 4


def test_a_request_with_images_is_kept_as_a_digest(file: Path) -> None:
    log = DecisionLog(file, full=True)
    with Decider(fake_reader()) as decider:
        plain = Request("s", {"a": Noul("x")})
        answers = decider.decide(plain)
        log.note("1", Request("s", {"a": Noul("x")}, images=(Image(b"png", 1, 1),)), answers, "0", None)
    log.close()
    assert [entry.request for entry in entries(file)] == [None]


@BOTH
def test_sampling_keeps_about_its_share(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    counted = noted(file, [Request("s", {"a": Noul("x")})] * 400, sample=0.25)
    assert counted["written"] + counted["left_out"] == 400
    assert 50 < counted["written"] < 150
    assert len(list(entries(file))) == counted["written"]


def test_old_entries_and_those_over_the_size_are_deleted(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "TIDY_S", 0.0)
    noted(file, [Request("s", {"a": Noul("x")})] * 5)
    with sqlite3.connect(file) as connection:
        connection.execute("update decisions set at = at - 100000")
    noted(file, [Request("s", {"a": Noul("x")})], days=1.0)
    assert len(list(entries(file))) == 1
    noted(file, [Request("x" * 2000, {"a": Noul("x")})] * 200, full=True, max_bytes=100_000)
    assert 1 < len(list(entries(file))) < 100
    assert file.stat().st_size < 300_000


def test_a_file_that_cannot_take_more_costs_entries_only(
    file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    opened = sqlite.open_file

    def small(path: Path) -> sqlite3.Connection:
        connection = opened(path)
        connection.execute("pragma max_page_count = 8")
        return connection

    monkeypatch.setattr(sqlite, "open_file", small)
    counted = noted(file, [Request(SECRET * 500, {"a": Noul("x")})] * 20, full=True)
    assert counted["failed"] > 0
    assert counted["written"] + counted["failed"] == 20
    assert len([r for r in caplog.records if "could not be written" in r.message]) == 1
    assert SECRET not in caplog.text
    monkeypatch.undo()
    assert noted(file, [Request("s", {"a": Noul("x")})]) == {"written": 1}


def test_more_than_can_be_written_is_dropped_not_piled_up(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "MAX_WAITING_TOKENS", 0)
    assert noted(file, [REQUEST] * 3) == {"dropped": 3}


@pytest.mark.parametrize("content", [b"not a database, but long enough to be taken for one" * 40, None])
def test_a_file_of_something_else_is_refused(file: Path, content: bytes | None) -> None:
    if content is not None:
        file.write_bytes(content)
    else:
        with sqlite3.connect(file) as connection:
            connection.execute("create table other (x)")
    with pytest.raises(LogError):
        DecisionLog(file)


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="No such file"):
        DecisionLog(tmp_path / "none" / "log.sqlite")
    with pytest.raises(LogError, match="is not there"):
        list(entries(tmp_path / "none.sqlite"))


@BOTH
def test_the_same_reader_replays_to_the_same_answers(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    noted(file, [REQUEST, Request("s", {"q": Noul("x")})], full=True)
    with Decider(fake_reader()) as decider:
        found = replay(entries(file), decider)
    assert (found.decisions, found.questions, found.same_top, found.distance) == (2, 4, 4, 0.0)


def test_another_reader_is_told_apart_question_by_question(file: Path) -> None:
    noted(file, [Request("s", {"q": Noul("x"), "r": Noul("y")})] * 3, full=True)
    with Decider(fake_reader(FakeEngine(lambda _, slot: 9.0 * (slot == 1)))) as decider:
        found = replay(entries(file), decider)
        assert found.questions == 6
        assert found.distance > 0.1
        assert found.worst[0].distance == max(c.distance for c in found.worst)
        assert all(change.after == 1 for change in found.worst)


def test_digests_only_and_refused_requests_are_counted(file: Path) -> None:
    noted(file, [Request("s", {"q": Noul("x")})])
    noted(file, [Request("s", {"q": Noul("word " * 200)})], full=True)
    reader = fake_reader()
    with Decider(reader, max_tokens=10) as decider:
        found = replay(entries(file), decider)
    assert (found.without_request, found.refused, found.decisions) == (1, 1, 0)


def test_a_calibration_moves_distributions_but_no_top_answer(file: Path) -> None:
    import dataclasses

    noted(file, [Request("s", {"q": Choice({"a": None, "b": None, "c": None})})] * 2, full=True)
    warmer = dataclasses.replace(fake_reader(), temperatures=Temperatures.parse({"noul": 2, "choice": 2, "score": 2}))
    with Decider(warmer) as decider:
        found = replay(entries(file), decider)
    assert found.same_top == found.questions == 2
    assert found.distance > 0


@BOTH
def test_what_is_kept_comes_back_whole_and_in_order(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    odd = Request({"text": "a pair of surrogates 😀 and a \x00"}, {"a": Noul("x")})
    noted(file, [REQUEST, odd], full=True)
    noted(file, [Request("later", {"a": Noul("x")})], full=True)
    found = list(entries(file))
    assert [request_of(entry.request) for entry in found if entry.request] == [REQUEST, odd, Request("later", {"a": Noul("x")})]
    assert [entry.id for entry in found] == ["req_0", "req_1", "req_0"]
    assert found[0].at < found[1].at < found[2].at
    assert {entry.calibration for entry in found} == {None}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "log.parquet"


def test_one_part_replays_as_well_as_its_folder(folder: Path) -> None:
    noted(folder, [REQUEST], full=True)
    (part,) = folder.iterdir()
    assert list(entries(part)) == list(entries(folder))


def test_parts_are_written_when_they_are_full_or_their_time_has_come(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "MOST_RECORDS", 3)
    counted = noted(folder, [Request("s", {"a": Noul("x")})] * 7)
    assert counted == {"written": 7}
    assert len(list(folder.iterdir())) == 3
    monkeypatch.setattr(store_module, "FLUSH_S", 0.05)
    told: Counter[str] = Counter()
    log = DecisionLog(folder, counted=lambda outcome: told.update([outcome]))
    with Decider(fake_reader()) as decider:
        log.note("1", REQUEST, decider.decide(REQUEST), "0", None)
    end = time.monotonic() + 5
    while not told and time.monotonic() < end:
        time.sleep(0.02)
    assert told == {"written": 1}
    log.close()
    assert len(list(entries(folder))) == 8


def test_old_parts_and_those_over_the_size_are_deleted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "TIDY_S", 0.0)
    monkeypatch.setattr(parquet, "MOST_RECORDS", 5)
    noted(folder, [Request("s", {"a": Noul("x")})] * 5)
    (old,) = folder.iterdir()
    old.rename(folder / f"decisions-{time.time_ns() - 100_000 * 10**9:020d}-1.parquet")
    noted(folder, [Request("s", {"a": Noul("x")})], days=2.0)
    assert len(list(entries(folder))) == 6
    noted(folder, [Request("s", {"a": Noul("x")})], days=1.0)
    assert len(list(entries(folder))) == 2
    size = sum(part.stat().st_size for part in folder.iterdir())
    noted(folder, [Request("s", {"a": Noul("x")})] * 40, max_bytes=4 * size)
    assert sum(part.stat().st_size for part in folder.iterdir()) <= 4 * size
    assert 5 <= len(list(entries(folder))) < 42


def test_a_folder_that_cannot_take_more_costs_entries_only_and_leaves_no_halves(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    import pyarrow.parquet

    monkeypatch.setattr(pyarrow.parquet, "write_table", full)
    assert noted(folder, [Request(SECRET, {"a": Noul("x")})] * 3, full=True) == {"failed": 3}
    assert list(folder.iterdir()) == []
    assert "No space left on device" in caplog.text
    assert SECRET not in caplog.text
    monkeypatch.undo()
    assert noted(folder, [REQUEST]) == {"written": 1}


def test_a_folder_of_something_else_is_refused(folder: Path, tmp_path: Path) -> None:
    folder.mkdir()
    (folder / "letters.txt").write_text("dear")
    with pytest.raises(LogError, match="other files"):
        DecisionLog(folder)
    (tmp_path / "x.parquet").write_bytes(b"PAR1 no, not really")
    for wrong, match in ((tmp_path / "x.parquet", "cannot be read"), (tmp_path / "y.parquet", "is not there")):
        with pytest.raises(LogError, match=match):
            list(entries(wrong))
    with pytest.raises(LogError, match="File exists"):
        DecisionLog(tmp_path / "x.parquet")
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"id": ["a"]}), tmp_path / "other.parquet")
    with pytest.raises(LogError, match="not of a decision log"):
        list(entries(tmp_path / "other.parquet"))


def test_without_pyarrow_the_install_line_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noted(folder, [REQUEST])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for work in (lambda: DecisionLog(folder), lambda: list(entries(folder))):
        with pytest.raises(MissingExtra, match=r"pip install 'oneread\[parquet\]'"):
            work()
