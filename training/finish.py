"""A short finish on a CPU: the last layers learn some made tasks, while replayed cases hold them to what they said before.

    python -m training.finish RUN OUT --data DIR --bases DIR [--learn made:ticket_anger ...] [--replay 900] [--layers 2]

RUN is a folder of training.train or training.soup. The lower layers run once; their last hidden states are kept in memory.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from .cases import CaseFile, CaseWriter, tokenise
from .encoder import Encoder, visibility
from .feed import load_encoder
from .made import generate
from .objective import log_probabilities
from .rows import Batch, Form, Rows


@dataclass
class Kept:
    """A batch as the upper layers see it, and what it should say."""

    x: Tensor
    bias: Tensor
    markers: Tensor
    slot_row: Tensor
    rows: int
    target: Tensor


def made_cases(names: Sequence[str], count: int, seed: int) -> CaseFile:
    """Made cases of these tasks only."""
    writer, left = CaseWriter(), count
    for e in generate(count * 12, seed):
        if e.task in names and left:
            e.write(writer, 0.03)
            left -= 1
    return writer.file()


def some(cases: CaseFile, count: int, seed: int) -> CaseFile:
    """A random part of a case file, with its texts."""
    rng = np.random.default_rng(seed)
    writer = CaseWriter()
    for i in rng.choice(len(cases), count, replace=False):
        part = slice(cases.starts[i], cases.starts[i + 1])
        kind = ("noul", "choice", "score")[cases.kind[i]]
        options = [cases.texts[o] for o in cases.options[part]]
        if len(options) <= 12 and len(cases.texts[cases.state[i]]) < 400:
            writer.add(
                cases.tasks[cases.task[i]],
                kind,
                cases.texts[cases.head[i]],
                cases.texts[cases.state[i]],
                options,
                cases.target[part].tolist(),
            )
    return writer.file()


@torch.no_grad()
def below(model: Encoder, b: Batch, split: int, layout: str, own: bool) -> Kept:
    """Run the layers below `split`; with `own` the target is what the model says now instead of the label."""
    bias = model.attention_bias(b.pos, visibility(b.parts, layout))
    x = model.embed(b.ids, b.pos)
    for layer in model.lay[:split]:
        x = layer(x, bias, 0.0)
    target = b.target
    if own:
        target = log_probabilities(above(model, x, bias, b.markers, split), b.slot_row, len(b.case)).exp()
    return Kept(x, bias, b.markers, b.slot_row, len(b.case), target)


def above(model: Encoder, x: Tensor, bias: Tensor, markers: Tensor, split: int) -> Tensor:
    """Raw scores from the hidden states below layer `split`."""
    for layer in model.lay[split:]:
        x = layer(x, bias, 0.0)
    return x.flatten(0, 1)[markers] @ model.head.w


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("run", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--bases", type=Path, required=True)
    parser.add_argument("--learn", nargs="+", default=["made:ticket_anger", "made:ticket_tone", "made:ticket_calm"])
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--replay", type=int, default=900)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=2e-5)
    parser.add_argument("--seed", type=int, default=5)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    config = json.loads((args.run / "config.json").read_text())
    model, _, tokenizer = load_encoder(args.bases, config["settings"]["base"])
    model.load_state_dict({k: v.float() for k, v in load_file(args.run / "weights.safetensors").items()})
    model.eval()
    split = len(model.lay) - args.layers
    form = Form(*(config["form"][k] for k in ("bos", "sep", "mask", "layout")))
    kept: list[Kept] = []
    everything = CaseFile.load(args.data / "train.npz")
    for cases, own in ((made_cases(args.learn, args.cases, args.seed), False), (some(everything, args.replay, args.seed), True)):
        rows = Rows(cases, tokenise(cases.texts, tokenizer, 200), form)
        groups = rows.batches(np.arange(len(cases)), 2048)
        kept.extend(below(model, rows.batch(group), split, form.layout, own) for group in groups)
    print(f"{len(kept)} batches kept", flush=True)
    for p in model.parameters():
        p.requires_grad_(False)
    trained = [*model.lay[split:].parameters(), model.head.w]
    for p in trained:
        p.requires_grad_(True)
    optimizer = torch.optim.AdamW(trained, lr=args.lr, weight_decay=0.0)
    rng = random.Random(args.seed)
    steps, total = 0, args.epochs * len(kept)
    for epoch in range(args.epochs):
        rng.shuffle(kept)
        sums = 0.0
        for k in kept:
            for group in optimizer.param_groups:
                group["lr"] = args.lr * min(1.0, (steps + 1) / 10, (total - steps) / total * 1.5)
            value = (
                -(k.target * log_probabilities(above(model, k.x, k.bias, k.markers, split), k.slot_row, k.rows)).sum() / k.rows
            )
            optimizer.zero_grad()
            value.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            sums, steps = sums + value.item(), steps + 1
        print(f"epoch {epoch}: {sums / len(kept):.4f}", flush=True)
    args.out.mkdir(parents=True, exist_ok=True)
    save_file({k: v.half().contiguous() for k, v in model.state_dict().items()}, args.out / "weights.safetensors")
    config["finish"] = {"learn": args.learn, "cases": args.cases, "replay": args.replay, "layers": args.layers, "lr": args.lr}
    (args.out / "config.json").write_text(json.dumps(config, indent=1))


if __name__ == "__main__":
    main()
