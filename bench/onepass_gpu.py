"""The one-pass engine on one GPU: one command, one table, one JSON file. Random weights of the released sizes.

    python bench/onepass_gpu.py --out results.json               the table of docs/performance.md
    python bench/onepass_gpu.py --variants --out results.json    also every choice of kernel on its own
    python bench/onepass_gpu.py --dry-run                        the same script on a CPU with a tiny model

Accuracy is checked first, on the same kernels at reduced size against float32: nothing is timed that is wrong.
"""

from __future__ import annotations

import argparse
import gc
import inspect
import json
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "src"), str(Path(__file__).resolve().parent)]

from onepass_model import TEXT, TINY, active_parameters, config_of, random_weights, weight_bytes, widened  # noqa: E402

from oneread.engines.base import Read, Slot  # noqa: E402
from oneread.engines.onepass.diffusion_gemma import Weights  # noqa: E402
from oneread.engines.onepass.engine import OnePassModel  # noqa: E402
from oneread.engines.onepass.linear import FP8  # noqa: E402
from oneread.engines.onepass.options import Form, Options  # noqa: E402


@dataclass
class Row:
    """One line of the table. Times are medians of calls as a batcher makes them: packing, transfers and waiting included."""

    name: str
    ms: float
    goal: str = ""
    floor: str = ""
    decisions_per_s: float | None = None
    gbytes_per_s: float | None = None
    tflops: float | None = None
    peak_gb: float | None = None
    note: str = ""


class Bench:
    """Everything measured in one run."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.dry = args.dry_run
        self.device = torch.device("cpu" if self.dry else "cuda")
        self.dtype = torch.float32 if self.dry else torch.bfloat16
        self.config = config_of(**(TINY | {"num_hidden_layers": 6} if self.dry else {}))
        self.reps = 2 if self.dry else args.reps
        self.prompt, self.canvas, self.schema = (60, 8, 32) if self.dry else (300, 32, 200)
        self.many = 4 if self.dry else 32
        self.rng = np.random.default_rng(0)
        self.rows: list[Row] = []
        self.ceilings: dict[str, float] = {}
        self.accuracy: dict[str, Any] = {}
        self.profile: dict[str, Any] = {}
        self.failed: list[str] = []

    def options(self, fp8: bool = False, **changes: Any) -> Options:
        if self.dry:
            return replace(Options(rows=1024, kv_bytes=2**24), **{k: v for k, v in changes.items() if k in ("rows", "kv_bytes")})
        return replace(Options.for_cuda("fp8" if fp8 else "plain"), warm_rows=(), **changes)

    def sync(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def median_ms(self, run: Callable[[], Any], reps: int | None = None, warm: int = 3) -> float:
        times = []
        for index in range((reps or self.reps) + (1 if self.dry else warm)):
            self.sync()
            start = time.perf_counter()
            run()
            self.sync()
            if index >= (1 if self.dry else warm):
                times.append(1000 * (time.perf_counter() - start))
        return statistics.median(times)

    def read(self, prompt: np.ndarray | None = None) -> Read:
        """A read of fresh random tokens, with four slots of four labels."""
        vocab = self.config.vocab
        tokens = self.rng.integers(8, vocab, self.prompt).astype(np.int32) if prompt is None else prompt
        slots = tuple(Slot(p, tuple(int(i) for i in self.rng.integers(0, vocab, 4))) for p in range(0, 8, 2))
        return Read(self.rng.integers(8, vocab, self.canvas).astype(np.int32), slots, tokens)

    def measure_ceilings(self) -> None:
        """What the card can do: copy, and matrix products in bf16 and FP8."""
        side, size = (256, 2**20) if self.dry else (8192, 2**32)
        self.ceilings["copy_gb_s"] = 2 * size / self.copy_ms(size) / 1e6
        a, b = (torch.randn(side, side, device=self.device, dtype=self.dtype) for _ in range(2))
        self.ceilings["matmul_tflops"] = 2 * side**3 / self.median_ms(lambda: a @ b) / 1e9
        if not self.dry:
            one = torch.ones(side, 1, device=self.device)
            x, y = a.to(FP8), b.to(FP8)
            run = lambda: torch._scaled_mm(  # noqa: E731
                x, y.t(), scale_a=one, scale_b=one.t(), out_dtype=torch.bfloat16, use_fast_accum=True
            )
            self.ceilings["fp8_matmul_tflops"] = 2 * side**3 / self.median_ms(run) / 1e9

    def copy_ms(self, size: int) -> float:
        source = torch.ones(size, dtype=torch.uint8, device=self.device)
        target = torch.empty_like(source)
        return self.median_ms(lambda: target.copy_(source))

    def check(self, name: str, form: Form, options: Options, limit: float) -> bool:
        """Label log-probabilities of the fast path against float32 on the same weights, at reduced size."""
        config = config_of(
            **(TINY | {"num_hidden_layers": 6} if self.dry else {"num_hidden_layers": 6, "num_experts": 32, "vocab_size": 16384})
        )
        weights = random_weights(config, form, self.device, self.dtype)
        small, self.config = self.config, config
        try:
            rng_state = self.rng.bit_generator.state
            lengths = (5, 300, 40) if self.dry else (5, 300, 1500, 40)
            reads = [replace(self.read(), prompt=self.rng.integers(8, config.vocab, n).astype(np.int32)) for n in lengths]
            reads += [replace(self.read(), prompt=reads[1].prompt), replace(self.read(), prompt=reads[1].prompt[:200])]
            wide = OnePassModel(widened(weights), Options(rows=4096, kv_bytes=0))
            plain = OnePassModel(weights, Options(rows=4096, kv_bytes=0))
            fast = OnePassModel(weights, replace(options, rows=4096, kv_bytes=2**28))
            want = log_probabilities(wide, reads)
            errors = {
                "fast": [abs(log_probabilities(fast, reads) - want), abs(log_probabilities(fast, reads) - want)],
                "torch": [abs(log_probabilities(plain, reads) - want)],
            }
            found = {k: {"mean": float(np.mean(v)), "max": float(np.max(v))} for k, v in errors.items()}
            self.accuracy[name] = {**found, "spread": float(want.std())}
            self.rng.bit_generator.state = rng_state
            good = found["fast"]["mean"] <= limit and np.isfinite(found["fast"]["max"])
            print(f"accuracy {name}: {self.accuracy[name]} limit {limit} {'ok' if good else 'WRONG'}", flush=True)
            return bool(good)
        finally:
            self.config = small
            self.free()

    def free(self) -> None:
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()

    def add(
        self, name: str, ms: float, reads: int, rows: int, weights: Weights, goal: str = "", floor: str = "", note: str = ""
    ) -> Row:
        """A row, with the bytes and operations that the work needs at least."""
        heads = reads * 4
        bytes_moved = weight_bytes(weights) + rows * self.config.kv_row_bytes(weights.embedding.element_size()) * 2
        operations = 2 * active_parameters(self.config) * rows + 2 * self.config.vocab * self.config.hidden * heads
        peak = torch.cuda.max_memory_allocated() / 1e9 if self.device.type == "cuda" else None
        row = Row(name, ms, goal, floor, 1000 * reads / ms, bytes_moved / ms / 1e6, operations / ms / 1e9, peak, note)
        self.rows.append(row)
        print(f"  {name}: {ms:.2f} ms  {row.decisions_per_s:.0f}/s  {note}", flush=True)
        return row

    def engine_rows(self, weights: Weights, form: str, options: Options) -> None:
        """The rows of one weight form."""
        self.uncached(OnePassModel(weights, replace(options, kv_bytes=0)), weights, form)
        self.free()
        self.cached(OnePassModel(weights, options), weights, form)

    def uncached(self, engine: OnePassModel, weights: Weights, form: str) -> None:
        each, goals = (
            self.prompt + self.canvas,
            {
                "bf16": ("<= 14 ms", "10.5", ">= 230/s", "385"),
                "fp8": ("<= 8 ms", "5.4", ">= 420/s", "769"),
            }[form],
        )
        single = iter([self.read() for _ in range(self.reps + 4)])
        one = self.median_ms(lambda: engine.forward([next(single)]))
        self.add(f"one read, {self.prompt} + {self.canvas}, {form}", one, 1, each, weights, *goals[:2])
        many = [[self.read() for _ in range(self.many)] for _ in range(3)]
        turn = iter(range(10**9))
        batch = self.median_ms(lambda: engine.forward(many[next(turn) % 3]), max(3, self.reps // 4))
        self.add(f"{self.many} reads, uncached, {form}", batch, self.many, self.many * each, weights, *goals[2:])
        if form == "bf16":
            self.draws(engine, weights)
        self.profile[f"one read, {form}"] = self.profiled(lambda: engine.forward([self.read()]))
        self.profile[f"{self.many} reads, {form}"] = self.profiled(lambda: engine.forward(many[0]))

    def draws(self, engine: OnePassModel, weights: Weights) -> None:
        def draw(count: int) -> Callable[[], Any]:
            prompts = self.rng.integers(8, self.config.vocab, (self.reps + 4, self.prompt)).astype(np.int32)
            made = iter([[self.read(prompt) for _ in range(count)] for prompt in prompts])
            return lambda: engine.forward(next(made))

        times = {count: self.median_ms(draw(count)) for count in (1, 8)}
        note = f"{times[8] / times[1]:.2f}x one draw ({times[1]:.2f} ms)"
        self.add("8 draws of one request, bf16", times[8], 8, self.prompt + 8 * self.canvas, weights, "<= 1.3x", "1.0x", note)

    def cached(self, engine: OnePassModel, weights: Weights, form: str) -> None:
        schema = self.rng.integers(8, self.config.vocab, self.schema).astype(np.int32)

        def with_schema() -> list[Read]:
            left = self.prompt - self.schema
            tails = self.rng.integers(8, self.config.vocab, (self.many, left)).astype(np.int32)
            return [self.read(np.concatenate([schema, tail])) for tail in tails]

        engine.forward(with_schema())
        made = [with_schema() for _ in range(self.reps + 4)]
        turn = iter(made)
        ms = self.median_ms(lambda: engine.forward(next(turn)))
        rows = self.many * (self.prompt - self.schema + self.canvas)
        goal = (">= 550/s", "970") if form == "bf16" else ("", "")
        self.add(f"{self.many} reads, {self.schema} schema tokens cached, {form}", ms, self.many, rows, weights, *goal)
        if form == "bf16":
            whole = [self.read() for _ in range(self.reps + 4)]
            fused_turn, split_turn = iter(whole), iter([self.read() for _ in range(self.reps + 4)])
            fused = self.median_ms(lambda: engine.forward([next(fused_turn)]))

            def two_passes() -> None:
                read = next(split_turn)
                engine.forward([replace(read, canvas=read.canvas[:0], slots=())])
                engine.forward([read])

            split = self.median_ms(two_passes)
            note = f"fused {fused:.2f} ms is {split / fused:.2f}x faster"
            self.add(
                "two passes, same kernels, one request", split, 1, self.prompt + self.canvas, weights, ">= 1.6x", "1.9x", note
            )

    def variants(self, weights: Weights) -> None:
        """Every choice on its own, against the fast path."""
        base = replace(self.options(), kv_bytes=0)
        for name, changes in {
            "fast path": {},
            "no graphs": {"graphs": False},
            "experts by torch grouped_mm": {"experts": "grouped"},
            "attention by sdpa with a mask": {"attention": "sdpa"},
            "attention by FlexAttention": {"attention": "flex", "graphs": False},
            "plain torch steps": {"steps": "torch", "attention": "sdpa", "experts": "grouped", "graphs": False},
        }.items():
            for count in (1, self.many):
                try:
                    engine = OnePassModel(weights, replace(base, **changes))
                    made = [self.read() for _ in range(count)]
                    ms = self.median_ms(lambda e=engine, r=made: e.forward(r), max(3, self.reps // 4))
                    self.add(f"variant: {name}, {count} reads", ms, count, count * (self.prompt + self.canvas), weights)
                except Exception as error:
                    self.failed.append(f"variant {name}, {count}: {type(error).__name__}: {str(error)[:300]}")
                    print("  FAILED", self.failed[-1], flush=True)
                engine = None
                self.free()

    def transformers(self) -> None:
        """transformers' encoder and decoder on the same card, weights random too; its logits are of every canvas row."""
        from transformers.models.diffusion_gemma import (
            DiffusionGemmaConfig,
            DiffusionGemmaForBlockDiffusion,
            DiffusionGemmaTextConfig,
        )

        text = {**TEXT, **(TINY if self.dry else {}), "num_hidden_layers": len(self.config.layers)}
        text["layer_types"] = TEXT["layer_types"][-len(self.config.layers) :]
        vision = {"model_type": "gemma4_vision", "num_hidden_layers": 1, "hidden_size": 32, "intermediate_size": 48}
        vision |= {"num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 16}
        config = DiffusionGemmaConfig(text_config=DiffusionGemmaTextConfig(**text), vision_config=vision)
        with torch.device("meta"):
            model = DiffusionGemmaForBlockDiffusion(config).to(self.dtype).eval()
        self.fill(model)
        for count in (1, self.many):
            ms = self.median_ms(lambda n=count: self.two_sweeps(model, n), max(3, self.reps // 4))
            start = "one read" if count == 1 else f"{count} reads, uncached"
            ours = next((r for r in self.rows if r.name.startswith(start)), None)
            note = f"ours is {ms / ours.ms:.2f}x faster" if ours is not None else ""
            self.rows.append(Row(f"transformers, {count} reads, bf16", ms, "report", "", 1000 * count / ms, note=note))
            print(f"  transformers, {count} reads: {ms:.2f} ms {note}", flush=True)

    def fill(self, model: Any) -> None:
        """Give a model on the meta device random tensors, one for all places that share it."""
        made: dict[int, Any] = {}
        for name, module in model.named_modules():
            for kind in (module._parameters, module._buffers):
                for key, old in kind.items():
                    if old is None:
                        continue
                    if id(old) not in made:
                        tensor = torch.empty(old.shape, dtype=old.dtype, device=self.device)
                        if "inv_freq" in key:
                            tensor.uniform_()
                        elif "norm" in name or "scale" in key or "scalar" in key:
                            tensor.fill_(1.0)
                        else:
                            for piece in tensor if tensor.ndim == 3 else [tensor]:
                                piece.normal_(0, 0.02)
                        made[id(old)] = torch.nn.Parameter(tensor, False) if isinstance(old, torch.nn.Parameter) else tensor
                    kind[key] = made[id(old)]
        print(f"  transformers' model: {sum(t.numel() for t in made.values()) / 1e9:.2f} billion numbers", flush=True)

    @torch.no_grad()
    def two_sweeps(self, model: Any, count: int) -> None:
        """transformers' read: encode prompts, then decode canvases over the cache."""
        from transformers.cache_utils import DynamicCache

        prompt = torch.randint(8, self.config.vocab, (count, self.prompt), device=self.device)
        canvas = torch.randint(8, self.config.vocab, (count, self.canvas), device=self.device)
        cache = DynamicCache(config=model.config.text_config)
        # Releases before 5.20 call the cache past_key_values.
        name = "cache" if "cache" in inspect.signature(model.model.decoder.forward).parameters else "past_key_values"
        model.model.encoder(input_ids=prompt, **{name: cache})
        model(input_ids=None, decoder_input_ids=canvas, **{name: cache})

    def profiled(self, run: Callable[[], Any]) -> dict[str, float]:
        """Device time by kernel, ms of one call; the largest first."""
        if self.dry:
            return {}
        from torch.profiler import ProfilerActivity, profile

        run()
        with profile(activities=[ProfilerActivity.CUDA]) as found:
            run()
            self.sync()
        times: dict[str, float] = {}
        for event in found.key_averages():
            spent = getattr(event, "self_device_time_total", 0) / 1000
            if spent > 0:
                times[event.key[:70]] = times.get(event.key[:70], 0.0) + spent
        return dict(sorted(times.items(), key=lambda item: -item[1])[:14])


def log_probabilities(engine: OnePassModel, reads: Sequence[Read]) -> np.ndarray:
    """Label log-probabilities of all reads, one pass."""
    out = []
    for read, reading in zip(reads, engine.forward(reads), strict=True):
        assert reading.log_sum_exp is not None
        out.append(reading.scores - np.repeat(reading.log_sum_exp, [len(s.labels) for s in read.slots]))
    return np.concatenate(out)


def table(bench: Bench) -> str:
    lines = [f"{'row':48} {'ms':>9} {'goal':>9} {'floor':>6} {'dec/s':>8} {'GB/s':>7} {'TF/s':>7} {'peak GB':>8}  note"]
    for r in bench.rows:
        cells = [f"{v:.0f}" if v is not None else "" for v in (r.decisions_per_s, r.gbytes_per_s, r.tflops, r.peak_gb)]
        lines.append(
            f"{r.name:48} {r.ms:9.2f} {r.goal:>9} {r.floor:>6} {cells[0]:>8} {cells[1]:>7} {cells[2]:>7} {cells[3]:>8}  {r.note}"
        )
    lines.append("ceilings: " + ", ".join(f"{k} {v:.0f}" for k, v in bench.ceilings.items()))
    lines += [f"accuracy {name}: {found}" for name, found in bench.accuracy.items()]
    for name, times in bench.profile.items():
        lines.append(f"where the time goes, {name} (ms): " + "; ".join(f"{k} {v:.2f}" for k, v in times.items()))
    lines += [f"FAILED {failure}" for failure in bench.failed]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write all figures here as JSON")
    parser.add_argument("--reps", type=int, default=20, help="timed repetitions of one row")
    parser.add_argument("--variants", action="store_true", help="also time every choice of kernel on its own")
    parser.add_argument(
        "--only", nargs="*", choices=("check", "bf16", "fp8", "transformers"), help="parts to run; all by default"
    )
    parser.add_argument("--dry-run", action="store_true", help="a tiny model on the CPU, to try the script")
    args = parser.parse_args()
    bench = Bench(args)
    parts = args.only or ["check", "bf16", "fp8", "transformers"]

    def guarded(name: str, run: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        try:
            return run()
        except Exception as error:
            traceback.print_exc()
            bench.failed.append(f"{name}: {type(error).__name__}: {str(error)[:500]}")
            return None
        finally:
            bench.free()
            print(f"[{name}: {time.perf_counter() - start:.0f} s]", flush=True)

    def weights_row(form: Form, name: str) -> None:
        weights = random_weights(bench.config, form, bench.device, bench.dtype)
        bench.engine_rows(weights, name, bench.options(fp8=form == "fp8"))
        if args.variants and name == "bf16":
            bench.variants(weights)

    guarded("ceilings", bench.measure_ceilings)
    good = {"bf16": True, "fp8": True}
    if "check" in parts:
        good["bf16"] = bool(guarded("check bf16", lambda: bench.check("bf16", "plain", bench.options(), 0.03)))
        good["fp8"] = bool(guarded("check fp8", lambda: bench.check("fp8", "fp8", bench.options(fp8=True), 0.15)))
    if "bf16" in parts and good["bf16"]:
        guarded("bf16", lambda: weights_row("plain", "bf16"))
    if "fp8" in parts and good["fp8"]:
        guarded("fp8", lambda: weights_row("fp8", "fp8"))
    if "transformers" in parts:
        guarded("transformers", bench.transformers)
    print(table(bench))
    if args.out:
        device = torch.cuda.get_device_name() if bench.device.type == "cuda" else "cpu"
        about = {"device": device, "torch": torch.__version__, "date": time.strftime("%Y-%m-%d"), "command": " ".join(sys.argv)}
        figures = {
            "about": about,
            "rows": [asdict(r) for r in bench.rows],
            "ceilings": bench.ceilings,
            "accuracy": bench.accuracy,
            "profile": bench.profile,
            "failed": bench.failed,
        }
        args.out.write_text(json.dumps(figures, indent=1))
    return 1 if bench.failed or not all(good.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
