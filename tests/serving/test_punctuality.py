"""In simulated time: what is let in is answered in time while the engine's speed swings, and the engine is kept busy."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from oneread.serving import admission

from .simulation import Shape, Simulation

Speed = Callable[[float], float]


def square(period: float, slow: float = 1000, share: float = 0.5) -> Speed:
    return lambda t: 3000 if (t / period) % 1 < share else slow


SPEEDS: dict[str, Speed] = {
    "steady": lambda t: 3000,
    "every second": square(2),
    "every 4 s": square(8),
    "every 10 s": square(20),
    "every 20 s": square(40),
    "tenfold": square(8, slow=300),
    "waves": lambda t: 2000 + 1500 * math.sin(t / 3),
    "now and then": square(15, slow=700, share=0.85),
}


def small(dice: random.Random) -> Shape:
    return 10.0, [[dice.randint(50, 160) for _ in range(dice.randint(1, 4))]]


def mixed(dice: random.Random) -> Shape:
    """Small ones, some that are due in 2 s, some of three stages, and now and then 60 reads at once."""
    kind = dice.random()
    if kind < 0.02:
        return 10.0, [[dice.randint(50, 160)] * 60]
    if kind < 0.06:
        return 2.0, [[80]]
    if kind < 0.12:
        return 10.0, [[90] * 3, [120] * 3, [100]]
    return small(dice)


@pytest.mark.parametrize("name", SPEEDS)
def test_no_answer_is_late_and_hardly_any_speed_is_lost(name: str) -> None:
    got = Simulation(SPEEDS[name], small, clients=256).run(120)
    assert got.late_at == []
    assert got.tokens > 0.95 * got.possible
    assert got.refused < 5000  # 256 clients that are told when to come back, not to hammer at the door


@pytest.mark.parametrize("name", SPEEDS)
def test_large_and_urgent_and_staged_requests_are_let_in_and_in_time_too(name: str) -> None:
    got = Simulation(SPEEDS[name], mixed, clients=256).run(160)
    # a large one that is half through when the engine gets slower than it ever was may be lost, later ones not
    assert [at for at in got.late_at if at > 30] == []
    assert len(got.late_at) <= 1
    assert got.tokens > 0.95 * got.possible
    assert len(got.waits[7]) > 20


def test_large_requests_find_a_place_among_small_ones() -> None:
    assert len(Simulation(SPEEDS["every 4 s"], mixed, clients=256).run(160).waits[60]) > 3


def test_believing_the_whole_rate_makes_late_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "WAITING", 1.0)
    monkeypatch.setattr(admission, "BELIEVED", 1.0)
    assert len(Simulation(SPEEDS["every 10 s"], mixed, clients=256).run(60).late_at) > 5


def test_a_few_clients_are_never_refused() -> None:
    got = Simulation(SPEEDS["every 4 s"], small, clients=4).run(60)
    assert (got.refused, got.late_at) == (0, [])
