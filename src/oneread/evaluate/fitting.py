"""Fits a calibration profile on labelled cases and measures it on others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..calibration.fit import fit_questions, fit_temperatures
from ..calibration.profile import Profile, default_name
from ..calibration.scored import Scored, split
from ..calibration.sets import fit_sets
from ..calibration.temperature import TYPES, Temperatures, softmax
from ..calibration.thresholds import fit_thresholds
from . import metrics
from .cases import Case, CasesError
from .metrics import Floats
from .outcomes import Outcome

FEWEST = 20
"""Cases without which no temperature is fitted."""

_SMALLEST = 1e-300


@dataclass(frozen=True, slots=True)
class Goals:
    """What is fitted beside temperatures.

    Attributes:
        coverage: of conformal sets; None fits none.
        errors: target errors, a set of thresholds for each.
        costs: costs of an answer that is not accepted, where a wrong one costs 1; a set of thresholds for each.
        holdout: share of the cases that only measures.
    """

    coverage: float | None = 0.9
    errors: tuple[float, ...] = ()
    costs: tuple[float, ...] = ()
    holdout: float = 0.3

    @property
    def parts(self) -> tuple[float, float, float]:
        """Shares for temperatures, for sets and thresholds, for measuring."""
        rest = 1 - self.holdout
        apart = self.coverage is not None or self.errors or self.costs
        return (rest / 2, rest / 2, self.holdout) if apart else (rest, 0.0, self.holdout)


def scored(outcomes: Sequence[Outcome]) -> list[Scored]:
    """Outcomes of an uncalibrated decider as raw scores: the logarithm of their probabilities at temperature 1."""
    return [
        Scored(
            o.case.type, np.log(np.maximum(o.probabilities, _SMALLEST)), o.case.gold, o.case.question_digest, o.case.cluster,
            o.case.digest,
        )
        for o in outcomes
    ]  # fmt: skip


def fit_profile(
    cases: Sequence[Scored], reader: str, digest: str, own: Temperatures, goals: Goals, name: str | None = None
) -> Profile:
    """A profile fitted on one part of the cases and measured on another, which its digests leave out.

    Temperatures, then sets and thresholds on cases that no temperature was fitted on, so that what they state holds.

    Args:
        reader, digest: what the profile is for.
        own: the reader's temperatures: kept for types without cases, and what "before" means.

    Raises:
        CasesError: there are too few cases.
    """
    for_temperatures, for_sets, held_out = split(cases, goals.parts)
    if len(for_temperatures) < FEWEST:
        raise CasesError(f"{len(for_temperatures)} cases are left to fit temperatures on; at least {FEWEST} are needed")
    temperatures = fit_temperatures(for_temperatures, own)
    plain = Profile(name or "", reader, digest, temperatures, fit_questions(for_temperatures, temperatures))
    calibrated = [(case.type, softmax(case.scores, temperature_of(plain, case)), case.gold) for case in for_sets]
    fitted_on = frozenset(case.case for case in [*for_temperatures, *for_sets])
    profile = Profile(
        name or default_name(reader, temperatures, fitted_on), reader, digest, temperatures, plain.questions,
        sets=None if goals.coverage is None else fit_sets(calibrated, goals.coverage),
        thresholds=(
            *(fit_thresholds(calibrated, "error", value) for value in goals.errors),
            *(fit_thresholds(calibrated, "cost", value) for value in goals.costs),
        ),
        fitted_on=fitted_on,
        source=f"fitted on {len(for_temperatures)} cases (temperatures) and {len(for_sets)} (sets and thresholds)",
    )  # fmt: skip
    return replace(profile, measured=measured(held_out, profile, own))


def temperature_of(profile: Profile, case: Scored) -> float:
    """As `Profile.temperature`, by digest."""
    return profile.questions.get(case.question) or profile.temperatures.of(case.type, case.options)


def measured(held_out: Sequence[Scored], profile: Profile, own: Temperatures) -> dict[str, Any]:
    """What the profile gives on cases it was not fitted on, as JSON; by type."""
    found: dict[str, Any] = {}
    fresh = [case for case in held_out if case.case not in profile.fitted_on]
    for name in TYPES:
        part = [case for case in fresh if case.type == name]
        if not part:
            continue
        before = [softmax(case.scores, own.of(name, case.options)) for case in part]
        after = [softmax(case.scores, temperature_of(profile, case)) for case in part]
        gold = [case.gold for case in part]
        entry: dict[str, Any] = {"cases": len(part), "before": _quality(before, gold), "after": _quality(after, gold)}
        if profile.sets is not None:
            sets = [(inside, g) for p, g in zip(after, gold, strict=True) if (inside := profile.sets.of(name, p)) is not None]
            if sets:
                entry["sets"] = {
                    "stated": profile.sets.coverage,
                    "covered": round(float(np.mean([g in inside for inside, g in sets])), 4),
                    "mean_size": round(float(np.mean([len(inside) for inside, _ in sets])), 3),
                }
        entry["thresholds"] = [
            {"goal": t.goal, "value": t.value, **_accepted([t.accepts(name, p) for p in after], after, gold)}
            for t in profile.thresholds
        ]
        found[name] = entry
    return found


def overlapping(profile: Profile, cases: Sequence[Case]) -> int:
    """How many of these cases the profile was fitted on."""
    return profile.overlap(case.digest for case in cases)


def _quality(probabilities: Sequence[Floats], gold: Sequence[int]) -> dict[str, float]:
    top = np.array([p.max() for p in probabilities])
    right = np.array([int(np.argmax(p)) == g for p, g in zip(probabilities, gold, strict=True)])
    p_gold = np.array([p[g] for p, g in zip(probabilities, gold, strict=True)])
    return {
        "log_score": round(float(metrics.log_score(p_gold).mean()), 4),
        "brier": round(float(np.mean([metrics.brier(p, g) for p, g in zip(probabilities, gold, strict=True)])), 4),
        "ece_width": round(metrics.ece_equal_width(top, right), 4),
        "ece_mass": round(metrics.ece_equal_mass(top, right), 4),
        "accuracy": round(float(right.mean()), 4),
    }


def _accepted(accepts: Sequence[bool], probabilities: Sequence[Floats], gold: Sequence[int]) -> dict[str, float | None]:
    wrong = [int(np.argmax(p)) != g for a, p, g in zip(accepts, probabilities, gold, strict=True) if a]
    return {"accepted": round(float(np.mean(accepts)), 4), "error": round(float(np.mean(wrong)), 4) if wrong else None}
