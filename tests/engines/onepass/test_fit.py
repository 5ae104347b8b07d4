"""Memory is counted before anything is loaded, and what does not fit is refused with the arithmetic."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from oneread.engines.base import PAGE
from oneread.engines.onepass.config import read_config
from oneread.engines.onepass.fit import GIB, HOST_RESERVE, check_fit, measure_fit, visit_bytes, workspace
from oneread.engines.onepass.load import available_memory, default_options, lacking, load_onepass
from oneread.engines.onepass.options import Options
from oneread.engines.onepass.weights import load_weights
from oneread.errors import ReaderError

from . import tiny


@pytest.mark.parametrize(
    ("major", "shared", "told"),
    [(9, 227, None), (10, 227, None), (8, 163, "has 8.0 and 163 KiB"), (12, 99, "has 12.0 and 99 KiB")],
)
def test_a_card_that_lacks_what_the_fused_kernels_need_runs_plain_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, major: int, shared: int, told: str | None
) -> None:
    folder = tiny.saved(tiny.tiny_model(top_k_experts=4), tmp_path)
    card = SimpleNamespace(name="Card", major=major, minor=0, shared_memory_per_block_optin=shared * 1024)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: card)
    found = lacking(torch.device("cuda"), read_config(folder))
    assert found is None if told is None else found is not None and told in found
    assert default_options(folder, "cuda").steps == ("triton" if told is None else "torch")


def test_a_model_whose_sizes_the_fused_kernels_do_not_take_runs_plain_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny.saved(tiny.tiny_model(num_attention_heads=6, top_k_experts=3), tmp_path)
    card = SimpleNamespace(name="Card", major=9, minor=0, shared_memory_per_block_optin=227 * 1024)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: card)
    found = lacking(torch.device("cuda"), read_config(folder))
    assert found is not None
    assert "powers of two, and the model has 3 experts a token, " in found
    assert "query heads a key head in full layers" in found
    assert default_options(folder, "cuda").steps == "torch"


def test_the_weights_take_what_the_headers_say(folder: Path) -> None:
    config = read_config(folder)
    fit = measure_fit(folder, config, Options(kv_bytes=0), GIB)
    weights = load_weights(folder, config, torch.device("cpu"))
    sizes = [weights.embedding.nbytes, weights.norm.nbytes]
    for part in (*weights.layers, weights.self_conditioning):
        for name in part.__slots__:
            value = getattr(part, name)
            sizes.append(value.nbytes if hasattr(value, "nbytes") else 0)
    assert dict(fit.parts)["weights"] == sum(sizes)


def test_images_and_cache_are_counted_when_asked_for(folder: Path) -> None:
    config = read_config(folder)
    without = measure_fit(folder, config, Options(kv_bytes=0), GIB)
    with_both = measure_fit(folder, config, Options(kv_bytes=GIB), GIB, images=True)
    assert dict(without.parts)["prefix cache"] == 0
    assert 0.99 * GIB < dict(with_both.parts)["prefix cache"] <= GIB
    assert dict(with_both.parts)["image tower"] > 0
    assert not with_both.fits


def test_what_does_not_fit_is_refused_with_the_arithmetic(folder: Path) -> None:
    fit = measure_fit(folder, read_config(folder), Options(kv_bytes=3 * GIB), 2 * GIB, unified=True)
    with pytest.raises(ReaderError, match=r"prefix cache 3\.0 .* > 2\.0 GiB available \(one memory"):
        check_fit(fit)
    assert dict(fit.parts)["left for the host"] == HOST_RESERVE
    with pytest.raises(ReaderError, match="not enough memory"):
        load_onepass(folder, "cpu", Options(kv_bytes=available_memory()), progress=False)


def test_a_pass_of_the_real_model_takes_a_few_gigabytes() -> None:
    from .test_sizes import REAL

    assert 0.5 * GIB < workspace(REAL, 4096, 2) < 3 * GIB


def test_graphs_take_memory_of_their_own(folder: Path) -> None:
    config, options = read_config(folder), Options.for_cuda(rows=1024, kv_bytes=0)
    parts = dict(measure_fit(folder, config, options, GIB).parts)
    assert parts["passes as graphs"] == parts["one pass"], "graphs are of no more rows than a pass"
    parts = dict(measure_fit(folder, config, replace(options, graph_rows=64), GIB).parts)
    assert 0 < parts["passes as graphs"] < parts["one pass"]
    assert "passes as graphs" not in dict(measure_fit(folder, config, replace(options, graphs=False), GIB).parts)


def test_what_rows_visit_of_a_full_cache_is_counted(folder: Path) -> None:
    config, options = read_config(folder), Options.for_cuda(rows=4096, kv_bytes=2**20)
    cached = 2**20 // (config.kv_row_bytes(4) * PAGE) * PAGE
    parts = dict(measure_fit(folder, config, options, GIB).parts)
    assert parts["one pass"] - workspace(config, 4096, 4) == visit_bytes(4096, 4096 + cached)
    # As FusedSteps.look allocates for a sliding and a full layer: blocks of 32 and 8 rows, of 32 keys.
    sources, views = 64 * (64 // 32 + 64 // 8) * 4, (64 // 32) * (2 * 32 + 8 * 8) * 8
    assert visit_bytes(64, 64) == sources + views


def test_a_checkpoint_that_fits_is_loaded_and_closed(folder: Path) -> None:
    engine = load_onepass(folder, "cpu", Options(rows=64, kv_bytes=2**20), images=True, progress=False)
    assert engine.capabilities.images
    engine.close()


def test_a_missing_torch_is_named_with_its_install_line() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from oneread.engines.onepass import load_onepass\n"
        "from oneread.engines.onepass.fit import measure_fit\n"
        "from oneread.errors import MissingExtra\n"
        "try: load_onepass('x')\n"
        "except MissingExtra as error: print(error)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert "pip install 'oneread[torch]'" in result.stdout
