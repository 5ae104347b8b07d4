"""A tiny DiffusionGemma folder and its reader. torch is imported only where they are used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from oneread import Decider


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from .gemma import write_checkpoint

    return write_checkpoint(tmp_path_factory.mktemp("checkpoint"))


@pytest.fixture(scope="module")
def decider(folder: Path) -> Iterator[Decider]:
    import torch

    from .gemma import open_checkpoint

    before = torch.get_num_threads()
    with Decider(open_checkpoint(folder)) as decider:
        yield decider
    torch.set_num_threads(before)
