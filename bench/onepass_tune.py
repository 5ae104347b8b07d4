"""Block shapes of the experts' products, measured on one GPU at the released sizes: the figures behind kernels/plan.py.

    python bench/onepass_tune.py --rows 332 10624 --out tiles.json

Prints, for each number of rows and form of weights, the shapes from fastest to slowest, with achieved bytes and operations.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "src"), str(Path(__file__).resolve().parent)]

from oneread.engines.onepass.kernels.plan import ExpertTiles  # noqa: E402
from oneread.engines.onepass.kernels.steps import FusedSteps, Quantised  # noqa: E402
from oneread.engines.onepass.linear import FP8, Linear, quantise_rows  # noqa: E402
from oneread.engines.onepass.options import Options  # noqa: E402

HIDDEN, INNER, EXPERTS, K = 2816, 704, 128, 8


def stacks(fp8: bool, copies: int) -> list[tuple[Linear, Linear]]:
    """Experts of several layers, so that no run finds its weights in the cache of the last one."""
    made = []
    for _ in range(copies):
        pair = []
        for outputs, inputs in ((2 * INNER, HIDDEN), (HIDDEN, INNER)):
            weight = torch.empty(EXPERTS, outputs, inputs, dtype=torch.bfloat16, device="cuda").normal_(0, 0.02)
            if fp8:
                scale = torch.full((EXPERTS, outputs), 1 / 3000, device="cuda")
                pair.append(Linear((weight * 3000).clamp(-448, 448).to(FP8), scale))
            else:
                pair.append(Linear(weight))
        made.append((pair[0], pair[1]))
    return made


def shapes(rows: int, fp8: bool) -> list[ExpertTiles]:
    average = rows * K / EXPERTS
    blocks = [16, 32] if average <= 12 else [16, 32, 64] if average <= 48 else [64, 128]
    small = average <= 48
    found = []
    for block, depth, warps, stages, wide in itertools.product(
        blocks, (64, 128) if small else (64,), (4, 8), (2, 3, 4, 5) if small else (3, 4), (64, 128) if small else (128, 256)
    ):
        if block >= 64 and warps == 4 and not small:
            continue
        found.append(ExpertTiles(block, 64, depth, wide, 64, warps, stages, widen=fp8 and block < 64))
    return found


def time_us(steps: FusedSteps, x: Any, layers: list[tuple[Linear, Linear]], logits: torch.Tensor, reps: int) -> float:
    """Median of one layer's experts with routing's bookkeeping, as a graph replays them."""
    scale = torch.ones(EXPERTS, device="cuda", dtype=torch.bfloat16)

    class Router:
        router = staticmethod(lambda _: logits)
        expert_scale = scale

    def run() -> None:
        for gate_up, down in layers:
            chosen, shares = steps.route(logits, Router, K)  # type: ignore[arg-type]
            steps.experts(x, chosen, shares, gate_up, down)

    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    times = []
    for _ in range(reps):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(1000 * start.elapsed_time(end) / len(layers))
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[64, 332, 1024, 10624])
    parser.add_argument("--forms", nargs="+", choices=("bf16", "fp8"), default=["bf16", "fp8"])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--reps", type=int, default=9)
    args = parser.parse_args()
    results = []
    for form in args.forms:
        fp8 = form == "fp8"
        layers = stacks(fp8, 3)
        size = sum(g.nbytes + d.nbytes for g, d in layers) / len(layers)
        for rows in args.rows:
            x = torch.randn(rows, HIDDEN, device="cuda", dtype=torch.bfloat16)
            logits = torch.randn(rows, EXPERTS, device="cuda", dtype=torch.bfloat16)
            base = Options(steps="triton", attention="triton", experts="triton", activations="fp8" if fp8 else "wide")
            found = []
            for tiles in shapes(rows, fp8):
                steps = FusedSteps(base, torch.tensor([rows], dtype=torch.int32, device="cuda"))
                steps.totals = torch.zeros(EXPERTS, dtype=torch.int32, device="cuda")
                steps.tiles.few = steps.tiles.more = steps.tiles.many = tiles
                try:
                    us = time_us(steps, Quantised(*quantise_rows(x)) if fp8 else x, layers, logits, args.reps)
                except Exception as error:
                    print("  does not run:", tiles, str(error)[:100].replace("\n", " "))
                    torch.cuda.synchronize()
                    continue
                found.append((us, tiles))
            if not fp8:
                steps = FusedSteps(replace(base, experts="grouped", activations="wide"), steps.count)
                steps.totals = torch.zeros(EXPERTS, dtype=torch.int32, device="cuda")
                found.append((time_us(steps, x, layers, logits, args.reps), "torch grouped_mm"))  # type: ignore[arg-type]
            found.sort(key=lambda item: item[0])
            print(f"{form}, {rows} rows:")
            for us, tiles in found[:6] + [f for f in found[6:] if isinstance(f[1], str)]:
                flops = 2 * rows * K * 3 * HIDDEN * INNER
                print(f"  {us:9.1f} us  {size / us / 1e3:7.0f} GB/s  {flops / us / 1e6:6.0f} TF/s  {tiles}")
            named = [{"us": us, "tiles": t if isinstance(t, str) else asdict(t)} for us, t in found]
            results.append({"form": form, "rows": rows, "found": named})
            if args.out:
                args.out.write_text(json.dumps(results, indent=1))
        del layers
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
