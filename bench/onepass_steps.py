"""The row kernels of the one-pass engine, each alone at the released sizes, beside other ways to write them.

    python bench/onepass_steps.py                      about a minute on one GPU
    python bench/onepass_steps.py --rows 4224 --forms bf16

Times are of one launch among many in a graph. Of 4,224 rows or more, launches take turns over several sets of tensors, so
that none finds its rows in the cache; 332 rows do, as in a pass. GB/s counts each row read and written once; the copy's
speed is printed first. `now` is the engine's kernel as it launches it; the best of the others follow it.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import torch
import triton

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "src"), str(Path(__file__).resolve().parent)]

import onepass_variants as variants  # noqa: E402
from onepass_timing import compile_apart, graph_us  # noqa: E402

from oneread.engines.onepass.kernels import heads, norms, routing  # noqa: E402
from oneread.engines.onepass.kernels.attention import WIDE_HEADS  # noqa: E402
from oneread.engines.onepass.kernels.steps import CHOOSING, ROUTED  # noqa: E402
from oneread.engines.onepass.linear import FP8  # noqa: E402

CUDA = os.environ.get("TRITON_INTERPRET") != "1"
DEVICE = "cuda" if CUDA else "cpu"
DTYPE = torch.bfloat16 if CUDA else torch.float32
HIDDEN, DENSE, INNER, EXPERTS, K = (2816, 2112, 704, 128, 8) if CUDA else (176, 132, 44, 8, 2)
HEADS = {"sliding": (16, 8, 256), "full": (16, 2, 512)} if CUDA else {"sliding": (4, 2, 32), "full": (4, 1, 64)}
EPSILON = 1e-6
Launch = Callable[[dict[str, Any]], None]


def widths(columns: int) -> list[tuple[int, int]]:
    """Lanes of a row's first part and of its rest: one part, and the largest power of two beside what is left."""
    whole = triton.next_power_of_2(columns)
    return [(whole, 0), (whole // 2, triton.next_power_of_2(columns - whole // 2))]


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(shape, device=DEVICE, dtype=torch.float32).to(DTYPE)


def place(rows: int, columns: int, fp8: bool) -> torch.Tensor:
    return torch.zeros(rows, columns, device=DEVICE, dtype=FP8 if fp8 else DTYPE)


def scales(rows: int) -> torch.Tensor:
    return torch.zeros(rows, device=DEVICE)


class Case:
    """One kernel: its tensors (`outs` are compared), the engine's launch, and the others by name."""

    def __init__(self, make: Callable[[], dict[str, Any]], outs: list[str], now: Launch, others: dict[str, Launch]) -> None:
        self.make, self.outs, self.now, self.others = make, outs, now, others


def gated(rows: int, fp8: bool) -> Case:
    def make() -> dict[str, Any]:
        return {"x": normal(rows, 2 * DENSE), "out": place(rows, DENSE, fp8), "s": scales(rows)}

    def now(t: dict[str, Any]) -> None:
        norms.gated_kernel[(rows,)](t["x"], t["out"], t["s"], DENSE, *norms.parts(DENSE), fp8, num_warps=8)

    def other(width: int, rest: int, evict: bool, warps: int) -> Launch:
        return lambda t: variants.gated_variant[(rows,)](
            t["x"], t["out"], t["s"], DENSE, width, rest, evict, fp8, num_warps=warps
        )

    found = {
        f"{w}+{r} evict={int(e)} warps={n}": other(w, r, e, n)
        for (w, r), e, n in itertools.product(widths(DENSE), (False, True), (2, 4, 8, 16))
    }
    return Case(make, ["out", "s"], now, found)


def after_attention(rows: int, fp8: bool) -> Case:
    def make() -> dict[str, Any]:
        ins = {"x": normal(rows, HIDDEN), "a": normal(rows, HIDDEN)} | {f"w{i}": normal(HIDDEN) for i in range(4)}
        outs = {"xo": place(rows, HIDDEN, False), "do": place(rows, HIDDEN, fp8), "eo": place(rows, HIDDEN, fp8)}
        return ins | outs | {"ro": place(rows, HIDDEN, False), "ds": scales(rows), "es": scales(rows)}

    names = ("x", "a", "w0", "w1", "w2", "w3", "xo", "do", "ds", "eo", "es", "ro")

    def now(t: dict[str, Any]) -> None:
        sizes, warps = (HIDDEN, *norms.parts(HIDDEN), HIDDEN**-0.5, 1.0), 2 if fp8 else 4
        norms.after_attention_kernel[(rows,)](*(t[n] for n in names), EPSILON, *sizes, fp8, fp8, num_warps=warps)

    def other(width: int, rest: int, early: bool, evict: bool, warps: int) -> Launch:
        return lambda t: variants.after_attention_variant[(rows,)](
            *(t[n] for n in names), EPSILON, HIDDEN, width, rest, early, evict, HIDDEN**-0.5, fp8, num_warps=warps
        )

    found = {
        f"{w}+{r} early={int(y)} evict={int(e)} warps={n}": other(w, r, y, e, n)
        for (w, r), (y, e), n in itertools.product(widths(HIDDEN), ((0, 0), (1, 0), (1, 1)), (2, 4, 8, 16))
    }
    return Case(make, ["xo", "do", "ds", "eo", "es", "ro"], now, found)


def after_experts(rows: int, fp8: bool) -> Case:
    def make() -> dict[str, Any]:
        ins = {"x": normal(rows, HIDDEN), "d": normal(rows, HIDDEN), "p": normal(rows * K, HIDDEN)}
        ins |= {f"w{i}": normal(HIDDEN) for i in range(4)} | {"s0": normal(1), "s1": normal(1)}
        ins |= {"canvas": torch.arange(rows, device=DEVICE) % 4 == 0}
        ins |= {"count": torch.tensor([rows - 1], dtype=torch.int32, device=DEVICE)}
        return ins | {"xo": place(rows, HIDDEN, False), "ho": place(rows, HIDDEN, fp8), "hs": scales(rows)}

    names = ("x", "d", "p", "w0", "w1", "w2", "w3", "canvas", "s0", "s1", "xo", "ho", "hs", "count")

    def now(t: dict[str, Any]) -> None:
        sizes, warps = (HIDDEN, *norms.parts(HIDDEN), K), 8 if fp8 else 4
        norms.after_experts_kernel[(rows,)](*(t[n] for n in names), EPSILON, *sizes, False, fp8, num_warps=warps)

    def other(width: int, rest: int, early: bool, evict: bool, warps: int) -> Launch:
        return lambda t: variants.after_experts_variant[(rows,)](
            *(t[n] for n in names), EPSILON, HIDDEN, width, rest, early, evict, K, fp8, num_warps=warps
        )

    found = {
        f"{w}+{r} early={int(y)} evict={int(e)} warps={n}": other(w, r, y, e, n)
        for (w, r), (y, e), n in itertools.product(widths(HIDDEN), ((0, 0), (0, 1), (1, 0), (1, 1)), (2, 4, 8, 16))
    }
    return Case(make, ["xo", "ho", "hs"], now, found)


def turned(rows: int, kind: str) -> Case:
    count, kv, size = HEADS[kind]
    own = kind == "sliding"
    parts = count + kv * (2 if own else 1)

    def make() -> dict[str, Any]:
        positions, f = torch.arange(rows, device=DEVICE, dtype=torch.int32), torch.rand(size // 2, device=DEVICE)
        angle = positions[:, None] * f
        ins = {"qkv": normal(rows, parts * size), "qn": normal(size), "kn": normal(size), "f": f, "positions": positions}
        ins |= {"table": torch.cat([angle.cos(), angle.sin()], 1), "rows": torch.arange(rows, device=DEVICE, dtype=torch.int32)}
        outs = {name: place(rows, n * size, False) for name, n in (("q", count), ("k", kv), ("v", kv))}
        return ins | outs

    def engine(width: int, warps: int) -> Launch:
        def launch(t: dict[str, Any]) -> None:
            # No cached keys, and none to be: keys and values go side by side.
            found = (t[n] for n in ("qkv", "qn", "kn", "f", "positions", "rows", "q", "k", "v", "k", "v"))
            programs = 1 if width >= count else triton.cdiv(count, width) + 1
            heads.heads_kernel[(rows, programs)](
                *found, 0, rows, 0, EPSILON, count, kv, width, kv, size // 2, own, True, num_warps=warps
            )

        return launch

    def other(lines: int, tabled: bool, warps: int) -> Launch:
        def launch(t: dict[str, Any]) -> None:
            found = (t[n] for n in ("qkv", "qn", "kn", "f", "table", "positions", "rows", "q", "k", "v"))
            variants.heads_variant[(rows, count // lines + 1)](
                *found, 0, rows, EPSILON, count, kv, lines, size // 2, own, tabled, num_warps=warps
            )

        return launch

    now = engine(WIDE_HEADS, 2) if kind == "full" else engine(count, 4)
    found = {f"one program a row, warps={n}": engine(count, n) for n in (1, 2, 4, 8)}
    for lines, tabled, warps in itertools.product((4, 8, 16) if CUDA else (2, 4), (False, True), (1, 2, 4, 8)):
        found[f"heads a program={lines} table={int(tabled)} warps={warps}"] = other(lines, tabled, warps)
    return Case(make, ["q", "k", "v"], now, found)


def choose(rows: int) -> Case:
    def make() -> dict[str, Any]:
        ins: dict[str, Any] = {"l": normal(rows, EXPERTS), "e": normal(EXPERTS)}
        ins |= {
            "n": torch.tensor([rows], dtype=torch.int32, device=DEVICE),
            "c": torch.zeros(rows, K, dtype=torch.int32, device=DEVICE),
            "r": torch.zeros(rows, K, dtype=torch.int32, device=DEVICE),
        }
        return ins | {"s": torch.zeros(rows, K, device=DEVICE), "t": torch.zeros(EXPERTS, dtype=torch.int32, device=DEVICE)}

    def launch(lines: int, warps: int) -> Launch:
        return lambda t: routing.choose_kernel[(-(-rows // lines),)](
            t["l"], t["e"], t["n"], t["c"], t["s"], t["r"], t["t"], rows, EXPERTS, EXPERTS, K, 1, 1, lines, num_warps=warps
        )

    now = (1, 1) if rows <= ROUTED else (CHOOSING, 2)
    others = {f"lines={n} warps={w}": launch(n, w) for n, w in itertools.product((1, 2, 4, 8), (1, 2, 4)) if (n, w) != now}
    return Case(make, ["c", "s"], launch(*now), others)


def places(rows: int) -> Case:
    """The experts' gated values in FP8."""
    count = -(-rows * K // 128) * 128 + 128 * EXPERTS

    def make() -> dict[str, Any]:
        owners = torch.zeros(count // 128, dtype=torch.int32, device=DEVICE)
        return {"x": normal(count, INNER), "out": place(count, INNER, True), "s": scales(count), "o": owners}

    def launch(lines: int, warps: int) -> Launch:
        return lambda t: norms.quantise_places_kernel[(count // lines,)](
            t["x"], t["out"], t["s"], t["o"], INNER, *norms.parts(INNER), 128, lines, num_warps=warps
        )

    others = {f"lines={n} warps={w}": launch(n, w) for n, w in itertools.product((1, 2, 4, 8), (1, 2, 4)) if (n, w) != (4, 1)}
    return Case(make, ["out", "s"], launch(4, 1), others)


def time_us(launch: Launch, sets: list[dict[str, Any]], reps: int = 5) -> float:
    """Median of one launch, in a graph of many."""
    launches = max(len(sets), 24 // len(sets) * len(sets))

    def run() -> None:
        for index in range(launches):
            launch(sets[index % len(sets)])

    return graph_us(run, launches, reps)


def wrong(case: Case, got: dict[str, Any], want: dict[str, torch.Tensor]) -> str:
    """What of an output differs from the engine's kernel by more than rounding."""
    for name in case.outs:
        a, b = got[name].float(), want[name]
        error = float((a - b).norm() / b.norm().clamp_min(1e-9))
        if not error < (0.02 if got[name].dtype == FP8 else 0.004):
            return f"{name} is off by {error:.4f}"
    return ""


def measure(name: str, case: Case, rows: int, shown: int) -> None:
    made = case.make()
    nbytes = sum(t.nbytes for key, t in made.items() if not key.startswith("w") and key not in ("table", "f"))
    count = 1 if rows < 4000 else max(2, min(6, int(200e6 // nbytes) + 1))
    sets = [made, *(case.make() for _ in range(count - 1))] if CUDA else [made]
    case.now(made)
    want = {key: made[key].float().clone() for key in case.outs}
    found = []
    for label, launch in case.others.items():
        for key in case.outs:
            made[key].zero_()
        try:
            launch(made)
            problem = wrong(case, made, want)
            if problem:
                print(f"  WRONG {name} {rows} {label}: {problem}", flush=True)
            else:
                found.append((time_us(launch, sets) if CUDA else 0.0, label))
        except Exception as error:
            print(f"  does not run: {name} {label}: {str(error)[:160]}", flush=True)
    now = time_us(case.now, sets) if CUDA else 0.0
    print(f"{name:22} {rows:6} rows  now {now:7.2f} us {nbytes / max(now, 1e-9) / 1e3:6.0f} GB/s", flush=True)
    for us, label in sorted(found)[:shown]:
        gain = 100 * (1 - us / now) if now else 0.0
        print(f"{'':36} {us:7.2f} us {nbytes / max(us, 1e-9) / 1e3:6.0f} GB/s {gain:5.1f} % less  {label}", flush=True)


def cases(rows: int, forms: list[str]) -> list[tuple[str, Callable[[], Case]]]:
    found = [(f"{name} {form}", partial(make, rows, form == "fp8")) for form in forms for name, make in BY_FORM.items()]
    found += [(f"heads {kind}", partial(turned, rows, kind)) for kind in HEADS]
    last = [("places", partial(places, rows))] if "fp8" in forms else []
    return [*found, ("choose", partial(choose, rows)), *last]


def compile_part(forms: list[str], part: int, parts: int) -> None:
    """Every parts-th launch, over few rows: how many is no part of a kernel."""
    made = [(case, case.make()) for case in (make() for _, make in cases(4, forms))]
    jobs = [(launch, tensors) for case, tensors in made for launch in (case.now, *case.others.values())]
    for launch, tensors in jobs[part::parts]:
        with suppress(Exception):
            launch(tensors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[4224, 10624, 332])
    parser.add_argument("--forms", nargs="+", choices=("bf16", "fp8"), default=["bf16", "fp8"])
    parser.add_argument("--shown", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=300, help="no new kernel is begun after this long")
    parser.add_argument("--processes", type=int, default=14, help="that compile")
    parser.add_argument("--compile", nargs=2, type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    begun = time.perf_counter()
    if args.compile:
        compile_part(args.forms, *args.compile)
        return
    if CUDA:
        compile_apart(__file__, ["--forms", *args.forms], args.processes)
        source = torch.empty(2**31, dtype=torch.uint8, device=DEVICE)
        target = torch.empty_like(source)
        us = time_us(lambda t: t["to"].copy_(t["from"]), [{"from": source, "to": target}])
        print(f"copy: {2 * 2**31 / us / 1e3:.0f} GB/s", flush=True)
        del source, target
    for rows in args.rows:
        for name, make_case in cases(rows, args.forms):
            if time.perf_counter() - begun > args.seconds:
                print(f"no time was left for {name}, {rows} rows", flush=True)
                continue
            measure(name, make_case(), rows, args.shown)
            if CUDA:
                torch.cuda.empty_cache()
    print(f"done in {time.perf_counter() - begun:.0f} s", flush=True)


BY_FORM = {"gated": gated, "after_attention": after_attention, "after_experts": after_experts}

if __name__ == "__main__":
    main()
