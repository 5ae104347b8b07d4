"""How the one-pass engine's kernels are timed, and compiled beforehand."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch


def graph_us(run: Callable[[], object], launches: int, reps: int) -> float:
    """Microseconds of one of the launches that a run makes: the median over replays of a graph of it, the first left out."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    times = []
    for index in range(reps + 1):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        if index:
            times.append(1000 * start.elapsed_time(end) / launches)
    return statistics.median(times)


def compile_apart(script: str, arguments: list[str], processes: int) -> None:
    """Run a script so many times side by side, each with `--compile` and its part of the kernels."""
    begun = time.perf_counter()
    command = [sys.executable, script, *arguments, "--compile"]
    workers = [subprocess.Popen([*command, str(n), str(processes)]) for n in range(processes)]
    for worker in workers:
        worker.wait()
    print(f"compiled in {time.perf_counter() - begun:.0f} s", flush=True)
