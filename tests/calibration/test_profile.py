"""A profile is applied to its reader and refused elsewhere; its file says everything and keeps no text."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oneread import Choice, Decider, Noul, NoulAnswer, Question, Score
from oneread.calibration.digests import case_digest, question_digest, state_digest
from oneread.calibration.priors import RULES
from oneread.calibration.profile import Profile, ProfileError, default_name, load_profile, uncalibrated
from oneread.calibration.sets import Sets
from oneread.calibration.temperature import Temperatures
from oneread.calibration.thresholds import Thresholds

from ..fakes import FakeEngine, fake_reader, word_canvas

QUESTION = Noul("is it urgent")
TEMPERATURES = Temperatures.parse({"noul": 2.0, "choice": [[4, 1.5], [255, 3.0]], "score": 2.5})
PROFILE = Profile(
    "fake-1-0badcafe", "fake-1", "ab" * 32, TEMPERATURES, {question_digest(QUESTION): 4.0},
    Sets(0.9, {"noul": ((2, 0.2),)}), (Thresholds("error", 0.05, {"noul": ((2, None),), "choice": ((4, 0.8),)}),),
    frozenset({case_digest("x", QUESTION), case_digest("y", QUESTION)}), "fitted", {"log_score": {"before": 1.0, "after": 0.5}},
)  # fmt: skip


def reader(digest: str = "ab" * 32) -> Any:
    engine = FakeEngine(lambda read, slot: 2.0 if slot == 0 else 0.0)
    own = Temperatures.parse({"noul": 1, "choice": 1, "score": 1})
    return replace(fake_reader(engine), digest=digest, canvas=word_canvas(), temperatures=own)


def p_yes(decider: Decider, question: Question) -> float:
    answer = decider.ask("x", {"q": question}).answers["q"]
    assert isinstance(answer, NoulAnswer)
    return answer.noul


def test_its_temperatures_take_the_place_of_the_readers() -> None:
    plain, calibrated = Decider(reader()), Decider(reader(), calibration=PROFILE)
    assert calibrated.calibration is PROFILE
    other = Noul("another question")
    assert p_yes(plain, other) == pytest.approx(1 / (1 + np.exp(-2)))
    assert p_yes(calibrated, other) == pytest.approx(1 / (1 + np.exp(-2 / 2)))
    assert p_yes(calibrated, QUESTION) == pytest.approx(1 / (1 + np.exp(-2 / 4)))


def test_another_reader_is_refused() -> None:
    with pytest.raises(ProfileError, match=r"fitted for reader 'fake-1' with files abababababab; this reader is"):
        Decider(reader("cd" * 32), calibration=PROFILE)


def test_a_saved_profile_is_read_back_as_it_was(tmp_path: Path) -> None:
    PROFILE.save(tmp_path / "p.json")
    assert load_profile(tmp_path / "p.json") == PROFILE


def test_its_file_holds_no_text_of_a_case(tmp_path: Path) -> None:
    PROFILE.save(tmp_path / "p.json")
    assert "urgent" not in (tmp_path / "p.json").read_text()


def test_cases_it_was_fitted_on_are_known_again() -> None:
    assert PROFILE.overlap([case_digest("x", QUESTION), case_digest("z", QUESTION)]) == 1


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"format": "oneread-calibration/2"}, "format"),
        ({"temperatures": {"noul": 1}}, "temperatures"),
        ({"reader": {}}, "reader"),
        ({"name": 3}, "name"),
        ({"questions": {"q": -1}}, "questions"),
        ({"sets": {"coverage": 2, "least": {}}}, "sets"),
        ({"thresholds": [{"goal": "luck", "value": 0.1, "top": {}}]}, "thresholds"),
        ({"fitted_on": {"digests": "!"}}, "fitted_on"),
        ({"fitted_on": {"digests": "AAAA"}}, "fitted_on"),
        ({"source": None}, "source"),
    ],
)
def test_damaged_files_are_refused_by_part(tmp_path: Path, change: dict[str, Any], named: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps({**PROFILE.to_json(), **change}))
    with pytest.raises(ProfileError, match=named):
        load_profile(path)


def test_missing_files_and_other_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="cannot be read"):
        load_profile(tmp_path / "none.json")
    (tmp_path / "p.json").write_text("{")
    with pytest.raises(ProfileError, match="not JSON"):
        load_profile(tmp_path / "p.json")


def test_uncalibrated_leaves_scores_as_they_are() -> None:
    assert p_yes(Decider(reader(), calibration=uncalibrated("fake-1", "ab" * 32)), QUESTION) == pytest.approx(
        1 / (1 + np.exp(-2))
    )


def test_names_differ_with_cases() -> None:
    assert default_name("r", TEMPERATURES, {"a"}) != default_name("r", TEMPERATURES, {"b"})


def test_questions_and_cases_are_told_apart_and_order_of_options_is_not() -> None:
    questions: list[Question] = [
        Noul("a"), Noul("b"), Noul("a", "b"), Noul("a", None, "b"), Choice({"a": None, "b": None}), Choice({"a": "b", "b": None}),
        Choice({"a": None, "b": None}, "a"), Score(["a", "b"]), Score(["b", "a"]),
    ]  # fmt: skip
    assert len({question_digest(q) for q in questions}) == len(questions)
    assert question_digest(Choice({"a": "1", "b": "2"})) == question_digest(Choice({"b": "2", "a": "1"}))
    assert case_digest("x", QUESTION) != case_digest("y", QUESTION)
    assert state_digest({"a": 1, "b": 2}) == state_digest({"b": 2, "a": 1}) != state_digest([1, 2])


@given(st.integers(2, 255), st.sampled_from(sorted(RULES)))
def test_rules_without_labels_flatten_and_less_so_with_more_options(n: int, name: str) -> None:
    rule = RULES[name]
    assert 1 <= rule.temperature(n) <= rule.temperature(2)
    assert rule.temperatures().of("choice", n) == pytest.approx(rule.temperature(n), rel=0.25)


def test_the_glm_rule_is_the_published_one() -> None:
    assert RULES["glm"].temperature(2) == pytest.approx(np.exp(0.96 - 0.076 * np.log(2)))
    assert RULES["glm"].temperatures().of("noul", 2) == pytest.approx(2.478, abs=1e-3)
