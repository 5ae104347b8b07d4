"""A weighted average of runs that started from the same base (Wortsman et al. 2022, model soups).

    python -m training.soup OUT RUN=0.5 RUN=0.25 RUN=0.25 [--data DIR --bases DIR]

Each RUN is a folder of training.train. OUT gets weights.safetensors (float16), config.json with the recipe, and int8 parts; with
--data and --bases also scores.npz, the raw scores of every measured case.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from .feed import load_cases, load_encoder, score
from .rows import Form, Rows
from .transport import pack8, save_parts


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
    args.out.mkdir(parents=True, exist_ok=True)
    save_file({k: v.half().contiguous() for k, v in tensors.items()}, args.out / "weights.safetensors")
    save_parts(pack8(tensors), args.out, "int8", 15_500_000)
    config = json.loads((next(iter(recipe)) / "config.json").read_text())
    (args.out / "config.json").write_text(json.dumps({**config, "soup": {r.name: w for r, w in recipe.items()}}, indent=1))
    if args.data and args.bases:
        write_scores(args.out, args.data, args.bases)


def write_scores(run: Path, data: Path, bases: Path) -> None:
    """scores.npz of a run's weights: every measured case, alone and, in layout apart, as packed rows see the state."""
    config = json.loads((run / "config.json").read_text())
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model, _, tokenizer = load_encoder(bases, config["settings"]["base"])
    model.load_state_dict({k: v.float() for k, v in load_file(run / "weights.safetensors").items()})
    model.to(device)
    model.compute = torch.bfloat16 if device.type == "cuda" else torch.float32
    form = config["form"]
    cases, tokens = load_cases(data, bases, config["settings"]["base"], "measured", tokenizer)
    rows = Rows(cases, tokens, Form(form["bos"], form["sep"], form["mask"], form["layout"], form["window"]))
    layouts = ("apart", "blind") if form["layout"] == "apart" else (form["layout"],)
    np.savez(run / "scores.npz", **{x: score(model, rows, np.arange(len(cases)), x, device, 32768)[1] for x in layouts})


if __name__ == "__main__":
    main()
