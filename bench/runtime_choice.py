"""Which CPU runtime serves the embedded reader: onnxruntime or OpenVINO, and at what precision.

    python -m bench.runtime_choice --data FOLDER [--checkpoint FLOAT.safetensors] [--cases 1000] [--threads 2] [--out FILE]

Every candidate runs in a process of its own and starts from the embedded reader's shipped shards, except ``*-f32``, which takes
the float checkpoint when one is given. Timings are interleaved: each round asks every candidate for one pass of every shape.
Accuracy is against the labels, and against plain torch in float32 on the float checkpoint (or the unpacked shards).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from safetensors.numpy import load_file

from oneread.engines import embedded, encoder
from oneread.engines.base import Read, Slot
from oneread.readers.manifest import read_manifest
from oneread.readers.reader import EMBEDDED
from oneread.readers.weights import load_weights, stored_tensors, to_int8, unpack_q4

from .records import load_cases, row

SHAPES = {"1x32": (1, 32), "1x100": (1, 100), "1x300": (1, 300), "1x512": (1, 512), "8x100": (8, 100), "changing 280-329": (1, 0)}
CANDIDATES = (
    "ort-f32", "ort-int8-token", "ort-int8-tensor", "ort-nbits8", "ort-nbits4",
    "ov-f32", "ov-bf16", "ov-int8", "ov-w8a8",
)  # fmt: skip


# ---------------------------------------------------------------- candidates


class _Plain(encoder._Weighted):
    """Products whose inputs are not shifted."""

    def bias_above(self, floor: float, name: str) -> str:
        return self.vector(f"{name}.bias")


class _PerTensor(_Plain):
    """onnxruntime's own dynamic quantisation: one scale for all tokens of a pass, one for each output channel."""

    def linear(self, x: Any, name: str, part: int | None = None) -> str:
        weight = self._weights[name]
        assert isinstance(weight, encoder.Int8Matrix)
        rows, name = self._part(name, part)
        inputs = [x.dense, self.graph.constant(name, weight.codes[rows].T), self.graph.constant(f"{name}.s", weight.scale[rows])]
        return self.graph.node("DynamicQuantizeMatMul", inputs, domain="com.microsoft")


class _BlockCodes(_Plain):
    """MatMulNBits: blocks of 32 codes of 4 or 8 bits, int8 inputs (accuracy level 4)."""

    bits = 4
    packed: ClassVar[dict[str, Any]] = {}

    def linear(self, x: Any, name: str, part: int | None = None) -> str:
        g, (rows, label) = self.graph, self._part(name, part)
        codes, scale, smooth = self.packed[name]
        source = x.dense if smooth is None else g.node("Mul", [x.dense, g.constant(f"{name}.d", 1 / smooth.astype(np.float32))])
        columns = codes.shape[1] * 2
        if self.bits == 4:
            codes, scale = codes[rows], scale[rows]
        else:
            values = unpack_q4(codes[rows], scale[rows]).reshape(-1, 32)
            scale = np.abs(values).max(axis=1) / 127
            codes = (np.rint(values / np.where(scale > 0, scale, 1)[:, None]) + 128).astype(np.uint8)
        n = codes.size * 8 // self.bits // columns
        blocks, scales = codes.reshape(n, -1, 4 * self.bits), scale.reshape(-1).astype(np.float32)
        inputs = [source, g.constant(label, blocks), g.constant(f"{label}.s", scales)]
        form = {"K": columns, "N": n, "bits": self.bits, "block_size": 32, "accuracy_level": 4}
        return g.node("MatMulNBits", inputs, domain="com.microsoft", **form)


def _packed_4bit(shards: list[Path]) -> dict[str, Any]:
    stored = dict(stored_tensors(shards))
    names = [n[:-3] for n in stored if n.endswith(".q4")]
    return {n: (stored[f"{n}.q4"], stored[f"{n}.scale"], stored.get(f"{n}.smooth")) for n in names}


def _unsmoothed(weight: Any) -> Any:
    """An int8 matrix rounded again without its divisors."""
    if isinstance(weight, encoder.Int8Matrix) and weight.smooth is not None:
        return encoder.Int8Matrix(*to_int8(weight.dense()))
    return weight


def _make(name: str, threads: int, checkpoint: Path | None, largest: dict[str, float]) -> Callable[[list[Read]], list[Any]]:
    manifest = read_manifest(EMBEDDED)
    config, shards = manifest.model, [EMBEDDED / f.name for f in manifest.files if f.name.endswith(".safetensors")]
    weights: dict[str, Any]
    if name.endswith("-f32") and checkpoint:
        weights = {k: v.astype(np.float32) for k, v in load_file(checkpoint).items()}
    else:
        weights = load_weights(shards, config)
    if name in ("ort-f32", "ov-f32", "ov-bf16"):
        weights = {k: encoder.dense(v) for k, v in weights.items()}
    if name == "ort-int8-tensor":
        encoder._Weighted = _PerTensor  # type: ignore[misc]
    if name.startswith("ort-nbits"):
        _BlockCodes.bits, _BlockCodes.packed = int(name[-1]), _packed_4bit(shards)
        encoder._Weighted = _BlockCodes  # type: ignore[misc]
    if name != "ort-int8-token":
        weights = {k: _unsmoothed(v) for k, v in weights.items()}
    longest = manifest.form.longest or manifest.form.window
    if name.startswith("ort"):
        return embedded.EncoderModel(config, weights, longest, threads).forward

    import openvino as ov

    from . import openvino_encoder

    kind = {"ov-f32": "float", "ov-bf16": "float", "ov-int8": "int8", "ov-w8a8": "w8a8"}[name]
    packed: dict[str, Any] = {}
    if kind != "float":
        packed = {k: (v.codes, v.scale) for k, v in weights.items() if isinstance(v, encoder.Int8Matrix)}
        packed |= {f"{k}:rows": packed[k] for k in ("we.weight", "pe.weight")}
    vectors = {k: v for k, v in weights.items() if not isinstance(v, encoder.Int8Matrix)}
    graph = openvino_encoder.build(config, vectors, packed, kind, largest)  # type: ignore[arg-type]
    precision = "bf16" if name == "ov-bf16" else "f32"
    hints = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": precision}
    request = ov.Core().compile_model(graph, "CPU", hints).create_infer_request()

    class _Session:
        def run(self, _: Any, feed: dict[str, Any]) -> list[Any]:
            return [request.infer(feed)[0].copy()]

    stand_in = embedded.EncoderModel.__new__(embedded.EncoderModel)
    stand_in._prepare(config, weights, longest)
    stand_in._session = _Session()  # type: ignore[assignment]
    return stand_in.forward


def _worker(pipe: Any, name: str, threads: int, checkpoint: Path | None, largest: dict[str, float]) -> None:
    start = time.perf_counter()
    forward = _make(name, threads, checkpoint, largest)
    loaded = time.perf_counter() - start
    pipe.send({"load_s": loaded})
    while (job := pipe.recv()) is not None:
        start = time.perf_counter()
        scores = [reading.scores for reading in forward(job)]
        pipe.send((time.perf_counter() - start, scores))
    peak = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
    pipe.send({"peak_mb": int(peak) / 1024})


# ---------------------------------------------------------------- measuring


def _random_rows(rng: np.random.Generator, rows: int, length: int, vocab: int, mask: int) -> list[Read]:
    slots = tuple(Slot(i) for i in (8, 12, 16, 20))
    out = []
    for _ in range(rows):
        ids = rng.integers(1000, vocab - 1000, length or int(rng.integers(280, 330))).astype(np.int32)
        ids[[s.position for s in slots]] = mask
        out.append(Read(ids, slots))
    return out


def _softmax(x: Any) -> Any:
    e = np.exp(x - x.max())
    return e / e.sum()


def main() -> None:
    """The command line; see the module's text."""
    parser = argparse.ArgumentParser(description="Compare CPU runtimes for the embedded reader.")
    parser.add_argument("--data", type=Path, required=True, help="folder of labelled cases, .jsonl or .jsonl.gz")
    parser.add_argument("--checkpoint", type=Path, help="float weights, safetensors")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=list(CANDIDATES), choices=CANDIDATES)
    parser.add_argument("--out", type=Path, default=Path("bench/results/runtime_choice.json"))
    a = parser.parse_args()

    import torch

    from oneread.readers.reader import load_reader

    from .torch_encoder import TorchEncoder

    torch.set_num_threads(a.threads)
    reader = load_reader(threads=a.threads)
    manifest = read_manifest(EMBEDDED)
    shards = [EMBEDDED / f.name for f in manifest.files if f.name.endswith(".safetensors")]
    dense = (
        {k: v.astype(np.float32) for k, v in load_file(a.checkpoint).items()}
        if a.checkpoint
        else {k: encoder.dense(v) for k, v in load_weights(shards, manifest.model).items()}
    )
    pairs = [(r, c) for c in load_cases(a.data, a.cases) if (r := row(reader.canvas, c))]
    reader.close()
    torch_model = TorchEncoder(manifest.model, dense)
    truth = []
    with torch.inference_mode():
        for i, (read, _) in enumerate(pairs):
            truth.append(torch_model.scores(read))
            if i == min(100, len(pairs)) - 1:
                largest = dict(torch_model.largest)  # the first hundred rows set the static ranges
    accuracy = float(np.mean([np.argmax(t) == c.answer for t, (_, c) in zip(truth, pairs, strict=True)]))
    tokens = np.mean([len(r.canvas) for r, _ in pairs])
    print(f"{len(pairs)} rows, {tokens:.0f} tokens on average; torch fp32 accuracy {accuracy:.3f}")

    context = get_context("spawn")
    pipes, table = {}, {}
    for name in a.only:
        ours, theirs = context.Pipe()
        context.Process(target=_worker, args=(theirs, name, a.threads, a.checkpoint, largest), daemon=True).start()
        pipes[name] = ours
        table[name] = ours.recv()  # one after another, so that load times do not disturb one another
    rng = np.random.default_rng(0)
    times: dict[str, dict[str, list[float]]] = {n: {s: [] for s in SHAPES} for n in pipes}
    for turn in range(a.rounds + 1):
        for shape, (rows, length) in SHAPES.items():
            job = _random_rows(rng, rows, length, manifest.model.vocab, manifest.form.mask)
            for name, pipe in pipes.items():
                pipe.send(job)
                seconds, _ = pipe.recv()
                if turn:  # the first round warms up
                    times[name][shape].append(seconds * 1000)
    for name, pipe in pipes.items():
        scores = []
        for read, _ in pairs:
            pipe.send([read])
            scores.append(pipe.recv()[1][0])
        gaps = [float(np.abs(_softmax(s) - _softmax(t)).max()) for s, t in zip(scores, truth, strict=True)]
        alone_gap = 0.0
        for i in range(0, min(64, len(pairs)), 8):
            pipe.send([read for read, _ in pairs[i : i + 8]])
            both = zip(pipe.recv()[1], scores[i : i + 8], strict=True)
            alone_gap = max(alone_gap, *(float(np.abs(_softmax(x) - _softmax(y)).max()) for x, y in both))
        pipe.send(None)
        table[name] |= pipe.recv() | {
            "ms": {s: round(float(np.median(t)), 1) for s, t in times[name].items()},
            "ms_min": {s: round(min(t), 1) for s, t in times[name].items()},
            "accuracy": float(np.mean([np.argmax(s) == c.answer for s, (_, c) in zip(scores, pairs, strict=True)])),
            "gap_max": max(gaps), "gap_p99": float(np.quantile(gaps, 0.99)), "gap_mean": float(np.mean(gaps)),
            "beside_others": alone_gap,
        }  # fmt: skip
    print(f"{'candidate':18}" + "".join(f"{s:>18}" for s in SHAPES) + "  accuracy gap mean/p99/max     beside  load s  peak MB")
    for name, r in table.items():
        cells = "".join(f"{r['ms'][s]:>12} ({r['ms_min'][s]:>3.0f})" for s in SHAPES)
        print(
            f"{name:18}{cells}  {r['accuracy']:.3f}   {r['gap_mean']:.4f}/{r['gap_p99']:.3f}/{r['gap_max']:.3f}"
            f"  {r['beside_others']:.0e}  {r['load_s']:.2f}   {r['peak_mb']:.0f}"
        )
    a.out.parent.mkdir(parents=True, exist_ok=True)
    found = {"torch_accuracy": accuracy, "rows": len(pairs), "threads": a.threads, "candidates": table}
    a.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
