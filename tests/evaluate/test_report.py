"""An evaluation from cases to report: right numbers for each part, intervals that cover, and no text in what is written."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from oneread import Choice, Noul, Score
from oneread.evaluate import orders
from oneread.evaluate.cases import Row, cases_of
from oneread.evaluate.metrics import LOG_FLOOR
from oneread.evaluate.outcomes import Columns, Outcome
from oneread.evaluate.plots import confusion_matrices, save_plots
from oneread.evaluate.report import Options, Report, evaluate
from oneread.evaluate.run import ask_all, count, distribution
from oneread.evaluate.tables import report_table

from .fakes import FakeTarget, fake_decider, option_score, rows_of

QUICK = Options(concurrency=4, resamples=0)


def run(target: Any, rows: list[Row], options: Options = QUICK, packed: Any = None) -> Report:
    report = asyncio.run(evaluate(target, rows, options, lambda: "fake-1", None, packed))
    assert report is not None
    return report


def outcomes_of(rows: list[Row]) -> list[Outcome]:
    return asyncio.run(ask_all(FakeTarget(), rows, 8))[0]


def test_every_case_is_asked_once_and_outcomes_keep_the_order() -> None:
    target, rows = FakeTarget(), rows_of(50)
    found, failed = asyncio.run(ask_all(target, rows, 7))
    assert [o.case for o in found] == cases_of(rows)
    assert failed == []
    assert len(target.asked) == 50
    for outcome in found:
        assert outcome.probabilities.sum() == pytest.approx(1)


def test_a_decider_is_asked_as_a_server_is() -> None:
    with fake_decider() as decider:
        report = run(decider, rows_of(20))
    assert report.whole.cases == 20


def test_rows_that_fail_are_counted_by_kind_and_their_text_is_dropped() -> None:
    rows = rows_of(10)
    broken = [replace(case, state="broken secret") for case in rows[3].cases]
    rows[3] = Row(rows[3].source, "broken secret", tuple(broken))
    report = run(FakeTarget(), rows)
    assert len(report.columns) == 9
    assert count(report.failed) == {"too_many_tokens": 1}
    assert report.failed[0].source == "f.jsonl:4"
    assert "secret" not in json.dumps(report.to_json())


def test_no_answer_at_all_is_no_report() -> None:
    rows = [Row("f:1", "broken", tuple(replace(c, state="broken") for c in rows_of(1)[0].cases))]
    assert asyncio.run(evaluate(FakeTarget(), rows, QUICK, lambda: "x")) is None


def test_parts_are_measured_by_themselves() -> None:
    report = run(FakeTarget(), rows_of(90))
    by_type = report.parts["type"]
    assert {name: s.cases for name, s in by_type.items()} == {"choice": 30, "noul": 30, "score": 30}
    assert sum(s.cases for s in report.parts["options"].values()) == 90
    assert list(report.parts["options"]) == ["2", "3-4", "5-8"]
    only = run(FakeTarget(), [row for row in rows_of(90) if row.cases[0].type == "noul"])
    assert by_type["noul"].values == only.whole.values
    assert "auroc" in by_type["noul"].values
    assert "auroc" not in by_type["choice"].values
    assert {"mae", "rps"} <= by_type["score"].values.keys()
    assert not {"mae", "rps"} & by_type["noul"].values.keys()
    weighted = sum(s.values["accuracy"] * s.cases for s in by_type.values()) / 90
    assert report.whole.values["accuracy"] == pytest.approx(weighted)


def test_numbers_of_a_small_file_by_hand() -> None:
    rows = rows_of(2, types=("noul", "score"))
    cases = [replace(rows[0].cases[0], gold=0), replace(rows[1].cases[0], gold=2)]
    columns = Columns([Outcome(cases[0], np.array([0.8, 0.2])), Outcome(cases[1], np.array([0.5, 0.3, 0.2]))])
    found = columns.measure(np.array([0, 1]))
    assert found["accuracy"] == 0.5
    assert found["chance"] == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert found["brier"] == pytest.approx((2 * 0.04 + 0.25 + 0.09 + 0.64) / 2)
    assert found["log_score"] == pytest.approx(-(np.log(0.8) + np.log(0.2)) / 2)
    assert found["overconfidence"] == pytest.approx(0.65 - 0.5)
    assert found["mae"] == pytest.approx(2 - 0.7)
    assert found["rps"] == pytest.approx((0.25 + 0.64) / 2)
    assert "auroc" not in found  # a single noul
    assert columns.measure(np.array([0, 0, 1]))["accuracy"] == pytest.approx(2 / 3)


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    truth = run(FakeTarget(), rows_of(6000, types=("choice",))).whole.values["accuracy"]
    hits = 0
    for seed in range(60):
        summary = run(FakeTarget(), rows_of(120, seed + 1, ("choice",)), Options(resamples=100, orders=0)).whole
        low, high = summary.intervals["accuracy"]
        assert low <= summary.values["accuracy"] <= high
        hits += low <= truth <= high
    assert 50 <= hits <= 60


def test_copies_of_the_same_states_do_not_narrow_the_interval() -> None:
    rows = rows_of(60, types=("noul",))
    often = [replace(row, source=f"{row.source}.{k}") for row in rows for k in range(10)]
    once = Columns(outcomes_of(rows)).summary(np.arange(60), 300, 0).intervals["accuracy"]
    many = Columns(outcomes_of(often)).summary(np.arange(600), 300, 0).intervals["accuracy"]
    assert many[1] - many[0] == pytest.approx(once[1] - once[0], rel=0.25)


def test_a_reader_that_ignores_order_never_flips() -> None:
    report = run(FakeTarget(), rows_of(90), Options(orders=3, resamples=0))
    choice = report.orders["choice"]
    assert isinstance(choice, orders.Shift)
    assert choice.cases == 90
    assert choice.flips == 0
    assert choice.moved[3] == pytest.approx(0, abs=1e-12)
    assert report.orders["noul"] == orders.NOUL_ORDER
    nouls = run(FakeTarget(), rows_of(9, types=("noul",)), Options(orders=1, resamples=0))
    assert nouls.orders["choice"] == orders.NO_CASES


def test_a_reader_that_answers_by_place_flips_always() -> None:
    target = FakeTarget(lambda state, name, place: -float(place))
    choice = run(target, rows_of(60, types=("choice",)), Options(orders=1, resamples=0)).orders["choice"]
    assert isinstance(choice, orders.Shift)
    first_stayed = 0
    for row in orders.other_order(rows_of(60, types=("choice",)), 0):
        question = row.cases[0].question
        assert isinstance(question, Choice)
        first_stayed += next(iter(question.options)) == "o0"
    assert choice.flips == pytest.approx(1 - first_stayed / 60)
    assert choice.flips > 0.5


def test_reordering_keeps_the_right_answer_right() -> None:
    for row, again in zip([r for r in rows_of(90) if r.cases[0].type != "noul"], orders.other_order(rows_of(90), 5), strict=True):
        case, other = row.cases[0], again.cases[0]
        match case.question, other.question:
            case Choice(options), Choice(asked):
                assert list(options) != list(asked)
                assert list(options)[case.gold] == list(asked)[other.gold]
                assert dict(options) == dict(asked)
            case Score(levels), Score(asked):
                assert list(levels) == list(asked)[::-1]
                assert levels[case.gold] == asked[other.gold]


def test_orders_that_were_not_asked_are_said_to_be_unknown() -> None:
    report = run(FakeTarget(), rows_of(9), Options(orders=0, resamples=0))
    assert report.orders["choice"] == orders.NOT_MEASURED
    assert report.packed == orders.NO_PACKED_MODE


def several(n: int) -> list[Row]:
    found = []
    for row in rows_of(n, types=("choice",)):
        case = row.cases[0]
        found.append(Row(row.source, row.state, (case, replace(case, key="b", question=Noul("b"), gold=0))))
    return found


def test_packed_and_alone_are_compared_where_both_can_be_asked() -> None:
    def shifted(state: Any, name: str, place: int) -> float:
        return option_score(state, name) + (0.1 if name == "yes" else 0)

    same, moved = run(FakeTarget(), several(20), QUICK, FakeTarget()), run(FakeTarget(), several(20), QUICK, FakeTarget(shifted))
    assert isinstance(same.packed, orders.Shift)
    assert isinstance(moved.packed, orders.Shift)
    assert same.packed.moved[3] == 0
    assert moved.packed.cases == 40
    assert 0 < moved.packed.moved[3] < 0.1 / 4 + 1e-9  # a sigmoid's slope is at most 1/4


def test_lines_of_one_question_are_packed_with_questions_of_other_lines() -> None:
    rows = rows_of(30, types=("choice", "noul"))
    together = orders.packed_rows(rows, 0)
    assert len(together) == 30
    for row, packed in zip(rows, together, strict=True):
        assert packed.cases[0] == row.cases[0]
        assert 3 <= len(packed.cases) <= 1 + orders.COMPANIONS
        assert all(case.state == row.state for case in packed.cases)
        assert len({case.question_digest for case in packed.cases}) == len(packed.cases)
    report = run(FakeTarget(), rows, QUICK, FakeTarget())
    assert isinstance(report.packed, orders.Shift)
    assert report.packed.cases == 30
    assert report.packed.moved[3] == 0


def test_one_question_alone_cannot_be_packed() -> None:
    assert run(FakeTarget(), rows_of(5, types=("noul",)), QUICK, FakeTarget()).packed == orders.NO_COMPANIONS


def test_packed_reading_is_asked_for() -> None:
    packed = FakeTarget()
    run(FakeTarget(), several(5), QUICK, packed)
    assert {request.controls.mode for request in packed.asked} == {"packed"}


def test_what_is_written_holds_no_text_of_a_case(tmp_path: Path) -> None:
    report = run(FakeTarget(), several(12), Options(resamples=20))
    report.save(tmp_path)
    save_plots(report.columns, tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"report.json", "predictions.jsonl", "reliability.png", "risk_coverage.png", "confusion.png"}
    written = (tmp_path / "report.json").read_text() + (tmp_path / "predictions.jsonl").read_text()
    assert "secret" not in written
    assert "o0" not in written
    lines = [json.loads(line) for line in (tmp_path / "predictions.jsonl").read_text().splitlines()]
    assert [line["question"] for line in lines] == [0, 1] * 12
    assert json.loads((tmp_path / "report.json").read_text())["results"]["all"]["all"]["accuracy"].keys() == {
        "value",
        "low",
        "high",
    }


def test_the_table_shows_every_part() -> None:
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(report_table(run(FakeTarget(), rows_of(90))))
    text = console.export_text()
    for word in ("noul_task", "3-4 options", "accuracy", "flip", "not available", "not applicable"):
        assert word in text


def test_confusion_counts_every_case_of_a_task() -> None:
    columns = Columns(outcomes_of(rows_of(90)))
    found = {task: (names, counts) for task, names, counts in confusion_matrices(columns)}
    assert {task: int(counts.sum()) for task, (_, counts) in found.items()} == {
        "noul_task": 30,
        "choice_task": 30,
        "score_task": 30,
    }
    names, counts = found["noul_task"]
    assert names == ["no", "yes"]
    nouls = [i for i, kind in enumerate(columns.kinds) if kind == "noul"]
    assert np.trace(counts) == columns.right[nouls].sum()


def test_an_impossible_right_answer_has_a_finite_log_score() -> None:
    case = rows_of(1)[0].cases[0]
    p = np.array([0.0, 1.0]) if case.gold == 0 else np.array([1.0, 0.0])
    assert Columns([Outcome(case, p)]).measure(np.array([0]))["log_score"] == pytest.approx(-np.log(LOG_FLOOR))


def test_a_noul_is_yes_then_no() -> None:
    target = FakeTarget()
    answer = target.answer("x", Noul("q"))
    assert distribution(answer, Noul("q")).tolist() == pytest.approx([answer.noul, 1 - answer.noul])
