"""The decision log: what it keeps, what it leaves out, what it survives, and its replay."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from oneread import Decider
from oneread.calibration.temperature import Temperatures
from oneread.controls import Asking, Controls
from oneread.decision_log import DecisionLog, LogError, entries, replay
from oneread.decision_log import store as store_module
from oneread.decision_log.codec import digest, request_of, request_value
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


def test_by_default_evidence_is_not_kept(file: Path) -> None:
    assert noted(file, [REQUEST]) == {"written": 1}
    (entry,) = entries(file)
    assert entry.request is None
    assert entry.digest == digest(REQUEST)
    assert set(entry.answers) == {"a", "b", "c"}
    assert all(sum(p) == pytest.approx(1) for p in entry.answers.values())
    assert SECRET.encode() not in b"".join(f.read_bytes() for f in file.parent.iterdir())


def test_the_file_is_for_its_owner_only(file: Path) -> None:
    noted(file, [])
    assert file.stat().st_mode & 0o077 == 0


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


def test_sampling_keeps_about_its_share(file: Path) -> None:
    counted = noted(file, [Request("s", {"a": Noul("x")})] * 400, sample=0.25)
    assert counted["written"] + counted["left_out"] == 400
    assert 50 < counted["written"] < 150


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
    opened = store_module._open

    def small(path: Path) -> sqlite3.Connection:
        connection = opened(path)
        connection.execute("pragma max_page_count = 8")
        return connection

    monkeypatch.setattr(store_module, "_open", small)
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


def test_the_same_reader_replays_to_the_same_answers(file: Path) -> None:
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
