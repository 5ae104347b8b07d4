"""What shares a pass, who is served next, what becomes of errors, and what the batcher tells of its load."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from oneread.engines.batcher import Batcher
from oneread.engines.load import Monitored, Pass
from oneread.errors import EngineError

from .models import StepModel, read


@pytest.fixture
def model() -> StepModel:
    return StepModel()


@pytest.fixture
def batcher(model: StepModel) -> Iterator[Batcher]:
    batcher = Batcher(model, token_budget=32)
    yield batcher
    model.free = True
    model.go.release(1000)
    batcher.close()


def busy(batcher: Batcher, model: StepModel) -> None:
    """Occupy the worker with a read of its own."""
    batcher.read([read(0)])
    assert model.started.acquire(timeout=5)


def finish(model: StepModel) -> None:
    model.free = True
    model.go.release()


def test_readings_come_back_in_order(batcher: Batcher, model: StepModel) -> None:
    model.free = True
    readings = batcher.read([read(i, 8 + 8 * (i % 3)) for i in range(20)]).result(5)
    assert [float(r.scores[0]) for r in readings] == list(range(20))
    assert batcher.read([]).result(1) == []


def test_waiting_reads_of_one_length_share_the_next_pass_up_to_the_budget(batcher: Batcher, model: StepModel) -> None:
    busy(batcher, model)
    futures = [batcher.read([read(tag, tokens)]) for tag, tokens in [(1, 8), (2, 16), (3, 8), (4, 8), (5, 8), (6, 8)]]
    finish(model)
    for future in futures:
        future.result(5)
    assert model.passes[1:] == [[1, 3, 4, 5], [2], [6]]


def test_a_read_over_the_budget_still_runs(batcher: Batcher, model: StepModel) -> None:
    model.free = True
    assert len(batcher.read([read(1, 800)]).result(5)) == 1


def test_a_thousand_reads_of_one_call_delay_another_by_one_pass(batcher: Batcher, model: StepModel) -> None:
    busy(batcher, model)
    many = batcher.read([read(1) for _ in range(1000)])
    one = batcher.read([read(2)])
    finish(model)
    one.result(5)
    many.result(20)
    assert 2 in model.passes[1]


def test_calls_take_turns_and_no_length_is_left_waiting(batcher: Batcher, model: StepModel) -> None:
    busy(batcher, model)
    calls = [batcher.read([read(1) for _ in range(40)]), batcher.read([read(2) for _ in range(40)]), batcher.read([read(3, 16)])]
    finish(model)
    for call in calls:
        call.result(10)
    assert model.passes[1] == [1, 1, 2, 2]
    assert model.passes[2] == [3]


def test_a_cancelled_call_gives_up_what_has_not_started(batcher: Batcher, model: StepModel) -> None:
    busy(batcher, model)
    gone, stays = batcher.read([read(1)] * 3), batcher.read([read(2)])
    assert batcher.load().rows == 5
    assert gone.cancel()
    assert batcher.load().rows == 2
    finish(model)
    stays.result(5)
    assert model.passes[1:] == [[2]]


def test_a_failed_pass_fails_its_calls_and_no_others(batcher: Batcher, model: StepModel) -> None:
    model.fault = ValueError("planted-secret")
    busy(batcher, model)
    other = batcher.read([read(1)])
    model.go.release()
    assert model.started.acquire(timeout=5)
    model.fault = None
    finish(model)
    other.result(5)


def test_an_error_does_not_repeat_the_runtimes_words(batcher: Batcher, model: StepModel) -> None:
    model.free, model.fault = True, ValueError("planted-secret")
    with pytest.raises(EngineError, match="A pass failed with ValueError") as raised:
        batcher.read([read(1)]).result(5)
    assert "planted" not in str(raised.value)


def test_a_read_that_cannot_run_fails_alone(batcher: Batcher) -> None:
    with pytest.raises(EngineError, match="too long"):
        batcher.read([read(1, 5000)]).result(1)


def test_close_finishes_the_pass_and_refuses_the_rest(model: StepModel) -> None:
    batcher = Batcher(model, 8)
    running = batcher.read([read(1)])
    assert model.started.acquire(timeout=5)
    waiting = batcher.read([read(2)])
    model.go.release()
    batcher.close()
    assert running.done()
    with pytest.raises(EngineError, match="closed"):
        waiting.result(1)
    with pytest.raises(EngineError, match="closed"):
        batcher.read([read(3)]).result(1)
    assert model.closed


def test_the_load_is_what_waits_and_runs(batcher: Batcher, model: StepModel) -> None:
    assert isinstance(batcher, Monitored)
    assert (batcher.load().tokens, batcher.load().tokens_per_s, batcher.seconds_for(100)) == (0, None, None)
    busy(batcher, model)
    batcher.read([read(1, 16), read(1, 16)])
    load = batcher.load()
    assert (load.requests, load.rows, load.tokens) == (2, 3, 40)
    time.sleep(0.02)
    assert batcher.load().pass_s > 0.01


def test_the_time_a_call_needs_counts_of_each_other_call_no_more_than_its_own_size(batcher: Batcher, model: StepModel) -> None:
    busy(batcher, model)
    future = batcher.read([read(1)] * 500)
    model.go.release()
    assert model.started.acquire(timeout=5)
    time.sleep(0.05)
    model.go.release()
    assert model.started.acquire(timeout=5)
    rate = batcher.load().tokens_per_s
    assert rate is not None
    assert 32 / rate == pytest.approx(0.05, rel=0.5)
    small, large = batcher.seconds_for(8), batcher.seconds_for(4000)
    assert small is not None
    assert large is not None
    assert small == pytest.approx((32 + 8) / rate)  # the pass that runs holds 32 tokens, which is more than a turn of 16
    assert large == pytest.approx((4000 - 32 + 4000) / rate)
    future.cancel()


def test_passes_that_take_all_there_was_say_nothing_of_the_drain_rate(batcher: Batcher, model: StepModel) -> None:
    model.free = True
    batcher.read([read(1)]).result(5)
    assert batcher.load().tokens_per_s is None
    batcher.read([read(1)] * 100).result(5)
    assert batcher.load().tokens_per_s is not None


def test_an_old_rate_is_believed_less_and_less(batcher: Batcher, model: StepModel, monkeypatch: pytest.MonkeyPatch) -> None:
    model.free = True
    batcher.read([read(1)] * 100).result(5)
    fresh = batcher.load().tokens_per_s
    assert fresh is not None
    now = time.monotonic
    monkeypatch.setattr("oneread.engines.load.time.monotonic", lambda: now() + 120)
    assert batcher.load().tokens_per_s == pytest.approx(fresh * 8, rel=0.01)


def test_small_calls_are_finished_in_order_of_arrival(batcher: Batcher, model: StepModel) -> None:
    busy(batcher, model)
    calls = [batcher.read([read(tag)] * 2) for tag in range(1, 7)]
    finish(model)
    for call in calls:
        call.result(5)
    assert model.passes[1:] == [[1, 1, 2, 2], [3, 3, 4, 4], [5, 5, 6, 6]]


def test_observers_are_told_of_every_pass(batcher: Batcher, model: StepModel) -> None:
    told: list[Pass] = []
    batcher.observe(told.append)
    busy(batcher, model)
    future = batcher.read([read(1), read(2, 16)])
    time.sleep(0.02)
    finish(model)
    readings = future.result(5)
    assert [(p.rows, p.tokens, p.fault) for p in told] == [(1, 8, None), (1, 8, None), (1, 16, None)]
    assert told[1].waits_s[0] > 0.01
    assert readings[0].waited_s == told[1].waits_s[0]
    model.fault = ValueError()
    with pytest.raises(EngineError):
        batcher.read([read(1)]).result(5)
    assert told[-1].fault == "ValueError"
