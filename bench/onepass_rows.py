"""The rows of bench/onepass_gpu.py, measured in a process of their own: one weight form, one row after another.

A row that raises costs only itself. After a fault of the device, which spoils the process, it ends; the caller starts
another for the rows that are left. Results go to a file, one JSON object a line: when a row begins, and what it gave.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "src"), str(Path(__file__).resolve().parent)]

from onepass_check import check  # noqa: E402
from onepass_model import (  # noqa: E402
    TINY,
    active_parameters,
    bytes_read,
    config_of,
    packed_experts,
    random_weights,
    weight_bytes,
)
from onepass_transformers import random_model, two_sweeps  # noqa: E402

from oneread.engines.base import Read, Slot  # noqa: E402
from oneread.engines.onepass.engine import OnePassModel  # noqa: E402
from oneread.engines.onepass.kernels.plan import takes_packed  # noqa: E402
from oneread.engines.onepass.linear import FP8  # noqa: E402
from oneread.engines.onepass.options import ExpertBits, Form, Options  # noqa: E402
from oneread.engines.onepass.packing import pack_reads  # noqa: E402
from oneread.engines.onepass.prefix import PrefixCache  # noqa: E402
from oneread.engines.onepass.transfer import Sizes, write_block  # noqa: E402

ENGINE_ROWS = ("one", "many", "cached", "draws", "two passes", "profile one", "profile many", "profile cached")
VARIANTS: dict[str, dict[str, Any]] = {
    "no graphs": {"graphs": False},
    "one stream": {"overlap": "none"},
    "dense beside the routing": {"overlap": "routing"},
    "experts by torch grouped_mm": {"experts": "grouped"},
    "attention by sdpa with a mask": {"attention": "sdpa"},
    "attention by FlexAttention": {"attention": "flex", "graphs": False},
    "plain torch steps": {"steps": "torch", "attention": "sdpa", "experts": "grouped", "graphs": False},
}
BITS: dict[str, ExpertBits] = {"12 bits": 12, "both": "12+16", "bf16 in 12 bits": 12, "bf16 in both": "12+16"}
"""Of the experts' weights, by group and by row of "check"; elsewhere 16."""
ROWS = {
    "ceilings": ("copy", "bf16 products", "fp8 products"),
    "check": ("bf16", "bf16 in 12 bits", "bf16 in both", "fp8 weights", "fp8 weights and rows"),
    "bf16": ENGINE_ROWS,
    "12 bits": ENGINE_ROWS,
    "both": ENGINE_ROWS,
    "fp8": ENGINE_ROWS,
    "variants": tuple(f"{name}, {size}" for name in VARIANTS for size in ("one", "many")),
    "variants fp8": tuple(f"{name}, {size}" for name in ("one stream", "dense beside the routing") for size in ("one", "many")),
    "transformers": ("one", "many"),
}
KINDS = {
    "experts": ("gate_up_kernel", "down_kernel", "stationary_kernel", "grouped"),
    "attention": ("attend_kernel", "fetch_kernel", "visits_kernel", "flash", "fmha", "flex"),
    "routing": ("logits_kernel", "choose_kernel", "place_kernel"),
    "norms, gating, rotation": ("norm_kernel", "gated_kernel", "after_", "quantise_", "heads_kernel"),
    "dense products": ("nvjet", "gemm", "cutlass", "cublas", "splitK"),
    "copies": ("Memcpy", "Memset"),
}


class Rows:
    """One group's rows. Times are medians of calls as a batcher makes them: packing, transfers and waiting included."""

    def __init__(self, group: str, reps: int, dry: bool, tiles: dict[str, Any]) -> None:
        self.group, self.dry, self.tiles = group, dry, tiles
        self.device = torch.device("cpu" if dry else "cuda")
        self.dtype = torch.float32 if dry and group not in BITS else torch.bfloat16
        self.config = config_of(**({**TINY, "num_hidden_layers": 6} if dry else {}))
        self.reps = 2 if dry else reps
        self.prompt, self.canvas, self.schema, self.count = (60, 8, 32, 4) if dry else (300, 32, 200, 32)
        self.rng = np.random.default_rng(0)
        self.weights: Any = None
        self.model: Any = None

    def run(self, row: str) -> dict[str, Any]:
        if self.group == "ceilings":
            return self.ceiling(row)
        if self.group == "check":
            form: Form = "plain" if row.startswith("bf16") else "fp8"
            options, bits = self.options(row.endswith("rows"), form), BITS.get(row, 16)
            return check(form, bits, options, self.device, self.dtype if bits == 16 else torch.bfloat16, self.dry)
        if self.group == "transformers":
            return self.transformers(self.count if row == "many" else 1)
        if self.weights is None:
            start = time.perf_counter()
            self.weights = random_weights(self.config, self.form(), self.device, self.dtype)
            if self.group in BITS:
                self.weights = packed_experts(self.weights, BITS[self.group] == "12+16")
            if self.device.type == "cuda":
                torch.cuda.reset_peak_memory_stats()  # of what the weights were made from
            self.sync()
            print(f"  weights: {time.perf_counter() - start:.1f} s", flush=True)
        if self.group.startswith("variants"):
            name, size = row.rsplit(", ", 1)
            return self.uncached(self.engine(**VARIANTS[name]), self.count if size == "many" else 1)
        if row.startswith("profile"):
            return self.profile(row.split()[1])
        if row == "cached":
            return self.cached()
        if row == "draws":
            return self.draws()
        if row == "two passes":
            return self.two_passes()
        return self.uncached(self.engine(), self.count if row == "many" else 1)

    def form(self) -> Form:
        return "fp8" if self.group.endswith("fp8") else "plain"

    def options(self, fp8_rows: bool, form: str) -> Options:
        if self.dry:
            return Options(rows=1024, kv_bytes=2**24)
        chosen = replace(Options.for_cuda("fp8" if form == "fp8" else "plain"), warm_rows=())
        return chosen if fp8_rows or form == "plain" else replace(chosen, activations="wide")

    def engine(self, cache: bool = False, **changes: Any) -> OnePassModel:
        options = self.options(True, self.form())
        if self.dry:
            changes = {}
        # The form of the experts shows in the weights.
        options = replace(options, **changes, kv_bytes=options.kv_bytes if cache else 0)
        made = OnePassModel(self.weights, options)
        own: Any = getattr(made._steps, "tiles", None)
        if own is not None:
            from oneread.engines.onepass.kernels.plan import ExpertTiles

            for form, classes in self.tiles.items():
                if classes:
                    # plan.py's own follow, for what was not measured.
                    measured = tuple((most, ExpertTiles(**shape)) for most, shape in classes)
                    setattr(own, form, measured + getattr(own, form))
        return made

    def sync(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def medians(self, *runs: Callable[[], Any], reps: int | None = None, warm: int = 3) -> list[float]:
        """Milliseconds of each, taken in turn."""
        times: list[list[float]] = [[] for _ in runs]
        warm = 1 if self.dry else warm
        for index in range((reps or self.reps) + warm):
            for run, kept in zip(runs, times, strict=True):
                self.sync()
                start = time.perf_counter()
                run()
                self.sync()
                if index >= warm:
                    kept.append(1000 * (time.perf_counter() - start))
        return [statistics.median(kept) for kept in times]

    def tokens(self, count: int) -> np.ndarray:
        return self.rng.integers(8, self.config.vocab, count).astype(np.int32)

    def read(self, prompt: np.ndarray | None = None) -> Read:
        """A read of fresh random tokens, with four slots of four labels."""
        slots = tuple(Slot(p, tuple(int(i) for i in self.rng.integers(0, self.config.vocab, 4))) for p in range(0, 8, 2))
        return Read(self.tokens(self.canvas), slots, self.tokens(self.prompt) if prompt is None else prompt)

    def ceiling(self, row: str) -> dict[str, Any]:
        """What the card can do."""
        side, size = (256, 2**20) if self.dry else (8192, 2**32)
        if row == "copy":
            source = torch.randint(0, 255, (size,), dtype=torch.uint8, device=self.device)
            target = torch.empty_like(source)
            (ms,) = self.medians(lambda: target.copy_(source))
            return {"gbytes_per_s": 2 * size / ms / 1e6}
        a, b = (torch.randn(side, side, device=self.device, dtype=self.dtype) for _ in range(2))
        run: Callable[[], Any] = lambda: a @ b  # noqa: E731
        if row == "fp8 products" and not self.dry:
            one, x, y = torch.ones(side, 1, device=self.device), a.to(FP8), b.to(FP8)
            run = lambda: torch._scaled_mm(  # noqa: E731
                x, y.t(), scale_a=one, scale_b=one.t(), out_dtype=torch.bfloat16, use_fast_accum=True
            )
        (ms,) = self.medians(run)
        return {"tflops": 2 * side**3 / ms / 1e9}

    def figures(self, ms: float, reads: int, rows: int, note: str = "") -> dict[str, Any]:
        """A row of the table, with the bytes and operations that the work needs at least."""
        few = takes_packed(rows, self.config.experts_per_token, self.config.experts)
        moved = weight_bytes(self.weights, few) + rows * self.config.kv_row_bytes(self.weights.embedding.element_size()) * 2
        # The last layer's rows are the slots, for which few of its experts are read.
        slots, last = 4 * reads, len(self.weights.layers) - 1
        layer = self.weights.layers[last]
        experts = bytes_read(layer.experts_gate_up, few) + bytes_read(layer.experts_down, few)
        moved -= int(experts * max(0.0, 1 - slots * self.config.experts_per_token / self.config.experts))
        before, whole = active_parameters(self.config, last), active_parameters(self.config)
        operations = 2 * (before * rows + (whole - before + self.config.vocab * self.config.hidden) * slots)
        peak = torch.cuda.max_memory_allocated() / 1e9 if self.device.type == "cuda" else None
        rates = {"gbytes_per_s": moved / ms / 1e6, "tflops": operations / ms / 1e9, "peak_gb": peak}
        return {"ms": ms, "decisions_per_s": 1000 * reads / ms, **rates, "note": note}

    def uncached(self, engine: OnePassModel, count: int) -> dict[str, Any]:
        reps = self.reps if count == 1 else max(3, self.reps // 3)
        made = iter([[self.read() for _ in range(count)] for _ in range(reps + 4)])
        (ms,) = self.medians(lambda: engine.forward(next(made)), reps=reps)
        return self.figures(ms, count, count * (self.prompt + self.canvas))

    def with_schema(self, schema: np.ndarray) -> list[Read]:
        left = self.prompt - self.schema
        return [self.read(np.concatenate([schema, self.tokens(left)])) for _ in range(self.count)]

    def cached(self) -> dict[str, Any]:
        engine, schema = self.engine(cache=True), self.tokens(self.schema)
        reps = max(3, self.reps // 2)
        made = iter([self.with_schema(schema) for _ in range(reps + 5)])
        engine.forward(next(made))
        hits = engine.prefix_stats.hits
        (ms,) = self.medians(lambda: engine.forward(next(made)), reps=reps)
        per_read = (engine.prefix_stats.hits - hits) / (self.count * (reps + (1 if self.dry else 3)))
        rows = self.count * (self.prompt - self.schema + self.canvas)
        return self.figures(ms, self.count, rows, f"{per_read:.0f} tokens of a read found cached")

    def draws(self) -> dict[str, Any]:
        engine = self.engine()

        def draw(count: int) -> Callable[[], Any]:
            made = iter([[self.read(prompt) for _ in range(count)] for prompt in (self.tokens(self.prompt) for _ in range(60))])
            return lambda: engine.forward(next(made))

        one, eight = self.medians(draw(1), draw(8))
        note = f"{eight / one:.2f}x one draw ({one:.2f} ms)"
        return self.figures(eight, 8, self.prompt + 8 * self.canvas, note) | {"ratio": eight / one}

    def two_passes(self) -> dict[str, Any]:
        engine = self.engine(cache=True)
        whole, parts = (iter([self.read() for _ in range(60)]) for _ in range(2))

        def split() -> None:
            read = next(parts)
            engine.forward([replace(read, canvas=read.canvas[:0], slots=())])
            engine.forward([read])

        fused, two = self.medians(lambda: engine.forward([next(whole)]), split)
        note = f"fused {fused:.2f} ms is {two / fused:.2f}x faster"
        return self.figures(two, 1, self.prompt + self.canvas, note) | {"ratio": two / fused}

    def profile(self, row: str) -> dict[str, Any]:
        """Device time of one call by kind of kernel and by kernel, ms; and the call's own time."""
        engine = self.engine(cache=row == "cached")
        schema = self.tokens(self.schema)
        make = {
            "one": lambda: [self.read()],
            "many": lambda: [self.read() for _ in range(self.count)],
            "cached": lambda: self.with_schema(schema),
        }[row]
        for _ in range(5):  # large sizes are captured as a graph when they come for the fourth time
            engine.forward(make())
        reads = make()
        host = self.host(engine, reads)
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CPU if self.dry else ProfilerActivity.CUDA]) as found:
            start = time.perf_counter()
            engine.forward(reads)
            self.sync()
            wall = 1000 * (time.perf_counter() - start)
        kernels: dict[str, float] = {}
        kinds: dict[str, float] = {}
        for event in found.key_averages():
            spent = getattr(event, "self_device_time_total", 0) / 1000
            if spent <= 0:
                continue
            kernels[event.key[:90]] = kernels.get(event.key[:90], 0.0) + spent
            kind = next((k for k, names in KINDS.items() if any(n in event.key for n in names)), "other")
            kinds[kind] = kinds.get(kind, 0.0) + spent
        rank = lambda d, n: dict(sorted(d.items(), key=lambda item: -item[1])[:n])  # noqa: E731
        spent = {"wall_ms": wall, "device_ms": sum(kernels.values()), "host_ms": host}
        return {**spent, "kinds": rank(kinds, 9), "kernels": rank(kernels, 16)}

    def host(self, engine: OnePassModel, reads: list[Read]) -> float:
        """What laying the reads into a block takes on the host, before the device can begin; ms."""
        cache, block = PrefixCache(0), np.empty(2**22, np.int32)

        def lay() -> None:
            pack = pack_reads(reads, cache, engine._layout)
            write_block(pack, Sizes.of(pack), 0, block)

        return self.medians(lay, reps=5)[0]

    def transformers(self, count: int) -> dict[str, Any]:
        if self.model is None:
            self.model = random_model(self.device, self.dtype, self.dry)
        shape = (count, self.prompt), (count, self.canvas)
        prompts, canvases = (torch.randint(8, self.config.vocab, s, device=self.device) for s in shape)
        (ms,) = self.medians(lambda: two_sweeps(self.model, prompts, canvases), reps=max(3, self.reps // 4), warm=2)
        return {"ms": ms, "decisions_per_s": 1000 * count / ms}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("group", choices=ROWS)
    parser.add_argument("rows", nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--reps", type=int, default=20)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--tiles", type=Path)
    args = parser.parse_args()
    tiles = json.loads(args.tiles.read_text())["chosen"] if args.tiles and args.tiles.exists() else {}
    rows = Rows(args.group, args.reps, args.dry_run, tiles)

    def tell(**line: Any) -> None:
        with args.out.open("a") as file:
            file.write(json.dumps({"group": args.group, **line}) + "\n")

    for row in args.rows:
        tell(row=row, state="begun")
        start = time.perf_counter()
        try:
            gc.collect()
            if rows.device.type == "cuda":
                torch.cuda.empty_cache()
                torch.cuda.reset_peak_memory_stats()
            found = rows.run(row)
            tell(row=row, state="done", seconds=time.perf_counter() - start, **found)
            print(f"  {args.group}, {row}: {json.dumps(found)[:900]} [{time.perf_counter() - start:.1f} s]", flush=True)
        except Exception as error:
            traceback.print_exc()
            sys.stderr.flush()
            tell(row=row, state="failed", error=f"{type(error).__name__}: {str(error)[:400]}")
            try:
                rows.sync()
            except Exception:
                print("  the device is lost to this process", flush=True)
                os._exit(3)


if __name__ == "__main__":
    main()
