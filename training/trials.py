"""The comparisons of README.md: layouts and bases at equal time.

    python -m training.trials OUT --data DIR --bases DIR --sources DIR --seconds 45 --only NAME NAME ...

Runs the named trials one after the other in one process (on several GPUs start one process for each).
"""

from __future__ import annotations

import argparse
import gc
import traceback
from dataclasses import replace
from pathlib import Path

import torch

from .train import Settings, train

MPNET, SMALL = (
    Settings("mpnet", layout="apart", lr=1e-4, batch_tokens=16384),
    Settings("e5", layout="apart", lr=2e-4, batch_tokens=16384),
)
TRIALS: dict[str, Settings] = {
    "mpnet-full": replace(MPNET, layout="full"),
    "mpnet-apart": MPNET,
    "mpnet-blind": replace(MPNET, layout="blind"),
    "mpnet-mixed": replace(MPNET, blind_share=0.3),
    "mpnet-state-first": replace(MPNET, layout="state_first"),
    "mpnet-apart-lr2": replace(MPNET, lr=1.6e-4),
    "mpnet-apart-no-dropout": replace(MPNET, dropout=0.0),
    "mpnet-apart-no-made": replace(MPNET, made_weight=0.0),
    "mpnet-apart-clean": replace(MPNET, clean=True),
    "e5-apart": SMALL,
    "e5-full": replace(SMALL, layout="full"),
    "e5-apart-lr4": replace(SMALL, lr=4e-4),
    "minilm6-apart": replace(SMALL, base="minilm6"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--bases", type=Path, required=True)
    parser.add_argument("--sources", type=Path)
    parser.add_argument("--seconds", type=float, default=45)
    parser.add_argument("--only", nargs="+", default=list(TRIALS))
    args = parser.parse_args()
    for name in args.only:
        settings = replace(TRIALS[name], seconds=args.seconds, tokens=1e12, evals=3)
        try:
            train(args.out / name, args.data, args.bases, settings, args.sources)
        except Exception:  # one failed comparison must not cost the others
            traceback.print_exc()
        gc.collect()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
