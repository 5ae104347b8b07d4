"""Text from the one-pass engine, between its reads."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import EngineError
from ..base import PromptImage, Tokens
from .engine import OnePassModel
from .generation import generate


class OnePassWriter:
    """Writes text with a model whose reads a batcher runs. Safe to use from any thread."""

    def __init__(self, model: OnePassModel) -> None:
        self._model = model

    @property
    def passes(self) -> float:
        """As many as a block's steps."""
        return float(self._model.sampler.steps)

    def generate(
        self, prompt: Tokens, max_tokens: int, seed: int, images: tuple[PromptImage, ...] = (), ends: tuple[int, ...] = ()
    ) -> Iterator[Tokens]:
        """See `base.Writer.generate`."""
        try:
            for written in generate(self._model, prompt, max_tokens, seed, self._model.sampler, images, ends):
                yield written.tokens
        except (RuntimeError, AttributeError) as cause:
            # a runtime's own words may hold parts of the prompt; a model freed meanwhile has lost its weights
            raise EngineError(f"Writing failed with {type(cause).__name__}") from cause
