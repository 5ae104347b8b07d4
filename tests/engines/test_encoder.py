"""The encoder's scores against plain torch in float32, and a row's independence of the rows beside it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel

from bench.torch_encoder import TorchEncoder
from oneread import Choice, Noul
from oneread.engines.base import NO_TOKENS, Read, Slot
from oneread.engines.embedded import EncoderModel, embedded_engine, signed_products_are_exact
from oneread.engines.encoder import EncoderConfig, dense
from oneread.errors import EngineError

from ..fakes import word_canvas
from .encoders import BERT, MPNET, random_row, random_weights, rounded, segmented_row

CONFIGS = pytest.mark.parametrize("config", [MPNET, BERT, dataclasses.replace(BERT, gelu="tanh")], ids=["mpnet", "bert", "tanh"])

FEED_FORWARD = {"intermediate.dense": "f1", "output.dense": "f2", "output.LayerNorm": "n2"}


def softmax(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    powers = np.exp(scores - scores.max())
    found: NDArray[np.float32] = powers / powers.sum()
    return found


def window(config: EncoderConfig) -> int:
    return config.positions - config.position_offset


@torch.inference_mode()
def torch_scores(config: EncoderConfig, weights: dict[str, NDArray[np.float32]], reads: list[Read]) -> list[NDArray[np.float32]]:
    encoder = TorchEncoder(config, weights)
    return [encoder.scores(read) for read in reads]


@CONFIGS
def test_float_weights_score_as_in_torch(config: EncoderConfig) -> None:
    weights, rng = random_weights(config), np.random.default_rng(1)
    reads = [random_row(config, rng, n) for n in (1, 2, 31, 32, 33, window(config))]
    model = EncoderModel(config, weights, window(config), threads=1)
    for read, expected in zip(reads, torch_scores(config, weights, reads), strict=True):
        assert model.forward([read])[0].scores == pytest.approx(expected, abs=1e-4)


@CONFIGS
def test_segments_sight_and_positions_are_honoured_alone_and_beside_other_rows(config: EncoderConfig) -> None:
    weights, rng = random_weights(config), np.random.default_rng(2)
    reads = [segmented_row(config, rng), random_row(config, rng, 40), segmented_row(config, rng), random_row(config, rng, 7)]
    model = EncoderModel(config, weights, window(config), threads=1)
    expected = torch_scores(config, weights, reads)
    everything_seen = torch_scores(config, weights, [dataclasses.replace(reads[0], segments=None, sees=None)])[0]
    assert np.abs(expected[0] - everything_seen).max() > 0.01  # else the rows would test nothing
    for batch in ([0], [1], [2], [3], [0, 1, 2, 3]):
        for i, reading in zip(batch, model.forward([reads[i] for i in batch]), strict=True):
            assert reading.scores == pytest.approx(expected[i], abs=1e-4)


def test_questions_that_share_a_row_after_the_state_score_as_they_do_alone() -> None:
    words = "which team owns it billing outage money site down the is no yes : 0 1 calm angry"
    canvas = word_canvas(words, window=window(MPNET), layout="state_first")
    state = canvas.encode_state("the site is down")
    asked = [
        Choice({"billing": "money", "outage": None, "site": "down"}, "which team owns it"),
        Noul("is it calm"),
        Noul("angry"),
    ]
    questions = [canvas.compile(question) for question in asked]
    every = [range(len(question.options)) for question in questions]
    model = EncoderModel(MPNET, rounded(random_weights(MPNET)), 98, threads=1)
    alone = [model.forward([canvas.row([part], state)])[0].scores for part in zip(questions, every, strict=True)]
    for order in ([0, 1, 2], [2, 0, 1]):
        (together,) = model.forward([canvas.row([(questions[i], every[i]) for i in order], state)])
        assert together.scores == pytest.approx(np.concatenate([alone[i] for i in order]), abs=1e-4)
    assert np.concatenate(alone).std() > 0.1  # else nothing would be compared


@torch.inference_mode()
def test_the_torch_forward_is_transformers_mpnet() -> None:
    c, weights = MPNET, {k: torch.from_numpy(v) for k, v in random_weights(MPNET).items()}
    theirs = MPNetModel(
        MPNetConfig(
            vocab_size=c.vocab, hidden_size=c.width, num_hidden_layers=c.layers, num_attention_heads=c.heads,
            intermediate_size=c.ffn, max_position_embeddings=c.positions, layer_norm_eps=c.eps, attn_implementation="eager",
        ),
        add_pooling_layer=False,
    ).eval()  # fmt: skip
    state = {"embeddings.word_embeddings.weight": "we.weight", "embeddings.position_embeddings.weight": "pe.weight"}
    state |= {f"embeddings.LayerNorm.{p}": f"ln0.{p}" for p in ("weight", "bias")}
    state["encoder.relative_attention_bias.weight"] = "rb.weight"
    tensors = {theirs_name: weights[name] for theirs_name, name in state.items()}
    for i in range(c.layers):
        for p in ("weight", "bias"):
            for part, value in zip("qkv", weights[f"lay.{i}.qkv.{p}"].chunk(3), strict=True):
                tensors[f"encoder.layer.{i}.attention.attn.{part}.{p}"] = value
            names = {"attention.attn.o": "o", "attention.LayerNorm": "n1", **FEED_FORWARD}
            for theirs_name, name in names.items():
                tensors[f"encoder.layer.{i}.{theirs_name}.{p}"] = weights[f"lay.{i}.{name}.{p}"]
    missing, unexpected = theirs.load_state_dict(tensors, strict=False)
    assert not unexpected
    assert not [name for name in missing if "position_ids" not in name]
    read = Read(np.random.default_rng(3).integers(5, c.vocab, 90).astype(np.int32), (Slot(4), Slot(60), Slot(89)))
    hidden = theirs(input_ids=torch.from_numpy(read.canvas).long()[None]).last_hidden_state[0]
    expected = (hidden[[4, 60, 89]] @ weights["head.w"]).numpy()
    assert torch_scores(c, random_weights(MPNET), [read])[0] == pytest.approx(expected, abs=1e-4)


@torch.inference_mode()
def test_the_torch_forward_is_transformers_bert_with_its_token_type_among_the_positions() -> None:
    c, weights = BERT, {k: torch.from_numpy(v) for k, v in random_weights(BERT).items()}
    theirs = BertModel(
        BertConfig(
            vocab_size=c.vocab, hidden_size=c.width, num_hidden_layers=c.layers, num_attention_heads=c.heads,
            intermediate_size=c.ffn, max_position_embeddings=c.positions, layer_norm_eps=c.eps, attn_implementation="eager",
        ),
        add_pooling_layer=False,
    ).eval()  # fmt: skip
    token_type = torch.randn(2, c.width, generator=torch.Generator().manual_seed(0))
    tensors = {
        "embeddings.word_embeddings.weight": weights["we.weight"],
        "embeddings.position_embeddings.weight": weights["pe.weight"] - token_type[0],
        "embeddings.token_type_embeddings.weight": token_type,
    }
    tensors |= {f"embeddings.LayerNorm.{p}": weights[f"ln0.{p}"] for p in ("weight", "bias")}
    for i in range(c.layers):
        for p in ("weight", "bias"):
            for part, value in zip(("query", "key", "value"), weights[f"lay.{i}.qkv.{p}"].chunk(3), strict=True):
                tensors[f"encoder.layer.{i}.attention.self.{part}.{p}"] = value
            names = {"attention.output.dense": "o", "attention.output.LayerNorm": "n1", **FEED_FORWARD}
            for theirs_name, name in names.items():
                tensors[f"encoder.layer.{i}.{theirs_name}.{p}"] = weights[f"lay.{i}.{name}.{p}"]
    missing, unexpected = theirs.load_state_dict(tensors, strict=False)
    assert not unexpected
    assert not [name for name in missing if "position_ids" not in name]
    read = Read(np.random.default_rng(3).integers(0, c.vocab, 70).astype(np.int32), (Slot(4), Slot(69)))
    hidden = theirs(input_ids=torch.from_numpy(read.canvas).long()[None]).last_hidden_state[0]
    assert torch_scores(c, random_weights(BERT), [read])[0] == pytest.approx(
        (hidden[[4, 69]] @ weights["head.w"]).numpy(), abs=1e-4
    )


@pytest.mark.parametrize("smooth", [False, True])
@CONFIGS
def test_int8_matrices_score_near_the_same_weights_in_float(config: EncoderConfig, smooth: bool) -> None:
    weights, rng = rounded(random_weights(config), smooth), np.random.default_rng(4)
    reads = [random_row(config, rng) for _ in range(20)]
    expected = torch_scores(config, {name: dense(value) for name, value in weights.items()}, reads)
    model = EncoderModel(config, weights, window(config), threads=1)
    found = [model.forward([read])[0].scores for read in reads]
    assert max(np.abs(softmax(a) - softmax(b)).max() for a, b in zip(found, expected, strict=True)) < 0.05
    assert any((a != b).any() for a, b in zip(found, expected, strict=True))  # it is rounded


def test_unsigned_codes_score_as_signed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    weights, rng = rounded(random_weights(MPNET)), np.random.default_rng(5)
    reads = [random_row(MPNET, rng) for _ in range(5)]
    scores = []
    for exact in (True, False):
        monkeypatch.setattr("oneread.engines.embedded.signed_products_are_exact", lambda exact=exact: exact)
        model = EncoderModel(MPNET, weights, window(MPNET), threads=1)
        scores.append(np.concatenate([model.forward([read])[0].scores for read in reads]))
    if signed_products_are_exact():
        assert scores[0] == pytest.approx(scores[1], abs=1e-5)
    else:
        assert np.abs(scores[0] - scores[1]).max() > 1e-5


def test_two_hundred_mixed_rows_score_the_same_one_by_one_and_at_once() -> None:
    weights, rng = rounded(random_weights(MPNET)), np.random.default_rng(6)
    reads = [segmented_row(MPNET, rng) if i % 3 == 0 else random_row(MPNET, rng) for i in range(200)]
    engine = embedded_engine(MPNET, weights, window(MPNET), threads=2)
    alone = [engine.read([read]).result()[0].scores for read in reads]
    together = [reading.scores for reading in engine.read(reads).result()]
    engine.close()
    assert max(np.abs(softmax(a) - softmax(b)).max() for a, b in zip(alone, together, strict=True)) < 1e-3


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (Read(np.zeros(0, np.int32), ()), "1 to 40 tokens, found 0"),
        (Read(np.zeros(41, np.int32), (Slot(0),)), "1 to 40 tokens, found 41"),
        (Read(np.zeros(9, np.int32), (Slot(0),), prompt=np.zeros(2, np.int32)), "no causal prompt"),
        (Read(np.zeros(9, np.int32), (Slot(0, (4, 5)),)), "no labels"),
        (Read(np.zeros(2, np.int32), (Slot(0),), NO_TOKENS, positions=np.array([0, 96], np.int32)), "from 0 to 95"),
    ],
)
def test_reads_that_an_encoder_cannot_run_are_refused_by_name(read: Read, message: str) -> None:
    engine = embedded_engine(MPNET, random_weights(MPNET), 40, threads=1)
    with pytest.raises(EngineError, match=message):
        engine.read([read]).result()
    engine.close()
