"""How far a stored reader's answers are from those of its full precision: two runs of `oneread eval` over the same cases.

python -m training.agree REFERENCE/predictions.jsonl OTHER/predictions.jsonl
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def read(path: Path) -> list[NDArray[np.float64]]:
    """The probabilities of each case, in the order of the file."""
    return [np.array(json.loads(line)["probabilities"]) for line in path.read_text("utf-8").splitlines()]


def agreement(reference: list[NDArray[np.float64]], other: list[NDArray[np.float64]]) -> dict[str, float]:
    """Means over cases: Kullback-Leibler divergence in nats, largest difference of a probability, share of equal top answers.

    Raises:
        ValueError: not the same number of cases, or of answers of a case.
    """
    if [len(p) for p in reference] != [len(q) for q in other]:
        raise ValueError("the two files are not of the same cases")
    pairs = [(np.clip(p, 1e-6, 1), np.clip(q, 1e-6, 1)) for p, q in zip(reference, other, strict=True)]
    return {
        "kl": float(np.mean([(p * np.log(p / q)).sum() for p, q in pairs])),
        "difference": float(np.mean([np.abs(p - q).max() for p, q in pairs])),
        "same": float(np.mean([p.argmax() == q.argmax() for p, q in pairs])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("reference", type=Path)
    parser.add_argument("other", type=Path)
    args = parser.parse_args()
    print(json.dumps({k: round(v, 5) for k, v in agreement(read(args.reference), read(args.other)).items()}))


if __name__ == "__main__":
    main()
