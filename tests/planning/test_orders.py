"""Orders: the own one first, none twice, the seed decides, positions are spread."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from oneread.planning.orders import distinct_orders, orders


@given(st.integers(2, 255), st.integers(1, 32), st.integers(0, 2**32 - 1))
def test_orders_are_distinct_permutations_and_start_with_the_own(options: int, count: int, seed: int) -> None:
    found = orders("choice", options, count, seed)
    assert found[0] == tuple(range(options))
    assert len(set(found)) == len(found) == min(count, distinct_orders("choice", options))
    assert all(sorted(order) == list(range(options)) for order in found)


@given(st.sampled_from(["noul", "score"]), st.integers(2, 10), st.integers(1, 32))
def test_levels_are_read_as_they_are_and_reversed(kind: str, levels: int, count: int) -> None:
    own = tuple(range(levels))
    assert orders(kind, levels, count, 7) == (own, own[::-1])[:count]


def test_the_seed_decides() -> None:
    assert orders("choice", 20, 8, 1) == orders("choice", 20, 8, 1) != orders("choice", 20, 8, 2)


def test_every_option_comes_first_once_in_as_many_orders_as_options() -> None:
    assert sorted(order[0] for order in orders("choice", 9, 9, 3)) == list(range(9))
