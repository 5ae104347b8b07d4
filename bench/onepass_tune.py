"""Block shapes of the experts' products, measured on one GPU at the released sizes: the figures behind kernels/plan.py.

    python bench/onepass_tune.py --out tiles.json
    python bench/onepass_gpu.py --tiles tiles.json        the table with these shapes instead of plan.py's

For each form of weights and rows and each number of rows, both products are timed alone in every shape, as graphs replay
them, over several layers so that none finds its weights in the cache. The best of each that share a block, and how it joins,
make the choice.
Kernels are compiled first, by many processes side by side.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "src"), str(Path(__file__).resolve().parent)]

from onepass_timing import compile_apart, graph_us  # noqa: E402

from oneread.engines.onepass.kernels.experts import Quantised, sort_pairs  # noqa: E402
from oneread.engines.onepass.kernels.hopper import lacks  # noqa: E402
from oneread.engines.onepass.kernels.packed import LIFT  # noqa: E402
from oneread.engines.onepass.kernels.plan import ExpertTiles  # noqa: E402
from oneread.engines.onepass.kernels.steps import FusedSteps  # noqa: E402
from oneread.engines.onepass.linear import FP8, Linear, in_12_bits, quantise_rows  # noqa: E402
from oneread.engines.onepass.options import Options  # noqa: E402

HIDDEN, INNER, EXPERTS, K = 2816, 704, 128, 8
SHARED = 227 * 1024
CLASSES = {64: 8.0, 384: 28.0, 640: 56.0, 4224: 350.0, 10624: float("inf")}
"""Rows that are measured, and up to how many pairs an expert on average their shapes are then used; plan.py has finer ones."""
FORMS = {"bf16": "wide", "12 bits": "packed", "fp8": "fp8"}
"""Forms of weights and rows, and what `plan.Tiles` calls their shapes."""
JOINS = (16, 32)
Timed = tuple[float, ExpertTiles]
"""Microseconds, and the shapes that took them."""
BLOCKS = {64: (16,), 384: (32,), 640: (32, 64, 128), 4224: (64, 128), 10624: (128, 256)}


def ways(block: int) -> list[dict[str, bool]]:
    """How a product is laid out: weights left where a block of pairs is too small for the matrix unit's left side."""
    return [{}] if block >= 64 else [{"swap": True}]


def packed_shapes(block: int) -> list[ExpertTiles]:
    """Of both products over weights of 12 bits. Depths count pairs of inputs."""
    shapes = itertools.product((32, 64), (2, 3, 4, 5), (1, 8) if block >= 128 else (1,))
    return [
        ExpertTiles(block, depth=depth, stages=stages, group=group, wide=64, down_depth=32, down_stages=stages)
        for depth, stages, group in shapes
        if block <= 128
    ]


def gate_up_shapes(block: int, form: str) -> list[ExpertTiles]:
    if form == "12 bits":
        return packed_shapes(block)
    fp8, found = form == "fp8", list[ExpertTiles]()
    element = 1 if fp8 else 2
    for way in ways(block):
        gates = (64,) if block < 32 else (64, 128)
        depths = ((128, 256) if fp8 else (64, 128)) if block < 128 else ((128,) if fp8 else (64,))
        for gated, depth, warps, stages in itertools.product(gates, depths, (4, 8), (2, 3, 4, 5)):
            used = (block + 2 * gated) * depth * element * stages
            if used > SHARED or used < 48 * 1024 or (way.get("swap") and warps == 8) or (block >= 128 and warps == 4):
                continue
            if block * gated > 128 * 128:
                continue
            shape = ExpertTiles(block, gated, depth, warps, stages, halve=block >= 128, **way)
            found.append(shape)
            if block >= 128 and stages > 2:
                found += [replace(shape, tma=t, merge=m) for t, m in ((True, False), (False, True), (True, True))]
                if block * gated == 128 * 128 and stages == 4:
                    found.append(replace(shape, group=8))
                    found += [replace(shape, group=8, tma=True, merge=True, join=j) for j in (0, *JOINS)]
            elif block < 64 and stages > 2:
                found.append(replace(shape, tma=True))
            elif block == 64 and stages > 3:
                found.append(replace(shape, merge=True))
    return found


def down_shapes(block: int, form: str) -> list[ExpertTiles]:
    if form == "12 bits":
        return [shape for shape in packed_shapes(block) if shape.depth == 32 and shape.group == 1]
    fp8, found = form == "fp8", list[ExpertTiles]()
    element = 1 if fp8 else 2
    for way in ways(block):
        depths = (64, 128) if fp8 else (64,)
        for wide, depth, warps, stages in itertools.product((64, 128, 256), depths, (4, 8), (2, 3, 4, 6)):
            used = (block + wide) * depth * element * stages
            if (
                used > SHARED
                or (wide == 256 and block < 128 and not (fp8 and block == 32))
                or (wide == 64 and block >= 64)
                or (block >= 128 and warps == 4)
            ):
                continue
            if block * wide > 128 * 256 or (way.get("swap") and warps == 8 and wide == 64):
                continue
            own = {f"down_{name}": value for name, value in way.items()}
            shape = {"wide": wide, "down_depth": depth, "down_warps": warps, "down_stages": stages, "halve": block >= 128}
            found.append(ExpertTiles(block, **shape, **own))
            if block != 64 and stages > 2:
                found.append(replace(found[-1], down_tma=True))
                if block >= 128:
                    found += [
                        replace(found[-1], merge=True, join=j) for j in JOINS if used + j * depth * element * stages <= SHARED
                    ]
    if fp8 and block == 128 and lacks(torch.device("cuda")) is None:
        found.append(replace(found[0], stationary=True))  # which has shapes of its own
    return found


def stacks(form: str, layers: int, experts: int) -> list[tuple[Linear, Linear]]:
    made = []
    for _ in range(layers):
        pair = []
        for outputs, inputs in ((2 * INNER, HIDDEN), (HIDDEN, INNER)):
            weight = torch.empty(experts, outputs, inputs, dtype=torch.bfloat16, device="cuda").normal_(0, 0.02)
            if form == "fp8":
                scale = torch.full((experts, outputs), 1 / 3000, device="cuda")
                pair.append(Linear((weight * 3000).clamp(-448, 448).to(FP8), scale))
            else:
                pair.append(in_12_bits(weight) if form == "12 bits" else Linear(weight))
        made.append((pair[0], pair[1]))
    return made


def steps_of(rows: int, fp8: bool, experts: int) -> FusedSteps:
    options = Options(steps="triton", attention="triton", experts="triton", activations="fp8" if fp8 else "wide")
    steps = FusedSteps(options, torch.tensor([rows], dtype=torch.int32, device="cuda"))
    steps.totals = torch.zeros((1, experts), dtype=torch.int32, device="cuda")
    return steps


class Case:
    """Rows with their routing, and the two products over them in any shape."""

    def __init__(self, rows: int, form: str, layers: list[tuple[Linear, Linear]]) -> None:
        fp8, experts = form == "fp8", len(layers[0][0].weight)
        self.layers, self.steps, self.rows = layers, steps_of(rows, fp8, experts), rows
        x = torch.randn(rows, HIDDEN, device="cuda", dtype=torch.bfloat16)
        between = torch.randn(rows * K * 2 + 256 * experts, INNER, device="cuda", dtype=torch.bfloat16)
        if form == "12 bits":
            x, between = x * LIFT, between * LIFT
        self.x: Any = Quantised(*quantise_rows(x)) if fp8 else x
        self.between: Any = Quantised(*quantise_rows(between)) if fp8 else between
        logits = torch.randn(rows, experts, device="cuda", dtype=torch.bfloat16)

        class Router:
            router = staticmethod(lambda _: logits)
            expert_scale = torch.ones(experts, device="cuda", dtype=torch.bfloat16)

        self.chosen, self.shares = self.steps.route(logits, Router, K)  # type: ignore[arg-type]
        self.orders: dict[int, Any] = {}

    def order(self, block: int) -> Any:
        if block not in self.orders:
            self.orders[block] = sort_pairs(self.chosen, self.steps.ranks, self.steps.totals[0], block)
        return self.orders[block]

    def gate_up(self, t: ExpertTiles) -> torch.Tensor:
        for weight, _ in self.layers:
            out = self.steps.products.gate_up(self.x, self.order(t.block), K, weight, t)
        return out

    def down(self, t: ExpertTiles) -> torch.Tensor:
        for _, weight in self.layers:
            out = self.steps.products.down(self.between, self.order(t.block), self.shares, weight, t)
        return out

    def written(self, name: str, block: int, out: torch.Tensor) -> torch.Tensor:
        """What a product must have written of its output. The first one leaves places open that no pair takes."""
        if name == "down":
            return out
        place = torch.arange(len(out), device="cuda")
        return out[place < self.order(block).limits[place // block]]


def compile_part(form: str, blocks: list[int], part: int, parts: int) -> None:
    """Compile every parts-th shape, with few experts: sizes of stacks are part of one kernel only."""
    case = Case(16, form, stacks(form, 1, K))
    jobs = [(case.gate_up, t) for b in blocks for t in gate_up_shapes(b, form)]
    jobs += [(case.down, t) for b in blocks for t in down_shapes(b, form)]
    for run, tiles in jobs[part::parts]:
        try:
            run(tiles)
        except Exception as error:
            print("  does not compile:", tiles, str(error)[:80].replace("\n", " "), flush=True)


def faster(best: dict[str, Timed]) -> Timed:
    """Of the second product's best shapes: weights streamed, or where they were measured, weights that stay."""
    return min(best["down"], best.get("stationary", best["down"]), key=lambda item: item[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", choices=CLASSES, default=list(CLASSES))
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--processes", type=int, default=12, help="that compile")
    parser.add_argument("--seconds", type=float, default=600, help="no new number of rows is begun after this long")
    parser.add_argument("--compile", nargs=2, type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    begun = time.perf_counter()
    blocks = sorted({b for r in args.rows for b in BLOCKS[r]})
    if args.compile:
        for form in args.forms:
            compile_part(form, blocks, *args.compile)
        return
    compile_apart(__file__, ["--forms", *args.forms, "--rows", *map(str, args.rows)], args.processes)
    chosen: dict[str, list[Any]] = {kind: [] for kind in FORMS.values()}
    measured = []
    experts = {form: stacks(form, 3, EXPERTS) for form in args.forms}
    for rows, form in itertools.product(args.rows, args.forms):
        layers = experts[form]
        if time.perf_counter() - begun > args.seconds:
            print(f"no time was left for {form}, {rows} rows", flush=True)
            continue
        case = Case(rows, form, layers)
        best: dict[tuple[int, int], dict[str, Timed]] = {}
        for block in BLOCKS[rows]:
            for name, run, shapes in (("gate_up", case.gate_up, gate_up_shapes), ("down", case.down, down_shapes)):
                found: list[Timed] = []
                want: Any = None
                for tiles in shapes(block, form):
                    try:
                        got = case.written(name, block, run(tiles)).float()
                        want = got if want is None else want
                        error = float((got - want).norm() / want.norm())
                        if not error < 0.01:
                            print(f"  WRONG by {error:.3f}: {form} {rows} {name} {tiles}", flush=True)
                            continue
                        found.append((graph_us(lambda r=run, t=tiles: r(t), len(layers), args.reps), tiles))
                    except Exception as error:
                        print("  does not run:", name, tiles, str(error)[:80].replace("\n", " "), flush=True)
                        torch.cuda.synchronize()
                found.sort(key=lambda item: item[0])
                nbytes = sum(pair[name == "down"].nbytes for pair in layers) / len(layers)
                flops = 2 * rows * K * HIDDEN * INNER * (1 if name == "down" else 2)
                shown = {item[1]: item for item in found[:4]}
                for choice in ("tma", "down_tma", "merge", "group", "join", "stationary"):
                    # And the best without it.
                    without = (item for item in found if getattr(item[1], choice) == getattr(ExpertTiles(16), choice))
                    shown |= {item[1]: item for item in itertools.islice(without, 1)}
                for us, tiles in shown.values():
                    rates = f"{nbytes / us / 1e3:6.0f} GB/s {flops / us / 1e6:5.0f} TF/s"
                    print(f"  {form} {rows:5} {name:7} {us:8.1f} us {rates}  {tiles}", flush=True)
                measured += [{"form": form, "rows": rows, "product": name, "us": us, "tiles": asdict(t)} for us, t in found]
                for item in reversed(found):
                    best.setdefault((block, item[1].join), {})["stationary" if item[1].stationary else name] = item
        whole = [b for b in best.values() if {"gate_up", "down"} <= b.keys()]
        if whole:
            both = min(whole, key=lambda b: b["gate_up"][0] + faster(b)[0])
            (up_us, up), (_, down), (down_us, second) = both["gate_up"], both["down"], faster(both)
            # Its shapes are for where weights do not stay.
            names = ("wide", "down_depth", "down_warps", "down_stages", "down_swap", "down_tma")
            tiles = replace(up, **{name: getattr(down, name) for name in names}, stationary=second.stationary)
            chosen[FORMS[form]].append([CLASSES[rows], asdict(tiles)])
            chosen[FORMS[form]].sort(key=lambda item: item[0])
            print(f"{form}, {rows} rows: {up_us + down_us:.1f} us a layer: {tiles}", flush=True)
        if args.out:
            args.out.write_text(json.dumps({"chosen": chosen, "measured": measured}, indent=1))


if __name__ == "__main__":
    main()
