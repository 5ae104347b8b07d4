"""What a decision costs on a CPU: latency, throughput, start-up, memory, beside transformers on the same tokens.

    python bench/cpu.py [--threads 2] [--rounds 15] [--out cpu.json] [--install]

Both sides run interleaved in one process, with the same number of threads. Ours goes the whole way through
`oneread.Decider`: rendering, tokenising, planning, reading, merging. transformers' side is handed the token ids of the
same rows and runs only the forward of its own MPNetModel with the same weights, one row after the other, in float32 and
in bfloat16. Needs the `dev` extra (torch, transformers).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from transformers import MPNetConfig, MPNetModel

from oneread import Choice, Decider, Noul, Request, Score
from oneread.engines.base import Read
from oneread.engines.encoder import EncoderConfig, dense
from oneread.readers.manifest import read_manifest
from oneread.readers.reader import EMBEDDED, load_reader
from oneread.readers.weights import load_weights

GOALS = {
    "one client / transformers bf16": 0.6,
    "16 clients / transformers bf16": 0.5,
    "one question, p50 ms": 40,
    "start to first answer, s": 4,
    "peak memory, MB": 500,
    "base install, MB": 300,
}

SENTENCE = (
    "the customer reports that checkout fails with an error since the update this morning and asks when it will work again "
    "because orders are lost every minute while support has not answered the last two messages about the invoice either"
)
WORDS = SENTENCE.split()


def text(words: int) -> str:
    return " ".join(WORDS[i % len(WORDS)] for i in range(words))


def requests() -> dict[str, Request]:
    """The rows of the table. Token counts are printed, so that a reader's tokenizer shows."""
    urgent = Noul("Does this need a reply within the hour?")
    team = Choice({"billing": "invoices and refunds", "outage": "the service is down", "sales": None}, "Which team owns it?")
    anger = Score(["calm", "annoyed", "furious"], "How angry is the customer?")
    many = Choice({f"category {i} {WORDS[i % len(WORDS)]}": None for i in range(255)}, "Which category fits best?")
    return {
        "1 question, 100 tokens": Request(text(80), {"urgent": urgent}),
        "3 questions, 300 tokens": Request(text(250), {"urgent": urgent, "team": team, "anger": anger}),
        "255 options": Request(text(60), {"category": many}),
        "6,000-token state": Request(text(5900), {"urgent": urgent}),
    }


class Recorder:
    """Stands in for an engine to see which reads a request makes."""

    def __init__(self, engine: Any) -> None:
        self.engine, self.reads = engine, list[Read]()
        self.capabilities = engine.capabilities

    def read(self, reads: list[Read]) -> Any:
        self.reads += reads
        return self.engine.read(reads)


def reads_of(decider: Decider, request: Request) -> list[Read]:
    recorder = Recorder(decider.reader.engine)
    seen = Decider(_with_engine(decider.reader, recorder))
    seen.decide(request)
    return recorder.reads


def _with_engine(reader: Any, engine: Any) -> Any:
    from dataclasses import replace

    return replace(reader, engine=engine)


def transformers_model(dtype: torch.dtype) -> MPNetModel:
    """transformers' own model with the embedded reader's weights."""
    manifest = read_manifest(EMBEDDED)
    config: EncoderConfig = manifest.model
    shards = [EMBEDDED / f.name for f in manifest.files if f.name.endswith(".safetensors")]
    weights = {name: torch.from_numpy(dense(w)) for name, w in load_weights(shards, config).items()}
    model = MPNetModel(
        MPNetConfig(
            vocab_size=config.vocab,
            hidden_size=config.width,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            intermediate_size=config.ffn,
            max_position_embeddings=config.positions,
            layer_norm_eps=config.eps,
        ),
        add_pooling_layer=False,
    ).eval()
    names = {"we": "embeddings.word_embeddings", "pe": "embeddings.position_embeddings", "ln0": "embeddings.LayerNorm"}
    parts = {
        "o": "attention.attn.o",
        "n1": "attention.LayerNorm",
        "f1": "intermediate.dense",
        "f2": "output.dense",
        "n2": "output.LayerNorm",
    }
    state: dict[str, torch.Tensor] = {"encoder.relative_attention_bias.weight": weights["rb.weight"]}
    for name, value in weights.items():
        stem, _, kind = name.rpartition(".")
        if stem in names:
            state[f"{names[stem]}.{kind}"] = value
        elif stem.startswith("lay."):
            _, layer, part = stem.split(".")
            if part == "qkv":
                for letter, piece in zip("qkv", value.chunk(3), strict=True):
                    state[f"encoder.layer.{layer}.attention.attn.{letter}.{kind}"] = piece
            else:
                state[f"encoder.layer.{layer}.{parts[part]}.{kind}"] = value
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected, unexpected
    assert all("position_ids" in name for name in missing), missing
    return model.to(dtype)


def timed(run: Callable[..., Any], *args: Any, settle: bool = False) -> float:
    """Seconds of one run; `settle` waits until threads that spin after the other side's work have gone to sleep."""
    if settle:
        time.sleep(0.5)
    start = time.perf_counter()
    run(*args)
    return time.perf_counter() - start


Rows = list[tuple[torch.Tensor, torch.Tensor]]
"""Token ids and rows of the position table, each (1, n)."""


def rows_of(reads: list[Read]) -> Rows:
    """The same tokens at the same positions; that options do not see one another is left out, it costs no time."""
    found = []
    for read in reads:
        positions = range(len(read.canvas)) if read.positions is None else read.positions.tolist()
        found.append((torch.tensor([read.canvas.tolist()]), torch.tensor([list(positions)]) + 2))
    return found


def forward(model: MPNetModel, rows: Rows) -> None:
    with torch.inference_mode():
        for ids, positions in rows:
            model(input_ids=ids, position_ids=positions)


def per_request(decider: Decider, request: Request, clients: int, count: int) -> float:
    """Seconds per request with so many clients, each sending its next request once the last is answered."""
    with ThreadPoolExecutor(clients) as pool:
        start = time.perf_counter()
        list(pool.map(lambda _: decider.decide(request), range(count)))
        return (time.perf_counter() - start) / count


START = """
import resource, sys, time
from oneread import Decider, Noul
decider = Decider()
decider.ask("The site is down and we have a demo at noon.", {"urgent": Noul("Does this need a reply within the hour?")})
print(time.time())
from oneread import Choice
decider.ask("word " * 6000, {"q": Noul("Is it?"), "c": Choice({f"option {i}": None for i in range(255)})})
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(peak / (1024 if sys.platform != "darwin" else 1024 * 1024))
"""


def start_up(rounds: int) -> dict[str, float]:
    """Seconds from starting a process to its first answer, and its peak memory after a 6,000-word state and 255 options."""
    seconds, memory = [], []
    for _ in range(rounds):
        begun = time.time()
        out = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=True).stdout.split()
        seconds.append(float(out[0]) - begun)
        memory.append(float(out[1]))
    return {"start to first answer, s": statistics.median(seconds), "peak memory, MB": max(memory)}


def installed_size() -> float:
    """MB that a plain `pip install` of this tree takes in a new environment, pip itself left out."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        site = next(Path(folder).rglob("site-packages"))
        before = _bytes(site)
        pip = next(p for p in (Path(folder, "bin", "pip"), Path(folder, "Scripts", "pip.exe")) if p.exists())
        subprocess.run([str(pip), "install", "-q", "--no-compile", str(Path(__file__).parents[1])], check=True)
        return (_bytes(site) - before) / 1e6


def _bytes(folder: Path) -> int:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15, help="measurements of the short rows; long ones take a third")
    parser.add_argument("--install", action="store_true", help="also measure what a plain install takes on disk")
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    args = parser.parse_args()
    console = Console()
    torch.set_num_threads(args.threads)
    result: dict[str, Any] = {"threads": args.threads, "machine": platform.processor() or platform.machine(), "rows": {}}
    with console.status("start-up"):
        result |= start_up(3)
    decider = Decider(load_reader(threads=args.threads))
    models = {"fp32": transformers_model(torch.float32), "bf16": transformers_model(torch.bfloat16)}
    for name, request in requests().items():
        reads = reads_of(decider, request)
        rows = rows_of(reads)
        tokens = sum(read.tokens for read in reads)
        rounds = args.rounds if tokens < 1500 else max(2, args.rounds // 5)
        ours: list[float] = []
        many: list[float] = []
        theirs: dict[str, list[float]] = {kind: [] for kind in models}
        for i in range(rounds):
            with console.status(f"{name}: {i + 1} of {rounds}"):
                for kind, model in models.items():
                    if i == 0:
                        forward(model, rows[:1])
                    theirs[kind].append(timed(forward, model, rows, settle=True))
                ours += [timed(decider.decide, request, settle=j == 0) for j in range(4 if tokens < 1500 else 1)]
                many.append(per_request(decider, request, 16, 32 if tokens < 1500 else 8))
        p50 = {kind: statistics.median(values) for kind, values in theirs.items()}
        result["rows"][name] = {
            "rows": len(rows),
            "tokens": tokens,
            "p50 ms": 1000 * statistics.median(ours),
            "p95 ms": 1000 * statistics.quantiles(ours, n=20)[-1],
            "requests/s, 16 clients": 1 / statistics.median(many),
            "transformers fp32 ms": 1000 * p50["fp32"],
            "transformers bf16 ms": 1000 * p50["bf16"],
            "one client / transformers bf16": statistics.median(ours) / p50["bf16"],
            "16 clients / transformers bf16": statistics.median(many) / p50["bf16"],
        }
        console.print(f"{name}: " + ", ".join(f"{key} {value:.2f}" for key, value in result["rows"][name].items()))
    decider.close()
    result["one question, p50 ms"] = result["rows"]["1 question, 100 tokens"]["p50 ms"]
    result["bench's own peak memory, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if args.install:
        with console.status("installing into a new environment"):
            result["base install, MB"] = installed_size()
    show(console, result)
    if args.out:
        args.out.write_text(json.dumps(result, indent=2) + "\n")


def show(console: Console, result: dict[str, Any]) -> None:
    columns = list(next(iter(result["rows"].values())))
    table = Table("request", *columns, title=f"oneread on {result['threads']} threads of {os.cpu_count()}, beside transformers")
    for name, figures in result["rows"].items():
        cells = []
        for column in columns:
            goal, value = GOALS.get(column), figures[column]
            shown = f"{value:.2f}" if isinstance(value, float) else str(value)
            cells.append(shown if goal is None else f"[{'green' if value <= goal else 'red'}]{shown}[/]")
        table.add_row(name, *cells)
    console.print(table)
    for name in ("one question, p50 ms", "start to first answer, s", "peak memory, MB", "base install, MB"):
        if name in result:
            met = result[name] <= GOALS[name]
            console.print(f"{name}: [{'green' if met else 'red'}]{result[name]:.2f}[/] (goal: at most {GOALS[name]})")
    console.print("Ratios: goal at most 0.6 at one client, 0.5 at 16.")


if __name__ == "__main__":
    main()
