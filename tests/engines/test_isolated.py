"""A model in its own process: killed, hung, raising or impossible to make."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from oneread.engines.batcher import Batcher
from oneread.engines.isolated import IsolatedModel
from oneread.engines.load import Gauges
from oneread.engines.startup import Step, hearer
from oneread.errors import EngineError, ReaderError

from .models import CRASH, HANG, RAISE, FragileModel, no_model, read, slow_model


@pytest.fixture(scope="module")
def model() -> Iterator[IsolatedModel]:
    model = IsolatedModel(FragileModel, FragileModel().bucket, pass_timeout_s=1.0)
    yield model
    model.close()


@pytest.fixture
def working(model: IsolatedModel) -> IsolatedModel:
    assert [float(r.scores[0]) for r in model.forward([read(4), read(5)])] == [4, 5]
    return model


def test_a_crash_in_a_pass_fails_that_pass_only(working: IsolatedModel) -> None:
    restarts = working.restarts
    with pytest.raises(EngineError, match="process died"):
        working.forward([read(CRASH)])
    assert float(working.forward([read(7)])[0].scores[0]) == 7
    assert working.restarts == restarts + 1


def test_a_death_between_passes_goes_unnoticed(working: IsolatedModel) -> None:
    assert working.pid is not None
    os.kill(working.pid, signal.SIGKILL)
    time.sleep(0.2)
    assert float(working.forward([read(7)])[0].scores[0]) == 7


def test_a_hang_ends_after_the_time_of_a_pass(working: IsolatedModel) -> None:
    start = time.monotonic()
    with pytest.raises(EngineError, match="within 1 s"):
        working.forward([read(HANG)])
    assert time.monotonic() - start < 5
    assert float(working.forward([read(8)])[0].scores[0]) == 8


def test_what_the_model_raises_costs_no_restart_and_is_not_repeated(working: IsolatedModel) -> None:
    restarts = working.restarts
    with pytest.raises(EngineError, match="A pass failed with ValueError") as raised:
        working.forward([read(RAISE)])
    assert "planted" not in str(raised.value)
    assert working.restarts == restarts


def test_a_model_that_cannot_be_made_is_a_readers_error() -> None:
    with pytest.raises(ReaderError, match="Making the model failed: RuntimeError"):
        IsolatedModel(no_model, FragileModel().bucket)


def test_a_batcher_lives_through_a_crash() -> None:
    batcher = Batcher(IsolatedModel(FragileModel, FragileModel().bucket, 5.0), 64)
    try:
        with pytest.raises(EngineError, match="process died"):
            batcher.read([read(CRASH)]).result(10)
        assert len(batcher.read([read(1)] * 30).result(10)) == 30
        assert batcher.load().restarts == 1
        rate = batcher.load().tokens_per_s
        assert rate is not None
        assert rate > 100  # the seconds of the restart are no reading time
    finally:
        batcher.close()


def test_a_process_that_forgets_to_close_still_ends() -> None:
    code = (
        "from oneread.engines.isolated import IsolatedModel\n"
        "from tests.engines.models import FragileModel\n"
        "model = IsolatedModel(FragileModel, FragileModel().bucket)\n"
        "raise SystemExit(7)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=30, check=False).returncode == 7


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at /proc")
def test_a_child_ends_with_its_parent() -> None:
    code = (
        "import os, time\n"
        "from oneread.engines.isolated import IsolatedModel\n"
        "from tests.engines.models import FragileModel\n"
        "model = IsolatedModel(FragileModel, FragileModel().bucket)\n"
        "print(model.pid, flush=True)\n"
        "time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    end = time.monotonic() + 10
    while Path(f"/proc/{child}/cmdline").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path(f"/proc/{child}/cmdline").exists()


def test_its_memory_is_told_across_the_pipe(working: IsolatedModel) -> None:
    assert Batcher(working, 8).gauges() == working.gauges() == Gauges(held=1000, kv=2, kv_room=64)  # 2 reads in its last pass


def test_the_steps_of_its_start_cross_the_pipe() -> None:
    steps: list[Step] = []
    token = hearer.set(steps.append)
    try:
        model = IsolatedModel(slow_model, FragileModel().bucket)
    finally:
        hearer.reset(token)
    model.close()
    assert steps == [Step("loading weights", done, 3) for done in range(3)]
