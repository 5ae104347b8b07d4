"""The one-pass engine's attention, alone, over the passes of bench/onepass_gpu.py, in different block shapes.

    python bench/onepass_attention.py                     all shapes that fit the card, two minutes on one GPU
    python bench/onepass_attention.py --passes one --kinds sliding --forms bf16 fp8

Times are of one launch among many in a graph. TF/s counts what the rule needs: 4 operations for each query head, key seen and
column. The first lines of each pass are the shapes that kernels/plan.py has, for keys and values side by side and in the
store; all results are compared with the first. Forms are what results are written in, for the matrix that follows.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "src"), str(Path(__file__).resolve().parent)]

from onepass_model import config_of  # noqa: E402
from onepass_timing import compile_apart, graph_us  # noqa: E402

from oneread.engines.base import Read, Slot  # noqa: E402
from oneread.engines.onepass.config import LayerKind  # noqa: E402
from oneread.engines.onepass.kernels.plan import AttentionTiles, Tiles  # noqa: E402
from oneread.engines.onepass.kernels.steps import FusedSteps  # noqa: E402
from oneread.engines.onepass.linear import FP8, Linear  # noqa: E402
from oneread.engines.onepass.options import Options  # noqa: E402
from oneread.engines.onepass.packing import Layout, Pack, pack_reads  # noqa: E402
from oneread.engines.onepass.prefix import PrefixCache  # noqa: E402
from oneread.engines.onepass.store import KeyValueStore  # noqa: E402
from oneread.engines.onepass.transfer import Sizes, read_block, write_block  # noqa: E402

SCRATCH, PAGES = 16384, 256
CONFIG = config_of()
SHAPES: dict[LayerKind, list[AttentionTiles]] = {
    "sliding": [AttentionTiles(*s) for s in itertools.product((32, 64), (32, 64), (4, 8), (2, 3))],
    "full": [AttentionTiles(*s) for s in itertools.product((8, 16), (32, 64), (4, 8), (1, 2, 3))],
}


def packed(name: str) -> Pack:
    """One read of 300 + 32 tokens, 32 of them, or 32 whose first 200 tokens are cached."""
    random = np.random.default_rng(0)
    tokens = lambda n: random.integers(8, CONFIG.vocab, n).astype(np.int32)  # noqa: E731
    cache = PrefixCache(PAGES if name == "cached" else 0)
    layout = Layout(CONFIG.window, False, SCRATCH)
    schema, slots = tokens(200), (Slot(0, (1, 2)), Slot(2, (3, 4)))
    made = lambda: [  # noqa: E731
        Read(tokens(32), slots, np.concatenate([schema, tokens(100)]) if name == "cached" else tokens(300))
        for _ in range(1 if name == "one" else 32)
    ]
    if name == "cached":
        first = pack_reads(made(), cache, layout)
        cache.written(first.fresh)
        cache.release(first.pages)
    return pack_reads(made(), cache, layout)


def seen_pairs(pack: Pack, kind: LayerKind) -> int:
    """Keys that rows see, over all rows."""
    total = 0
    for row in range(pack.rows):
        seen = pack.sees[pack.nodes[row]][pack.key_nodes] & (pack.key_positions <= pack.high[row])
        total += int((seen & (pack.key_positions >= pack.low[row])).sum() if kind == "sliding" else seen.sum())
    return total


class Bench:
    def __init__(self, pack: Pack, kind: LayerKind, form: str, device: torch.device) -> None:
        shape = next(s for s in CONFIG.layers if s.kind == kind)
        self.kind, self.shape, self.index = kind, shape, CONFIG.layers.index(shape)
        self.following = Linear(torch.empty(1, 1, dtype=FP8 if form == "fp8" else torch.bfloat16))
        sizes = Sizes.of(pack)
        block = np.empty(sizes.words, np.int32)
        write_block(pack, sizes, SCRATCH - 1, block)
        self.block = read_block(torch.from_numpy(block).to(device), sizes)
        self.store = KeyValueStore(CONFIG, PAGES, SCRATCH, torch.bfloat16, device)
        for part in (*self.store.keys.values(), *self.store.values.values()):
            part.normal_()
        self.query = torch.randn(pack.rows, CONFIG.heads, shape.head_dim, device=device, dtype=torch.bfloat16)
        self.query *= shape.head_dim**-0.5

    def launch(self, tiles: AttentionTiles, beside: bool) -> tuple[FusedSteps, Any]:
        """Attention with keys and values side by side, or where the store has them."""
        steps, key_rows = FusedSteps(Options.for_cuda("fp8")), self.block.batch.key_rows
        for own in (steps.tiles.attention, steps.tiles.near, steps.tiles.few):
            own[self.kind] = tiles
        steps.rows, steps.beside = len(self.query), beside
        steps.near_rows = torch.arange(len(key_rows), dtype=torch.int32, device=key_rows.device)
        at = self.store.rows(self.index, key_rows)
        steps.near[self.kind] = self.store.keys[self.kind][at], self.store.values[self.kind][at]
        steps.look(self.kind, self.block.batch.sight, key_rows)
        return steps, self.again(steps)

    def again(self, steps: FusedSteps) -> Any:
        return steps.attention(self.query, self.shape, self.following, self.store, self.index, self.block.batch)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passes", nargs="+", default=["one", "cached", "many"], choices=["one", "cached", "many"])
    parser.add_argument("--kinds", nargs="+", default=["sliding", "full"], choices=["sliding", "full"])
    parser.add_argument("--forms", nargs="+", default=["bf16"], choices=["bf16", "fp8"])
    parser.add_argument("--processes", type=int, default=12, help="that compile")
    parser.add_argument("--compile", nargs=2, type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    device = torch.device("cuda")
    if args.compile is None:
        compile_apart(__file__, ["--passes", args.passes[0], "--kinds", *args.kinds, "--forms", *args.forms], args.processes)
    for name, kind, form in itertools.product(args.passes, args.kinds, args.forms):
        pack = packed(name)
        bench = Bench(pack, kind, form, device)
        shapes = SHAPES[kind]
        ways = [(tiles, beside) for beside in (True, False) for tiles in shapes]
        if args.compile is not None:
            for tiles, beside in ways[args.compile[0] :: args.compile[1]]:
                with suppress(Exception):
                    bench.launch(tiles, beside)
            continue
        seen = seen_pairs(pack, kind)
        operations = 4 * seen * CONFIG.heads * bench.shape.head_dim
        own = [(Tiles().attending(kind, pack.rows, beside), beside) for beside in (True, False)]
        reference, found = None, []
        for tiles, beside in [*own, *ways]:
            try:
                steps, out = bench.launch(tiles, beside)
                wide = out.values.float() * out.scales[:, None] if form == "fp8" else out.float()
                reference = wide if reference is None else reference
                error = (wide - reference).abs().max().item()

                def run(steps: FusedSteps = steps, bench: Bench = bench) -> None:
                    for _ in range(10):
                        bench.again(steps)

                found.append((graph_us(run, 10, 5), tiles, beside, error))
            except Exception:  # too large for the card
                if (tiles, beside) in own:
                    raise
        print(f"{name}, {kind}, {form}: {pack.rows} rows, {seen} pairs")
        others = sorted(found[2:], key=lambda f: f[0])
        for us, tiles, beside, error in found[:2] + others[:6]:
            where = "side by side" if beside else "in the store"
            print(f"  {us:8.1f} us {operations / us / 1e6:6.0f} TF/s  {where}, {tiles}  differs by {error:.4f}", flush=True)


if __name__ == "__main__":
    main()
