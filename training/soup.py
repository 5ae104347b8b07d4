"""A weighted average of runs that started from the same base (Wortsman et al. 2022, model soups).

    python -m training.soup OUT RUN=0.5 RUN/last=0.5 [--data DIR --bases DIR]

Each RUN is a folder of training.train, or its subfolder `last`. OUT gets weights.safetensors (float16), config.json with the
recipe, and int8 parts; with --data and --bases also scores.npz, the raw scores of every measured case, and result.json. Choose
among averages by the figures of dev tasks.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from .feed import load_cases, load_encoder
from .outputs import measure_reader, summary, write_reader
from .rows import Form, Rows


def mix(runs: dict[Path, float]) -> dict[str, torch.Tensor]:
    """The weighted mean of the runs' tensors, float32. Weights should sum to 1."""
    if abs(sum(runs.values()) - 1) > 1e-6:
        raise ValueError(f"weights sum to {sum(runs.values())}, not 1")
    out: dict[str, torch.Tensor] = {}
    for run, share in runs.items():
        for k, v in load_file(run / "weights.safetensors").items():
            out[k] = out.get(k, torch.zeros(v.shape)) + share * v.float()
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    parser.add_argument("runs", nargs="+", metavar="RUN=WEIGHT")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--bases", type=Path)
    args = parser.parse_args()
    recipe = {Path(r.rsplit("=", 1)[0]): float(r.rsplit("=", 1)[1]) for r in args.runs}
    tensors = mix(recipe)
    config = json.loads((next(iter(recipe)) / "config.json").read_text())
    config["soup"] = {(f"{r.parent.name}/last" if r.name == "last" else r.name): share for r, share in recipe.items()}
    write_reader(args.out, tensors, config)
    if args.data and args.bases:
        measured = measure(args.out, args.data, args.bases)
        (args.out / "result.json").write_text(json.dumps({"soup": config["soup"], "measured": measured}, indent=1))
        print(args.out, config["soup"], summary(measured), flush=True)


def measure(run: Path, data: Path, bases: Path) -> dict[str, Any]:
    """scores.npz of the weights in a folder, and their figures."""
    config = json.loads((run / "config.json").read_text())
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model, _, tokenizer = load_encoder(bases, config["settings"]["base"])
    model.load_state_dict({k: v.float() for k, v in load_file(run / "weights.safetensors").items()})
    model.to(device)
    model.compute = torch.bfloat16 if device.type == "cuda" else torch.float32
    form = config["form"]
    cases, tokens = load_cases(data, bases, config["settings"]["base"], "measured", tokenizer)
    rows = Rows(cases, tokens, Form(form["bos"], form["sep"], form["mask"], form["layout"], form["window"]))
    return measure_reader(run, model, rows, device, 32768)


if __name__ == "__main__":
    main()
