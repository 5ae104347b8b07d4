"""Profiles fitted on cases: calibration gets better on others, sets cover, and fitted cases are known again."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from oneread.calibration.temperature import Temperatures
from oneread.evaluate.cases import CasesError, cases_of
from oneread.evaluate.fitting import FEWEST, Goals, fit_profile, overlapping, scored
from oneread.evaluate.run import ask_all

from .fakes import FakeTarget, option_score, rows_of

OWN = Temperatures.parse({"noul": 1, "choice": 1, "score": 1})
OVERCONFIDENT = FakeTarget(lambda state, name, place: 4 * option_score(state, name))


def test_an_overconfident_reader_is_calibrated_and_what_is_stated_holds() -> None:
    rows = rows_of(6000)
    outcomes, _ = asyncio.run(ask_all(OVERCONFIDENT, rows, 8))
    profile = fit_profile(scored(outcomes), "fake-1", "ab" * 32, OWN, Goals(0.9, (0.3,), (0.4,)))
    for kind in ("noul", "choice", "score"):
        assert profile.temperatures.of(kind, 2) == pytest.approx(4, rel=0.2)
        found = profile.measured[kind]
        assert found["after"]["ece_width"] < 0.08 < found["before"]["ece_width"]
        assert found["after"]["log_score"] < found["before"]["log_score"]
        assert found["after"]["accuracy"] == found["before"]["accuracy"]
        assert found["sets"]["covered"] == pytest.approx(0.9, abs=0.04)
        error, cost = found["thresholds"]
        assert error["goal"] == "error"
        assert error["error"] is None or error["error"] <= 0.3 + 0.06
        assert 0 <= cost["accepted"] <= 1


def test_fitted_cases_are_known_again_and_held_out_ones_are_not() -> None:
    rows = rows_of(600)
    outcomes, _ = asyncio.run(ask_all(FakeTarget(), rows, 8))
    profile = fit_profile(scored(outcomes), "fake-1", "ab" * 32, OWN, Goals(holdout=0.3))
    held_out = sum(entry["cases"] for entry in profile.measured.values())
    assert overlapping(profile, cases_of(rows)) == 600 - held_out
    assert 0.2 < held_out / 600 < 0.4
    assert overlapping(profile, cases_of(rows_of(600, seed=9))) == 0


def test_scores_are_recovered_from_probabilities_up_to_a_constant() -> None:
    rows = rows_of(30, types=("choice",))
    outcomes, _ = asyncio.run(ask_all(FakeTarget(), rows, 8))
    for case, row in zip(scored(outcomes), rows, strict=True):
        true = np.array([option_score(row.state, f"o{i}") for i in range(case.options)])
        assert np.ptp(case.scores - true) < 1e-9


def test_without_sets_and_thresholds_all_fitted_cases_serve_temperatures() -> None:
    assert Goals(None, (), (), 0.2).parts == pytest.approx((0.8, 0.0, 0.2))
    assert Goals(0.9, (), (), 0.2).parts == pytest.approx((0.4, 0.4, 0.2))


def test_too_few_cases_are_refused() -> None:
    outcomes, _ = asyncio.run(ask_all(FakeTarget(), rows_of(FEWEST), 8))
    with pytest.raises(CasesError, match=f"at least {FEWEST}"):
        fit_profile(scored(outcomes), "fake-1", "ab" * 32, OWN, Goals())
