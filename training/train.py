"""Trains a reader on one GPU, or on a CPU with a small configuration.

    python -m training.train RUN --data DIR --bases DIR --base mpnet [--layout apart] [--tokens 60e6 | --seconds 60] ...

DIR of --data holds train.npz and measured.npz (training.prepare), that of --bases the base (training.fetch). Writes to RUN:
metrics.jsonl, scores.npz (raw scores of every measured case), weights.safetensors (float16) with config.json and int8 parts,
result.json, and last.pt, from which --resume goes on; to RUN/last the same of the last averaged weights, since those of the
lowest dev log loss, which RUN holds, come early. Seeds are fixed; on a GPU sums may differ in their last bits from run to run.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.fx.experimental._config
from safetensors.torch import load_file
from torch import Tensor

from .cases import CaseFile
from .encoder import Encoder, visibility
from .feed import load_cases, load_encoder, score, stream
from .measure import brief, of_tasks
from .objective import loss
from .outputs import measure_reader, summary, write_reader
from .rows import Form, Ints, Rows
from .splits import DEV, read_tasks


@dataclass(frozen=True)
class Settings:
    """What a run is made of; all of it goes into its config.json.

    Attributes:
        blind_share: share of steps in which the state sees only itself (layout apart), for rows of several questions.
        tokens, seconds: the learning rate falls to zero at whichever comes first; seconds 0 is no limit.
        easy: so many steps at the start are of `EASY` tasks only.
        average: decay of the running average of the weights, which is what is measured and kept.
        window, longest: positions and tokens of a row.
    """

    base: str
    layout: str = "state_first"
    blind_share: float = 0.3
    lr: float = 1.2e-4
    batch_tokens: int = 32768
    tokens: float = 60e6
    seconds: float = 0.0
    dropout: float = 0.1
    warmup: int = 400
    easy: int = 200
    head_lr: float = 8.0
    decay: float = 0.01
    average: float = 0.998
    clean: bool = False
    made_weight: float = 1.0
    window: int = 512
    longest: int = 1024
    evals: int = 6
    workers: int = 6
    seed: int = 1


EASY = (
    "made:ticket", "made:log", "made:intent", "made:message", "made:mail", "made:speech", "made:tone", "made:story", "made:post",
    "made:opinion", "made:mention", "made:forum", "made:review", "made:order", "made:incident", "made:commit", "made:failure",
    "clinc", "newsgroups20", "iflytek", "tnews", "goemotions", "sgd_", "fewrel", "pros_or_cons", "shopping_reviews",
)  # fmt: skip
"""Tasks whose answer can be read off the words: what a fresh head learns first."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("run", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--bases", type=Path, required=True)
    parser.add_argument("--sources", type=Path, help="folder of SOURCES.tsv, for --clean")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--init", type=Path, help="start from this run's weights")
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--save-every", type=float, default=0, help="seconds between writes of last.pt")
    for name, kind in Settings.__annotations__.items():
        flag = "--" + name.replace("_", "-")
        if kind == "bool":
            parser.add_argument(flag, action="store_true")
        else:
            parser.add_argument(
                flag,
                type={"str": str, "int": lambda x: int(float(x)), "float": float}[kind],
                default=getattr(Settings, name, None),
            )
    args = parser.parse_args()
    settings = Settings(**{k: getattr(args, k) for k in Settings.__annotations__})
    train(args.run, args.data, args.bases, settings, args.sources, args.resume, not args.no_compile, args.save_every, args.init)


class PlateauError(Exception):
    """The loss is still that of guessing after the warm-up: a post-norm encoder does that now and then."""


def train(run: Path, data: Path, bases: Path, s: Settings, *args: Any, **more: Any) -> dict[str, Any]:
    """`train_once`; after a plateau again with the next seed and a learning rate of 0.7 of the last, three times at most."""
    for _ in range(3):
        try:
            return train_once(run, data, bases, s, *args, **more)
        except PlateauError as plateau:
            print(run.name, "starts again:", plateau, flush=True)
            s = replace(s, seed=s.seed + 100, lr=s.lr * 0.7)
    return train_once(run, data, bases, s, *args, **more)


def train_once(
    run: Path,
    data: Path,
    bases: Path,
    s: Settings,
    sources: Path | None = None,
    resume: bool = False,
    compile_layers: bool = True,
    save_every: float = 0,
    init: Path | None = None,
) -> dict[str, Any]:
    """Train one reader; returns the last line of metrics.jsonl with what was measured of the weights that are kept."""
    run.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(s.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model, config, tokenizer = load_encoder(bases, s.base)
    if init is not None:
        model.load_state_dict({k: v.float() for k, v in load_file(init / "weights.safetensors").items()})
    config["form"] = {"window": s.window, **{k: config["form"][k] for k in ("bos", "sep", "mask")}, "layout": s.layout}
    form = Form(config["form"]["bos"], config["form"]["sep"], config["form"]["mask"], s.layout, s.window, s.longest)
    train_rows = Rows(*load_cases(data, bases, s.base, "train", tokenizer), form)
    measured = Rows(*load_cases(data, bases, s.base, "measured", tokenizer), form)
    index = chosen(train_rows.cases, s, sources)
    dev = of_tasks(measured.cases, DEV)
    quick = dev[:: max(1, len(dev) // 3000)]

    model.to(device).train()
    model.dropout = s.dropout
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high")
        model.compute = torch.bfloat16
        if compile_layers:
            torch._dynamo.config.cache_size_limit = 64
            torch.fx.experimental._config.use_duck_shape = False  # type: ignore[attr-defined]  # rows and tokens may be equal by chance
            model.compiled = [torch.compile(layer, dynamic=True) for layer in model.lay]
    trained = [p for p in model.parameters() if p.requires_grad]
    # the head starts at random: until it says something, gradients of the body are noise, so it learns faster
    groups: list[dict[str, Any]] = [
        {"params": [p for p in trained if p.ndim > 1], "weight_decay": s.decay, "times": 1.0},
        {"params": [p for p in trained if p.ndim == 1 and p is not model.head.w], "weight_decay": 0.0, "times": 1.0},
        {"params": [model.head.w], "weight_decay": 0.0, "times": s.head_lr},
    ]
    optimizer = torch.optim.AdamW(groups, lr=s.lr, betas=(0.9, 0.98), eps=1e-6, fused=device.type == "cuda")
    average = [p.detach().clone() for p in trained]
    done_tokens, done_rows, step, spent, best = 0, 0, 0, 0.0, (float("inf"), -1.0)
    kept: list[Tensor] = average
    if resume and (run / "last.pt").exists():
        last = torch.load(run / "last.pt", map_location=device)
        model.load_state_dict(last["model"])
        optimizer.load_state_dict(last["optimizer"])
        average, kept = last["average"], last["kept"]
        done_tokens, done_rows, step, spent, best = last["progress"]
    metrics = (run / "metrics.jsonl").open("a" if resume else "w")
    if model.compiled:
        compile_ahead(model, train_rows, index, s, device)
    rng = np.random.default_rng([s.seed, 7, step])
    started = time.monotonic() - spent
    saved = time.monotonic()
    next_eval, sums, seen, guess = 1, torch.zeros((), device=device), 0, 0.0

    def report(progress: float) -> dict[str, Any]:
        """Measure the averaged weights on dev tasks; keep the best."""
        nonlocal kept, best
        live = [p.detach().clone() for p in trained]
        _put(trained, average)
        starts, scores = score(model, measured, quick, s.layout, device, s.batch_tokens)
        m = brief(measured.cases, starts, scores, quick)
        if m["tempered_log_loss"] < best[0]:
            best, kept = (m["tempered_log_loss"], progress), [a.clone() for a in average]
        _put(trained, live)
        took = time.monotonic() - started
        line = {
            "progress": round(progress, 4),
            "seconds": round(took, 1),
            "step": step,
            "rows": done_rows,
            "tokens": done_tokens,
            "tokens_per_second": round(done_tokens / took),
            "train_loss": round(float(sums) / max(1, seen), 4),
            **m,
        }
        metrics.write(json.dumps(line) + "\n")
        metrics.flush()
        print(run.name, json.dumps(line), flush=True)
        return line

    easy = index[np.isin(train_rows.cases.task[index], [i for i, t in enumerate(train_rows.cases.tasks) if t.startswith(EASY)])]
    for batch in stream(train_rows, index, s.batch_tokens, s.seed, step, s.workers, easy, s.easy):
        progress = max(done_tokens / s.tokens, (time.monotonic() - started) / s.seconds if s.seconds else 0.0)
        if progress >= 1:
            break
        if progress >= next_eval / s.evals:
            if device.type == "cuda":
                torch.cuda.synchronize()
            began = time.monotonic()
            report(progress)
            started += time.monotonic() - began  # measuring does not count
            sums, seen, guess = torch.zeros((), device=device), 0, 0.0
            next_eval += 1
        d = batch.to(device)
        layout = "blind" if s.layout == "apart" and step > s.warmup and rng.random() < s.blind_share else s.layout
        for group in optimizer.param_groups:
            group["lr"] = s.lr * group["times"] * min(1.0, (step + 1) / s.warmup, (1 - progress) * 1.05)
        value = loss(model(d.ids, d.pos, visibility(d.parts, layout), d.markers), d.slot_row, len(batch.case), d.target)
        optimizer.zero_grad(set_to_none=True)
        value.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        step += 1
        with torch.no_grad():
            torch._foreach_lerp_(average, [p.detach() for p in trained], 1 - min(s.average, (1 + step) / (10 + step)))
            sums += value.detach()
        seen += 1
        guess += float(np.log(train_rows.count[batch.case]).mean())
        if step == s.easy + 100 and not resume and float(sums) > 0.985 * guess:
            raise PlateauError(f"loss {float(sums) / seen:.3f}, guessing gives {guess / seen:.3f}")
        done_tokens += batch.tokens
        done_rows += len(batch.case)
        if save_every and time.monotonic() - saved > save_every:
            saved = time.monotonic()
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "average": average, "kept": kept}
            torch.save({**state, "progress": (done_tokens, done_rows, step, time.monotonic() - started, best)}, run / "last.pt")
    if device.type == "cuda":
        torch.cuda.synchronize()
    line = report(1.0)
    line["kept"] = {"dev_tempered_log_loss": best[0], "progress": best[1]}
    config["settings"] = asdict(s)
    for folder, values in ((run / "last", average), (run, kept)):
        _put(trained, values)
        write_reader(folder, model.state_dict(), config)
        result = {**line, "measured": measure_reader(folder, model, measured, device, s.batch_tokens)}
        (folder / "result.json").write_text(json.dumps(result, indent=1))
        print(
            folder,
            {**summary(result["measured"]), "kept": line["kept"], "tokens_per_second": line["tokens_per_second"]},
            flush=True,
        )
    return result


def compile_ahead(model: Encoder, rows: Rows, index: Ints, s: Settings, device: torch.device) -> None:
    """A few passes of different shapes before the clock starts, so that compilation is not counted as training."""
    rng = np.random.default_rng(0)
    groups = list(rows.batches(index[: 40 * len(index) // 100], s.batch_tokens, rng))
    for group in groups[:6]:
        d = rows.batch(group, rng).to(device)
        loss(model(d.ids, d.pos, visibility(d.parts, s.layout), d.markers), d.slot_row, len(group), d.target).backward()  # type: ignore[no-untyped-call]
    model.zero_grad(set_to_none=True)
    torch.cuda.synchronize()


def chosen(cases: CaseFile, s: Settings, sources: Path | None) -> Ints:
    """The training cases of the allowed licences, made ones thinned to `made_weight`."""
    made = np.array([t.startswith("made:") for t in cases.tasks])
    allowed = np.ones(len(cases.tasks), bool)
    if s.clean:
        if sources is None:
            raise ValueError("--clean needs --sources, the folder of SOURCES.tsv")
        tasks = read_tasks(sources)
        allowed = np.array([t.startswith("made:") or tasks[t].clean for t in cases.tasks])
    index = np.flatnonzero(allowed[cases.task])
    drop = made[cases.task[index]] & (np.random.default_rng(s.seed).random(len(index)) >= s.made_weight)
    return index[~drop]


def _put(into: list[Tensor], values: list[Tensor]) -> None:
    with torch.no_grad():
        torch._foreach_copy_(into, values)


if __name__ == "__main__":
    main()
