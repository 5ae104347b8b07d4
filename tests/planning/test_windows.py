"""Cutting: nothing is lost, nothing is larger than the room, pieces are as few and as even as can be."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from oneread.planning.windows import groups, windows


@given(st.integers(0, 20_000), st.integers(20, 500), st.data())
def test_windows_cover_the_state_and_overlap(length: int, room: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, room // 4))
    spans = windows(length, room, overlap)
    assert spans[0][0] == 0
    assert spans[-1][1] == length
    assert all(stop - start <= room for start, stop in spans)
    assert len({stop - start for start, stop in spans}) == 1
    assert all(before[1] - after[0] >= overlap for before, after in pairwise(spans))
    # One window fewer could not cover the state.
    fewer = len(spans) - 1
    assert fewer == 0 or fewer * room - (fewer - 1) * overlap < length


def test_a_state_that_fits_is_one_window() -> None:
    assert windows(0, 100, 25) == ((0, 0),)
    assert windows(100, 100, 25) == ((0, 100),)


@given(st.integers(1, 300), st.data())
def test_groups_are_even_and_keep_the_order(length: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, length))
    spans = groups(length, count)
    assert [i for a, b in spans for i in range(a, b)] == list(range(length))
    sizes = {b - a for a, b in spans}
    assert max(sizes) - min(sizes) <= 1
