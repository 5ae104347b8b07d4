"""What shares a pass, who is served next, what becomes of errors, and what the batcher tells of its load."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future

import numpy as np
import pytest

from oneread.engines.base import Read, Reading, wanted
from oneread.engines.batcher import Batcher
from oneread.engines.load import Monitored, Pass
from oneread.engines.turns import Errand, errand
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
    assert (batcher.load().tokens, batcher.load().tokens_per_s, batcher.excess(100, 0.0, 1.0)) == (0, None, 0.0)
    busy(batcher, model)
    batcher.read([read(1, 16), read(1, 16)])
    load = batcher.load()
    assert (load.requests, load.rows, load.tokens) == (2, 3, 40)
    time.sleep(0.02)
    assert batcher.load().pass_s > 0.01


def test_the_excess_is_what_is_due_beyond_what_is_sure(batcher: Batcher, model: StepModel) -> None:
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
    now = time.monotonic()
    # a pass of what waits comes before; what nobody waits for does not
    assert batcher.excess(100, now + 10, 1.0) == 0
    assert batcher.excess(8 * round(rate), now + 10, 0.5) == pytest.approx(3 * rate + 32, rel=0.05)
    later = [Errand(now + 9, 8 * round(rate)), Errand(now + 30, 1)]
    assert batcher.excess(100, now + 10, 0.5, later) == pytest.approx(3 * rate + 132, rel=0.05)
    future.cancel()


def test_what_is_due_soon_goes_first_once_turns_would_make_it_late(batcher: Batcher, model: StepModel) -> None:
    batcher._rate.add(100, 1.0, time.monotonic())  # 100 tokens a second: a pass of 32 takes 0.3 s
    busy(batcher, model)
    many = batcher.read([read(1)] * 6)
    urgent = in_errand(batcher, Errand(time.monotonic() + 1.0), read(2), 6)
    idle = in_errand(batcher, Errand(time.monotonic() + 3600), read(3), 6)
    finish(model)
    for call in (many, urgent, idle):
        call.result(5)
    assert model.passes[1] == [2, 2, 2, 2]
    assert model.passes[2][:2] == [2, 2]


def test_while_nothing_is_pressed_calls_take_turns_whatever_is_due_first(batcher: Batcher, model: StepModel) -> None:
    batcher._rate.add(100_000, 1.0, time.monotonic())
    busy(batcher, model)
    calls = [in_errand(batcher, Errand(time.monotonic() + due), read(due), 6) for due in (90, 60)]
    finish(model)
    for call in calls:
        call.result(5)
    assert model.passes[1] == [90, 90, 60, 60]


def in_errand(batcher: Batcher, own: Errand, asked: Read, count: int) -> Future[list[Reading]]:
    token = errand.set(own)
    try:
        return batcher.read([asked] * count)
    finally:
        errand.reset(token)


def test_reads_that_are_not_padded_share_a_pass_by_their_own_tokens(model: StepModel) -> None:
    model.bucket = lambda _: 0  # type: ignore[method-assign]
    batcher = Batcher(model, token_budget=32)
    busy(batcher, model)
    calls = [batcher.read([read(tag, tokens)]) for tag, tokens in ((1, 20), (2, 12), (3, 5), (4, 80), (5, 1))]
    finish(model)
    for call in calls:
        call.result(5)
    assert model.passes[1:] == [[1, 2], [3], [4], [5]]
    batcher.close()


def test_passes_that_take_all_there_was_say_nothing_of_the_drain_rate(batcher: Batcher, model: StepModel) -> None:
    model.free = True
    batcher.read([read(1)]).result(5)
    assert batcher.load().tokens_per_s is None
    batcher.read([read(1)] * 100).result(5)
    assert batcher.load().tokens_per_s is not None


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


def test_a_read_nobody_waits_for_is_broken_off_and_is_no_fault() -> None:
    class Long(StepModel):
        def forward(self, reads: Sequence[Read]) -> list[Reading]:
            self.started.release()
            if int(reads[0].canvas[0]) == 7:
                for _ in range(500):  # passes of one long read
                    if not wanted.get()():
                        raise EngineError("nobody waits")
                    time.sleep(0.01)
            return [Reading(read.canvas[:1].astype(np.float32)) for read in reads]

    model = Long()
    passes: list[Pass] = []
    batcher = Batcher(model, 8)
    batcher.observe(passes.append)
    long = batcher.read([read(7)])
    assert model.started.acquire(timeout=5)
    after = batcher.read([read(1)])
    assert long.cancel()
    assert after.result(timeout=3)[0].scores[0] == 1
    assert [told.fault for told in passes] == [None], "what was broken off is neither a pass nor a fault"
    batcher.close()


def test_scores_that_are_not_finite_fail_their_own_call_only() -> None:
    class Odd(StepModel):
        def forward(self, reads: Sequence[Read]) -> list[Reading]:
            return [Reading(np.array([np.nan if r.canvas[0] == 7 else r.canvas[0]], np.float32)) for r in reads]

    batcher = Batcher(Odd(), 64)
    bad, good = batcher.read([read(7)]), batcher.read([read(2)])
    with pytest.raises(EngineError, match="not finite"):
        bad.result(timeout=5)
    assert good.result(timeout=5)[0].scores[0] == 2
    batcher.close()
