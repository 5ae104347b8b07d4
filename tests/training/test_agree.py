"""How far two runs of an evaluation are from one another."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from training.agree import agreement, read


def written(path: Path, *cases: list[float]) -> Path:
    path.write_text("".join(json.dumps({"probabilities": case}) + "\n" for case in cases))
    return path


def test_means_over_cases(tmp_path: Path) -> None:
    reference = read(written(tmp_path / "a.jsonl", [0.5, 0.5], [0.8, 0.1, 0.1]))
    other = read(written(tmp_path / "b.jsonl", [0.25, 0.75], [0.8, 0.1, 0.1]))
    assert agreement(reference, reference) == {"kl": 0.0, "difference": 0.0, "same": 1.0}
    found = agreement(reference, other)
    assert found["kl"] == pytest.approx((0.5 * np.log(2) + 0.5 * np.log(2 / 3)) / 2)
    assert found["difference"] == pytest.approx(0.125)
    assert found["same"] == 0.5


def test_other_cases_are_not_compared(tmp_path: Path) -> None:
    reference = read(written(tmp_path / "a.jsonl", [0.5, 0.5]))
    with pytest.raises(ValueError, match="same cases"):
        agreement(reference, read(written(tmp_path / "b.jsonl", [0.5, 0.3, 0.2])))
