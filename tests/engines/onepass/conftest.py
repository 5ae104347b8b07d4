from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from oneread.engines.onepass.config import read_config  # noqa: E402
from oneread.engines.onepass.engine import OnePassModel  # noqa: E402
from oneread.engines.onepass.options import Options  # noqa: E402
from oneread.engines.onepass.weights import load_weights  # noqa: E402

from . import tiny  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """The models are tiny: a second thread costs more than it does."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def model() -> Any:
    return tiny.tiny_model()


@pytest.fixture(scope="session")
def folder(model: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.saved(model, tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def open_engine(folder: Path) -> Callable[..., OnePassModel]:
    weights = load_weights(folder, read_config(folder), torch.device("cpu"))

    def make(rows: int = 512, kv_bytes: int = 0) -> OnePassModel:
        return OnePassModel(weights, Options(rows=rows, kv_bytes=kv_bytes))

    return make
