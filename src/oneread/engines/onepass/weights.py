"""From a checkpoint to weights on the device. Every tensor is allocated once, where it stays, and filled from its file."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from torch import Tensor

from ...errors import ReaderError
from ..startup import tell
from . import packed
from .checkpoint import Entry, list_tensors, read_tensors, refuse
from .config import Config
from .diffusion_gemma import Layer, SelfConditioning, Weights
from .linear import FP8, NVFP4_GROUP, Linear
from .options import ExpertBits, Form

DECODER = "model.decoder"
ENCODER = "model.encoder.language_model"
VISION = re.compile(r"model\.encoder\.(vision_tower|embed_vision)\.")
# Scales of activations measured in advance. Ours are measured on each row as it comes, or not needed at all.
UNUSED = re.compile(r"\.input_scale$")
FLOATS = ("F32", "BF16", "F16")
FORMS: dict[str, Form] = {"F8_E4M3": "fp8", "U8": "nvfp4", **dict.fromkeys(FLOATS, "plain")}


@dataclass(slots=True, eq=False)
class Skeleton:
    """Allocates the weights of a config and remembers which file tensor fills which part of them.

    Args:
        form: the form of a matrix by its module name, e.g. ``"model.decoder.layers.0.mlp.gate_proj"``.
        dtype: of everything that is not quantised.
        fused_experts: whether a layer's experts are one tensor in the file, or one module each.
        expert_bits: see `Options`; other than 16 with fused experts only.

    Attributes:
        parts: by tensor name, the part of a weight that it fills. Scales may be a single number in the file.
        stacks: by tensor name, the experts that are packed into 12 bits as they come. Their part has a shape and no memory where
            they are not kept as they are too.
    """

    config: Config
    form: Callable[[str], Form]
    dtype: torch.dtype
    device: torch.device
    fused_experts: bool = True
    expert_bits: ExpertBits = 16
    parts: dict[str, Tensor] = field(default_factory=dict)
    stacks: dict[str, Linear] = field(default_factory=dict)

    def weights(self) -> Weights:
        """Allocate everything."""
        config = self.config
        embedding = self._part(f"{DECODER}.embed_tokens.weight", config.vocab, config.hidden)
        layers = [self._layer(index) for index in range(len(config.layers))]
        norm = self._part(f"{DECODER}.norm.weight", config.hidden)
        at = f"{DECODER}.self_conditioning"
        conditioning = SelfConditioning(
            norm=self._part(f"{at}.pre_norm.weight", config.hidden),
            gate_up=self._matrix([(f"{at}.gate_proj", config.dense), (f"{at}.up_proj", config.dense)], config.hidden),
            down=self._matrix([(f"{at}.down_proj", config.hidden)], config.dense),
        )
        return Weights(config, embedding, layers, norm, conditioning)

    def _layer(self, index: int) -> Layer:
        config, shape = self.config, self.config.layers[index]
        hidden, at = config.hidden, f"{DECODER}.layers.{index}"
        queries, keys = config.heads * shape.head_dim, shape.kv_heads * shape.head_dim
        qkv = [(f"{at}.self_attn.q_proj", queries), (f"{at}.self_attn.k_proj", keys)]
        if shape.kind == "sliding":
            qkv.append((f"{at}.self_attn.v_proj", keys))
        gate_up, down = self._experts(f"{at}.experts")
        return Layer(
            shape=shape,
            input_norm=self._part(f"{at}.input_layernorm.weight", hidden),
            qkv=self._matrix(qkv, hidden),
            query_norm=self._part(f"{at}.self_attn.q_norm.weight", shape.head_dim),
            key_norm=self._part(f"{at}.self_attn.k_norm.weight", shape.head_dim),
            output=self._matrix([(f"{at}.self_attn.o_proj", hidden)], queries),
            attention_norm=self._part(f"{at}.post_attention_layernorm.weight", hidden),
            dense_norm=self._part(f"{at}.pre_feedforward_layernorm.weight", hidden),
            gate_up=self._matrix([(f"{at}.mlp.gate_proj", config.dense), (f"{at}.mlp.up_proj", config.dense)], hidden),
            down=self._matrix([(f"{at}.mlp.down_proj", hidden)], config.dense),
            after_dense_norm=self._part(f"{at}.post_feedforward_layernorm_1.weight", hidden),
            router=self._matrix([(f"{at}.router.proj", config.experts)], hidden),
            router_scale=self._part(f"{at}.router.scale", hidden),
            expert_scale=self._part(f"{at}.router.per_expert_scale", config.experts),
            experts_norm=self._part(f"{at}.pre_feedforward_layernorm_2.weight", hidden),
            experts_gate_up=gate_up,
            experts_down=down,
            after_experts_norm=self._part(f"{at}.post_feedforward_layernorm_2.weight", hidden),
            output_norm=self._part(f"{at}.post_feedforward_layernorm.weight", hidden),
            prompt_scalar=self._part(f"{ENCODER}.layers.{index}.layer_scalar", 1),
            canvas_scalar=self._part(f"{at}.layer_scalar", 1),
        )

    def _experts(self, at: str) -> tuple[Linear, Linear]:
        count, inner, hidden = self.config.experts, self.config.expert, self.config.hidden
        if self.fused_experts:
            gate_up = self._stack(f"{at}.gate_up_proj", count, 2 * inner, hidden)
            return gate_up, self._stack(f"{at}.down_proj", count, hidden, inner)
        gate_up_stack = self._empty(self.form(f"{at}.0.gate_proj"), (count, 2 * inner), hidden)
        down_stack = self._empty(self.form(f"{at}.0.down_proj"), (count, hidden), inner)
        for expert in range(count):
            names = [(f"{at}.{expert}.gate_proj", inner), (f"{at}.{expert}.up_proj", inner)]
            self._register(names, gate_up_stack[expert])
            self._register([(f"{at}.{expert}.down_proj", hidden)], down_stack[expert])
        return gate_up_stack, down_stack

    def _stack(self, name: str, count: int, outputs: int, inputs: int) -> Linear:
        """All experts' matrix of one tensor."""
        if self.expert_bits == 16:
            return Linear(self._part(name, count, outputs, inputs))

        def empty(*shape: int, dtype: torch.dtype = torch.int16) -> Tensor:
            return torch.empty(count, *shape, dtype=dtype, device=self.device)

        low, high = empty(outputs // 2, inputs), empty(outputs // 2, inputs // 2)
        self.stacks[name] = Linear(low, empty(outputs, dtype=torch.float32), high=high)
        if self.expert_bits == "12+16":
            return Linear(self._part(name, count, outputs, inputs), twin=self.stacks[name])
        self.parts[name] = torch.empty(count, outputs, inputs, dtype=self.dtype, device="meta")
        return self.stacks[name]

    def _matrix(self, modules: list[tuple[str, int]], inputs: int) -> Linear:
        """One matrix from modules whose outputs are stacked."""
        matrix = self._empty(self.form(modules[0][0]), (sum(outputs for _, outputs in modules),), inputs)
        self._register(modules, matrix)
        return matrix

    def _register(self, modules: list[tuple[str, int]], matrix: Linear) -> None:
        start = 0
        for name, outputs in modules:
            own = slice(start, start + outputs)
            self.parts[f"{name}.weight"] = matrix.weight[own]
            if matrix.scale is not None:
                self.parts[f"{name}.weight_scale"] = matrix.scale[own]
            if matrix.scale_2 is not None:
                self.parts[f"{name}.weight_scale_2"] = matrix.scale_2[own]
            start += outputs

    def _part(self, name: str, *shape: int) -> Tensor:
        self.parts[name] = torch.empty(shape, dtype=self.dtype, device=self.device)
        return self.parts[name]

    def _empty(self, form: Form, outputs: tuple[int, ...], inputs: int) -> Linear:
        def empty(last: int | None, dtype: torch.dtype) -> Tensor:
            return torch.empty(outputs if last is None else (*outputs, last), dtype=dtype, device=self.device)

        match form:
            case "plain":
                return Linear(empty(inputs, self.dtype))
            case "fp8":
                return Linear(empty(inputs, FP8), empty(None, torch.float32))
            case "nvfp4":
                return Linear(empty(inputs // 2, torch.uint8), empty(inputs // NVFP4_GROUP, FP8), empty(None, torch.float32))


def load_weights(
    folder: Path,
    config: Config,
    device: torch.device,
    dtype: torch.dtype | None = None,
    progress: bool = False,
    expert_bits: ExpertBits = 16,
) -> Weights:
    """Read a checkpoint's text model onto a device.

    Args:
        dtype: of everything that is not quantised; None keeps the embedding's own.
        progress: whether to draw a bar on the terminal.
        expert_bits: see `Options`.

    Raises:
        ReaderError: tensors are missing, unknown, or of another shape or type than the config asks for; it names them. Or the
            experts cannot be packed into 12 bits.
    """
    entries = {name: e for name, e in list_tensors(folder).items() if not VISION.match(name) and not UNUSED.search(name)}
    skeleton = skeleton_of(entries, config, device, dtype, expert_bits)
    weights = skeleton.weights()
    _check(folder, entries, skeleton.parts)
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
    with Progress(*columns, disable=not progress) as bar:
        total = sum(entry.nbytes for entry in entries.values())
        task = bar.add_task("Reading weights", total=total)
        for name, tensor in read_tensors(entries):
            part = skeleton.parts[name]
            if name in skeleton.stacks:
                weights.rounded += _fill(skeleton.stacks[name], tensor, name, None if part.is_meta else part)
            else:
                part.copy_(tensor.reshape(part.shape) if tensor.numel() == part.numel() else tensor.reshape(1).expand(part.shape))
            bar.advance(task, entries[name].nbytes)
            tell("loading weights", round(bar.tasks[task].completed), total)
    return weights


def _fill(stack: Linear, tensor: Tensor, name: str, part: Tensor | None) -> int:
    """Pack experts one by one, so that one is held once more and not all; keep them in part too. Returns how many weights were
    rounded."""
    assert stack.scale is not None, "of each output"
    assert stack.high is not None, "beside the low bytes"
    rounded = 0
    for expert, matrix in enumerate(tensor):
        own = matrix.to(stack.weight.device)
        try:
            low, high, scale, changed = packed.pack(own)
        except ValueError as error:
            raise ReaderError(f"{name}, expert {expert}: {error}; --expert-bits 16 takes it as it is") from error
        stack.weight[expert], stack.high[expert], stack.scale[expert] = low, high, scale
        if part is not None:
            part[expert] = own
        rounded += changed
    return rounded


def skeleton_of(
    entries: dict[str, Entry], config: Config, device: torch.device, dtype: torch.dtype | None, expert_bits: ExpertBits = 16
) -> Skeleton:
    """The skeleton whose forms are those of a checkpoint's tensors.

    Raises:
        ReaderError: 12 bits are asked for and the experts are not of bfloat16, a tensor for each layer, or of odd sizes.
    """
    own = {"BF16": torch.bfloat16, "F16": torch.float16}
    embedding = entries.get(f"{DECODER}.embed_tokens.weight")
    if dtype is None:
        dtype = own.get(embedding.dtype, torch.float32) if embedding is not None else torch.float32

    def form(module: str) -> Form:
        entry = entries.get(f"{module}.weight")
        return FORMS.get(entry.dtype, "plain") if entry is not None else "plain"

    fused = entries.get(f"{DECODER}.layers.0.experts.gate_up_proj")
    if expert_bits != 16:
        _check_packable(fused or entries.get(f"{DECODER}.layers.0.experts.0.down_proj.weight"), config, dtype)
    return Skeleton(config, form, dtype, device, fused is not None, expert_bits)


def expert_form(folder: Path) -> Form:
    """The form of a checkpoint's experts, from its headers."""
    entry = list_tensors(folder).get(f"{DECODER}.layers.0.experts.0.down_proj.weight")
    return FORMS.get(entry.dtype, "plain") if entry is not None else "plain"


def _check_packable(experts: Entry | None, config: Config, dtype: torch.dtype) -> None:
    """Refuse 12 bits for experts that do not come as bfloat16, a tensor for each layer, or are of odd sizes."""
    need = "12 bits for experts' weights need"
    if experts is None or experts.dtype != "BF16" or len(experts.shape) != 3:
        found = "none" if experts is None else f"{experts.dtype} {list(experts.shape)}"
        raise ReaderError(
            f"{need} them in bfloat16, a tensor for each layer; this checkpoint has {found}; leave --expert-bits out"
        )
    if dtype != torch.bfloat16:
        raise ReaderError(f"{need} a model that is loaded in bfloat16, not {dtype}")
    if not config.packable:
        raise ReaderError(f"{need} sizes of a multiple of 64, not {config.hidden} by {config.expert}; leave --expert-bits out")


def _check(folder: Path, entries: dict[str, Entry], parts: dict[str, Tensor]) -> None:
    """Refuse what is missing, unknown, or of another shape or type."""
    shapes, dtypes = [], []
    for name in parts.keys() & entries.keys():
        entry, part = entries[name], parts[name]
        scale = name.endswith((".weight_scale", ".weight_scale_2")) and part.dtype == torch.float32
        allowed = [tuple(part.shape), (*part.shape, 1), (), (1,)] if scale else [tuple(part.shape)]
        if entry.shape not in allowed:
            shapes.append(f"{name} is {list(entry.shape)}, not {list(part.shape)}")
        elif entry.dtype not in {FP8: ("F8_E4M3",), torch.uint8: ("U8",)}.get(part.dtype, FLOATS):
            dtypes.append(f"{name} is {entry.dtype}")
    refuse(
        folder,
        {
            "Missing tensors": list(parts.keys() - entries.keys()),
            "Unknown tensors": list(entries.keys() - parts.keys()),
            "Tensors of another shape": shapes,
            "Tensors of another type": dtypes,
        },
    )
