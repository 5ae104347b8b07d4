"""Every metric against scikit-learn, or against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from oneread.evaluate import metrics


def drawn(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(4), n)
    return p, np.array([rng.choice(4, p=row) for row in p])


def test_macro_f1_is_scikit_learns() -> None:
    p, gold = drawn()
    predicted = p.argmax(axis=1)
    assert metrics.macro_f1(gold, predicted) == pytest.approx(sk.f1_score(gold, predicted, average="macro"))
    assert metrics.macro_f1(np.array([0, 5]), np.array([0, 0])) == pytest.approx((2 / 3 + 0) / 2)  # label 5 never predicted


def test_macro_f1_over_tasks_is_the_mean_of_the_tasks() -> None:
    first, second = drawn(300, 1), drawn(50, 2)
    gold = np.concatenate([first[1], second[1] + 4])
    predicted = np.concatenate([first[0].argmax(axis=1), second[0].argmax(axis=1) + 4])
    alone = [metrics.macro_f1(g, p.argmax(axis=1)) for p, g in (first, second)]
    assert metrics.macro_f1(gold, predicted, np.repeat([0, 1], 4)) == pytest.approx(np.mean(alone))


def test_auroc_is_scikit_learns_ties_included() -> None:
    rng = np.random.default_rng(3)
    p = rng.integers(0, 8, 300) / 7
    yes = rng.uniform(size=300) < p
    assert metrics.auroc(p, yes) == pytest.approx(sk.roc_auc_score(yes, p))
    assert metrics.auroc(p, np.ones(300, bool)) is None


def test_brier_is_the_sum_form() -> None:
    assert metrics.brier(np.array([0.7, 0.2, 0.1]), 0) == pytest.approx(0.3**2 + 0.2**2 + 0.1**2)
    assert metrics.brier(np.array([0.0, 1.0]), 0) == 2
    p, gold = drawn()
    binary = np.stack([1 - p[:, 0], p[:, 0]], axis=1)
    ours = np.mean([metrics.brier(row, int(g == 0)) for row, g in zip(binary, gold, strict=True)])
    assert ours == pytest.approx(2 * sk.brier_score_loss(gold == 0, p[:, 0]))


def test_log_score_is_scikit_learns_and_finite_for_the_impossible() -> None:
    p, gold = drawn()
    assert metrics.log_score(p[np.arange(400), gold]).mean() == pytest.approx(sk.log_loss(gold, p))
    assert metrics.log_score(np.array([0.0, 1.0])).tolist() == pytest.approx([-np.log(1e-12), 0])


def test_ranked_probability_score_by_hand() -> None:
    assert metrics.ranked_probability_score(np.array([0.5, 0.3, 0.2]), 1) == pytest.approx((0.5**2 + (0.8 - 1) ** 2) / 2)
    assert metrics.ranked_probability_score(np.array([0.0, 0.0, 1.0]), 0) == 1
    assert metrics.ranked_probability_score(np.array([0.0, 1.0]), 1) == 0


def test_far_levels_cost_more_than_near_ones() -> None:
    near, far = np.array([0.1, 0.8, 0.1, 0.0]), np.array([0.1, 0.0, 0.1, 0.8])
    assert metrics.ranked_probability_score(near, 0) < metrics.ranked_probability_score(far, 0)


def test_calibration_errors_by_hand() -> None:
    top = np.array([0.55, 0.6, 0.9, 0.95])
    right = np.array([True, False, True, True])
    # ten bins of equal width: (.5, .6] holds two with mean .575 and accuracy .5, (.8, .9] and (.9, 1] one each
    assert metrics.ece_equal_width(top, right, 10) == pytest.approx((2 * 0.075 + 0.1 + 0.05) / 4)
    assert metrics.ece_equal_mass(top, right, 2) == pytest.approx((2 * 0.075 + 2 * 0.075) / 4)
    assert metrics.reliability(top, right, 10)[0] == (pytest.approx(0.575), 0.5, 2)


def test_equal_mass_bins_match_scikit_learns_calibration_curve() -> None:
    from sklearn.calibration import calibration_curve

    rng = np.random.default_rng(5)
    top = rng.uniform(0.3, 1, 600)
    right = rng.uniform(size=600) < top**2
    accuracy, mean = calibration_curve(right, top, n_bins=10, strategy="quantile")
    assert metrics.ece_equal_mass(top, right, 10) == pytest.approx(np.mean(np.abs(accuracy - mean)), abs=2e-3)


def test_calibrated_answers_have_nearly_no_error_and_overconfident_ones_do() -> None:
    rng = np.random.default_rng(6)
    top = rng.uniform(0.4, 1, 50_000)
    right = rng.uniform(size=50_000) < top
    assert metrics.ece_equal_width(top, right) < 0.01
    assert metrics.ece_equal_mass(np.minimum(1, top + 0.1), right) > 0.07


def test_risk_and_coverage_by_hand() -> None:
    coverage, risk = metrics.risk_coverage(np.array([0.5, 0.9, 0.7, 0.6]), np.array([False, True, True, False]))
    assert coverage.tolist() == [0.25, 0.5, 0.75, 1.0]
    assert risk.tolist() == pytest.approx([0, 0, 1 / 3, 1 / 2])
    assert metrics.aurc(np.array([0.5, 0.9, 0.7, 0.6]), np.array([False, True, True, False])) == pytest.approx(
        (1 / 3 + 1 / 2) / 4
    )


@given(st.lists(st.tuples(st.sampled_from([0.5, 0.6, 0.9]), st.booleans()), min_size=1, max_size=30), st.randoms())
def test_the_order_of_equally_certain_cases_does_not_matter(cases: list[tuple[float, bool]], random: object) -> None:
    shuffled = list(cases)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    a, b = (metrics.aurc(np.array([t for t, _ in c]), np.array([r for _, r in c])) for c in (cases, shuffled))
    assert a == pytest.approx(b)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_calibration_error_is_a_share(cases: list[tuple[float, bool]]) -> None:
    top, right = np.array([t for t, _ in cases]), np.array([r for _, r in cases])
    for ece in (metrics.ece_equal_width(top, right), metrics.ece_equal_mass(top, right)):
        assert 0 <= ece <= 1
        assert ece >= abs(top.mean() - right.mean()) - 1e-9
    assert sum(n for _, _, n in metrics.reliability(top, right)) == len(cases)
