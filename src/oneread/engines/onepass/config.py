"""DiffusionGemma's sizes, read from a checkpoint's own ``config.json``. Nothing here is a default of ours."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ...errors import ReaderError

LayerKind: TypeAlias = Literal["sliding", "full"]

_COUNTS = ("vocab", "hidden", "heads", "dense", "experts", "expert", "experts_per_token", "window", "positions", "canvas")


@dataclass(frozen=True, slots=True)
class Rope:
    """Rotary embedding of one layer kind: `theta`, and the share of each head's dimensions that turns."""

    theta: float
    proportional: bool
    share: float


@dataclass(frozen=True, slots=True)
class LayerShape:
    """One layer. A full layer has no value projection: its values are its keys before norm and rotation."""

    kind: LayerKind
    kv_heads: int
    head_dim: int


@dataclass(frozen=True, slots=True)
class Config:
    """Sizes and constants of one checkpoint.

    Attributes:
        vocab, hidden, heads, dense, experts, expert, experts_per_token: widths and counts; `dense` and `expert` are the
            inner widths of the dense MLP and of one expert.
        layers: shape of each layer, first to last.
        ropes: rotary parameters by layer kind.
        window: keys a row of a sliding layer sees, its own included.
        softcap: final logits are ``softcap * tanh(logits / softcap)``.
        image_token: placeholder id of an image's rows; its rows see one another in both directions if `images_both_ways`.
        canvas: rows of a generated block.
        vision: the vision tower's own configuration, or None.
        quantization: the checkpoint's ``quantization_config``, or None.
        raw: the whole config.json, for transformers' vision tower.
    """

    vocab: int
    hidden: int
    heads: int
    dense: int
    experts: int
    expert: int
    experts_per_token: int
    layers: tuple[LayerShape, ...]
    ropes: Mapping[LayerKind, Rope]
    window: int
    epsilon: float
    softcap: float
    positions: int
    image_token: int
    images_both_ways: bool
    canvas: int
    vision: Mapping[str, Any] | None = None
    quantization: Mapping[str, Any] | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def kv_row_bytes(self, element: int) -> int:
        """Bytes of one token's keys and values over all layers, at `element` bytes a number."""
        return sum(2 * shape.kv_heads * shape.head_dim * element for shape in self.layers)

    @property
    def packable(self) -> bool:
        """Whether the experts are of sizes that 12 bits a weight can have (packed.py)."""
        return self.hidden % 64 == self.expert % 64 == 0

    def shape_of(self, kind: LayerKind) -> LayerShape | None:
        """The shape of the layers of this kind, or None when there are none."""
        return next((shape for shape in self.layers if shape.kind == kind), None)


def read_config(folder: Path) -> Config:
    """Read ``config.json`` in a checkpoint's folder.

    Raises:
        ReaderError: the file is missing or not JSON, is not DiffusionGemma's, or asks for something this engine does not do.
    """
    path = folder / "config.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReaderError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise ReaderError(f"{path}: is not JSON") from error
    return parse_config(raw, str(path))


def parse_config(raw: Mapping[str, Any], where: str = "config.json") -> Config:
    """The same for a parsed file. Both published forms are known: ``per_layer_config``, and the release's ``global_*`` names.

    Raises:
        ReaderError: see `read_config`.
    """
    if not isinstance(raw, Mapping) or raw.get("model_type") != "diffusion_gemma":
        raise ReaderError(f"{where}: model_type should be 'diffusion_gemma'")
    text = raw.get("text_config")
    if not isinstance(text, Mapping):
        raise ReaderError(f"{where}: text_config is missing")
    try:
        config = _parse(raw, text, where)
    except KeyError as error:
        raise ReaderError(f"{where}: text_config.{error.args[0]} is missing") from error
    except (TypeError, AttributeError) as error:
        raise ReaderError(f"{where}: a value is not of its type ({error})") from error
    for name in _COUNTS:
        value = getattr(config, name)
        if type(value) is not int or value < 1:
            raise ReaderError(f"{where}: {name} should be a whole number from 1 up")
    # The head's sum over the vocabulary counts on it (`head.log_sum_exp`).
    if not isinstance(config.softcap, int | float) or not 0 < config.softcap <= 43:
        raise ReaderError(f"{where}: final_logit_softcapping should be a number above 0, 43 at most")
    return config


def _parse(raw: Mapping[str, Any], text: Mapping[str, Any], where: str) -> Config:
    for name, allowed in (
        ("hidden_activation", ("gelu_pytorch_tanh",)),
        ("attention_bias", (False, None)),
        ("use_bidirectional_attention", ("vision", None)),
        ("tie_word_embeddings", (True, None)),
    ):
        if text.get(name) not in allowed:
            raise ReaderError(f"{where}: text_config.{name} should be one of {', '.join(map(repr, allowed))}")
    if raw.get("tie_word_embeddings", True) is not True:
        raise ReaderError(f"{where}: encoder and decoder should share their weights (tie_word_embeddings)")
    layers = _layers(text, where)
    heads = text["num_attention_heads"]
    for shape in layers:
        if heads % shape.kv_heads:
            raise ReaderError(f"{where}: {heads} attention heads do not divide over {shape.kv_heads} key heads")
    return Config(
        vocab=text["vocab_size"],
        hidden=text["hidden_size"],
        heads=heads,
        dense=text["intermediate_size"],
        experts=text["num_experts"],
        expert=text["moe_intermediate_size"],
        experts_per_token=text["top_k_experts"],
        layers=layers,
        ropes=_ropes(text, {shape.kind for shape in layers}, where),
        window=text["sliding_window"],
        epsilon=text["rms_norm_eps"],
        # A class attribute in transformers, so files written by it leave it out.
        softcap=text.get("final_logit_softcapping", 30.0),
        positions=text["max_position_embeddings"],
        image_token=raw.get("image_token_id", 258_880),
        images_both_ways=text.get("use_bidirectional_attention") == "vision",
        canvas=raw.get("canvas_length", 256),
        vision=raw.get("vision_config"),
        quantization=raw.get("quantization_config"),
        raw=raw,
    )


def _layers(text: Mapping[str, Any], where: str) -> tuple[LayerShape, ...]:
    names: Sequence[str] = text["layer_types"]
    if len(names) != text["num_hidden_layers"]:
        raise ReaderError(f"{where}: layer_types names {len(names)} layers, num_hidden_layers {text['num_hidden_layers']}")
    overrides: Mapping[str, Mapping[str, int]] | None = text.get("per_layer_config")
    full = {
        "head_dim": text.get("global_head_dim", text["head_dim"]),
        "num_key_value_heads": text.get("num_global_key_value_heads") or text["num_key_value_heads"],
    }
    shapes = []
    for index, name in enumerate(names):
        if name not in ("sliding_attention", "full_attention"):
            raise ReaderError(f"{where}: layer_types[{index}] should be 'sliding_attention' or 'full_attention'")
        kind: LayerKind = "sliding" if name == "sliding_attention" else "full"
        own = overrides.get(str(index), {}) if overrides is not None else (full if kind == "full" else {})
        kv_heads = own.get("num_key_value_heads", text["num_key_value_heads"])
        shapes.append(LayerShape(kind, kv_heads, own.get("head_dim", text["head_dim"])))
    for kind in ("sliding", "full"):
        if len({shape for shape in shapes if shape.kind == kind}) > 1:
            raise ReaderError(f"{where}: all {kind} layers should have one head size and one number of key heads")
    return tuple(shapes)


def _ropes(text: Mapping[str, Any], kinds: set[LayerKind], where: str) -> dict[LayerKind, Rope]:
    ropes: dict[LayerKind, Rope] = {}
    for kind in kinds:
        given = text["rope_parameters"].get(f"{kind}_attention")
        if given is None or given.get("rope_type") not in ("default", "proportional") or given.get("factor", 1.0) != 1.0:
            raise ReaderError(f"{where}: rope_parameters.{kind}_attention should be of rope_type 'default' or 'proportional'")
        ropes[kind] = Rope(given["rope_theta"], given["rope_type"] == "proportional", given.get("partial_rotary_factor", 1.0))
        if ropes[kind].share != 1.0 and not ropes[kind].proportional:
            raise ReaderError(f"{where}: a partial rope should be of rope_type 'proportional'")
    return ropes
