"""Trains the upper layers of an encoder on examples, and finds how far to go from where it started."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..calibration.fit import fit_temperature
from ..calibration.scored import Scored
from ..calibration.temperature import softmax
from .examples import Example
from .model import Encoder

Scores = NDArray[np.float64]

BLENDS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Shares of the way from the first weights to the trained ones that are tried."""

_CACHE_BYTES = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to train. The defaults were chosen by measuring; see docs/tuning.md.

    Attributes:
        layers: how many of the last layers are trained (with the head); those below stay as they are and are run once.
        epochs: passes over the cases.
        rate: the highest learning rate; it rises over the first tenth and falls to 0.
        batch: examples in a step.
        dropout: on the outputs of the trained layers' blocks.
        seed: of order and dropout.
    """

    layers: int = 4
    epochs: int = 6
    rate: float = 2e-4
    batch: int = 16
    dropout: float = 0.1
    seed: int = 0


@dataclass(slots=True, eq=False)
class Cached:
    """Examples with their hidden rows below the trained layers, where those fit into memory."""

    examples: list[Example]
    hidden: list[list[Tensor]] | None


def fastest_dtype() -> torch.dtype:
    """bfloat16 where this processor multiplies it clearly faster than float32, which is tried out."""
    a, b = torch.randn(256, 768), torch.randn(768, 768)

    def seconds(dtype: torch.dtype) -> float:
        x, y = a.to(dtype), b.to(dtype)
        x @ y
        start = time.perf_counter()
        for _ in range(5):
            x @ y
        return time.perf_counter() - start

    return (
        torch.bfloat16
        if min(seconds(torch.bfloat16) for _ in range(3)) * 1.3 < min(seconds(torch.float32) for _ in range(3))
        else torch.float32
    )


class Trainer:
    """Trains the last layers of one encoder.

    Args:
        advance: called with the number of examples done, in every pass.
    """

    def __init__(self, encoder: Encoder, recipe: Recipe, advance: Callable[[int], object] = lambda n: None) -> None:
        self.encoder, self.recipe, self.advance = encoder, recipe, advance
        self.dtype = fastest_dtype()
        self.frozen = encoder.config.layers - recipe.layers
        if not 0 <= self.frozen <= encoder.config.layers:
            raise ValueError(f"layers should be 0 to {encoder.config.layers}")
        self.trained = {
            name: p for name, p in encoder.named_parameters()
            if name == "head.w" or any(name.startswith(f"lay.{i}.") for i in range(self.frozen, encoder.config.layers))
        }  # fmt: skip
        self.first = {name: p.detach().clone() for name, p in self.trained.items()}
        self.last = self.first

    def prepare(self, examples: Sequence[Example]) -> Cached:
        """Run the frozen layers once for every example."""
        width = self.encoder.config.width
        found = Cached(list(examples), None)
        if sum(e.tokens for e in examples) * width * self.dtype.itemsize > _CACHE_BYTES:
            return found
        hidden: list[list[Tensor]] = [[] for _ in examples]
        for chosen in self._batches(examples, None):
            for place, tensors in zip(chosen, self._prefix([examples[i] for i in chosen]), strict=True):
                hidden[place] = tensors
            self.advance(len(chosen))
        found.hidden = hidden
        return found

    def train(self, epochs: Sequence[Cached]) -> None:
        """Train on these, one pass over each in turn; afterwards `last` holds the trained weights."""
        recipe = self.recipe
        rng = np.random.default_rng(recipe.seed)
        torch.manual_seed(recipe.seed)
        parameters = list(self.trained.values())
        for p in parameters:
            p.requires_grad_(True)
        optimiser = torch.optim.AdamW(parameters, lr=recipe.rate, weight_decay=0.0, betas=(0.9, 0.98))
        total = sum(-(-len(data.examples) // recipe.batch) for data in epochs)
        step = 0
        self.encoder.train()
        for data in epochs:
            for chosen in self._batches(data.examples, rng):
                rate = recipe.rate * min((step + 1) / max(1, total // 10), 1 - step / (total + 1))
                for group in optimiser.param_groups:
                    group["lr"] = rate
                logits, gold = self._logits(data, chosen, recipe.dropout)
                loss = torch.nn.functional.cross_entropy(logits, gold)
                optimiser.zero_grad(set_to_none=True)
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(parameters, 1.0)
                optimiser.step()
                step += 1
                self.advance(len(chosen))
        self.encoder.eval()
        for p in parameters:
            p.requires_grad_(False)
        self.last = {name: p.detach().clone() for name, p in self.trained.items()}

    def blend(self, share: float) -> None:
        """Set the weights to this share of the way from the first ones to the last (WiSE-FT, Wortsman et al. 2022)."""
        with torch.no_grad():
            for name, p in self.trained.items():
                p.copy_(torch.lerp(self.first[name], self.last[name], share))

    def changes(self) -> dict[str, NDArray[np.float32]]:
        """The weights that training changed, as they are now."""
        return {name: p.detach().numpy().copy() for name, p in self.trained.items()}

    @torch.no_grad()
    def scores(self, data: Cached) -> list[Scores]:
        """Raw scores of every example's answers, with the weights as they are."""
        self.encoder.eval()
        found: list[Scores] = [np.zeros(0)] * len(data.examples)
        for chosen in self._batches(data.examples, None):
            logits, _ = self._logits(data, chosen, 0.0)
            for i, place in enumerate(chosen):
                found[place] = logits[i, : data.examples[place].count].double().numpy()
            self.advance(len(chosen))
        return found

    def _batches(self, examples: Sequence[Example], rng: np.random.Generator | None) -> list[list[int]]:
        """Places of examples of like length, `Recipe.batch` at a time; in random order when `rng` is given."""
        size = np.array([max(r.tokens for r in e.reads) for e in examples], np.float64)
        order = np.argsort(size if rng is None else size + rng.uniform(0, 24, len(size)), kind="stable").tolist()
        groups = [order[i : i + self.recipe.batch] for i in range(0, len(order), self.recipe.batch)]
        return groups if rng is None else [groups[i] for i in rng.permutation(len(groups))]

    def _prefix(self, examples: Sequence[Example]) -> list[list[Tensor]]:
        reads = [read for example in examples for read in example.reads]
        with torch.autocast("cpu", self.dtype, enabled=self.dtype != torch.float32):
            x = self.encoder.prefix(self.encoder.collate(reads), self.frozen).to(self.dtype)
        rows = iter([x[i, : reads[i].tokens].clone() for i in range(len(reads))])
        return [[next(rows) for _ in example.reads] for example in examples]

    def _logits(self, data: Cached, chosen: Sequence[int], dropout: float) -> tuple[Tensor, Tensor]:
        """(examples, most answers) float32 raw scores, -inf where an example has fewer; and the right answers."""
        examples = [data.examples[i] for i in chosen]
        hidden = self._prefix(examples) if data.hidden is None else [data.hidden[i] for i in chosen]
        reads = [read for example in examples for read in example.reads]
        batch = self.encoder.collate(reads)
        x = torch.nn.utils.rnn.pad_sequence([row for rows in hidden for row in rows], batch_first=True)
        with torch.autocast("cpu", self.dtype, enabled=self.dtype != torch.float32):
            scores = self.encoder.suffix(x.float(), batch, self.frozen, dropout).float()
        logits = torch.full((len(examples), max(e.count for e in examples)), -torch.inf)
        read = 0
        for i, example in enumerate(examples):
            for options in example.options:
                logits[i, list(options)] = scores[read, : len(options)]
                read += 1
        return logits, torch.tensor([e.gold for e in examples])


def log_losses(scores: Sequence[Scores], examples: Sequence[Example]) -> Scores:
    """Log loss of each example in nats, after fitting one temperature, so that only what a temperature cannot mend counts."""
    cases = [Scored("", s, e.gold, "", "", "") for s, e in zip(scores, examples, strict=True)]
    t = fit_temperature(cases, 1.5, 1.0)
    return np.array([-np.log(max(softmax(s, t)[e.gold], 1e-12)) for s, e in zip(scores, examples, strict=True)])


def choose_share(losses: Mapping[float, Scores]) -> float:
    """The least share whose mean loss is within one standard error of the best one's, cases taken in pairs.

    The one-standard-error rule (Breiman et al. 1984): what chance may have given is not worth being further from the start.
    """
    best = losses[min(losses, key=lambda share: float(losses[share].mean()))]
    for share in sorted(losses):
        worse = losses[share] - best
        if worse.mean() <= worse.std(ddof=1) / np.sqrt(len(worse)):
            return share
    raise AssertionError("the best share is within 0 of itself")


def accuracy(scores: Sequence[Scores], examples: Sequence[Example]) -> float:
    """Share of examples whose right answer has the highest score."""
    return float(np.mean([int(np.argmax(s)) == e.gold for s, e in zip(scores, examples, strict=True)]))
