"""How fast an engine reads: the mean, what is sure, and whether work fits its deadlines."""

from __future__ import annotations

import numpy as np
import pytest

from oneread.engines.drain import STALE_S, DrainRate


def swinging(period: float, seconds: float = 60.0) -> DrainRate:
    """1000 tokens a second and 200 in turn, in passes of 50 ms."""
    rate, t = DrainRate(), 0.0
    while t < seconds:
        rate.add(50 if t % period < period / 2 else 10, 0.05, t + 0.05)
        t += 0.05
    return rate


def sure(rate: DrainRate, seconds: float, now: float = 60.0) -> float:
    return float(rate.sure(np.array([seconds]), now)[0])


def test_before_anything_is_known_everything_fits() -> None:
    rate = DrainRate()
    assert rate.mean(0.0) is None
    assert rate.excess([(1.0, 10**9)], 0.0, 0.5) == 0
    assert sure(rate, 1.0) == float("inf")


def test_a_swing_takes_its_slow_part_from_short_times_and_hardly_anything_from_long_ones() -> None:
    rate = swinging(4.0)
    assert rate.mean(60.0) == pytest.approx(600, rel=0.1)
    assert sure(rate, 1.0) == pytest.approx(200, rel=0.1)
    assert sure(rate, 20.0) == pytest.approx(20 * 600, rel=0.1)
    assert 2 * sure(rate, 1.0) <= sure(rate, 4.0) <= 4 * 600


def test_nothing_is_sure_of_time_that_is_over() -> None:
    assert sure(swinging(4.0), -3.0) == 0


def test_one_long_pass_counts_for_all_the_time_it_took() -> None:
    rate = DrainRate()
    for i in range(100):
        rate.add(500, 0.5, i / 2)
    rate.add(100, 20.0, 70.0)
    assert sure(rate, 1.0, 70.0) == pytest.approx(5, rel=0.2)


def test_slow_times_are_forgotten_after_two_minutes_of_reading() -> None:
    rate = DrainRate()
    rate.add(100, 20.0, 20.0)
    for i in range(1300):
        rate.add(100, 0.1, 20 + i / 10)
    assert sure(rate, 1.0, 150.0) == pytest.approx(1000, rel=0.01)


def test_an_old_rate_is_believed_less_and_less() -> None:
    rate = swinging(4.0)
    fresh = rate.mean(60.0)
    assert fresh is not None
    assert rate.mean(60.0 + 4 * STALE_S) == pytest.approx(8 * fresh, rel=0.01)
    assert sure(rate, 1.0, 60.0 + 4 * STALE_S) == pytest.approx(8 * sure(rate, 1.0), rel=0.01)


def steady() -> DrainRate:
    rate = DrainRate()
    for i in range(100):
        rate.add(100, 0.1, i / 10)
    return rate


@pytest.mark.parametrize(
    ("demands", "due_from", "over"),
    [
        ([(20.0, 5000)], -1.0, 0),
        ([(20.0, 5500)], -1.0, 500),
        ([(20.0, 3000), (12.0, 1500)], -1.0, 500),  # the earlier one, by itself, is what does not fit
        ([(20.0, 3000), (12.0, 1500)], 13.0, 0),
        ([(float("inf"), 10**9), (20.0, 10)], -1.0, 0),
        ([(float("-inf"), 4000), (20.0, 2000)], 10.0, 1000),
        ([], -1.0, 0),
    ],
)
def test_work_fits_when_by_every_moment_no_more_is_due_than_can_be_read(
    demands: list[tuple[float, int]], due_from: float, over: float
) -> None:
    assert steady().excess(demands, 10.0, 0.5, due_from) == pytest.approx(over, abs=1)
