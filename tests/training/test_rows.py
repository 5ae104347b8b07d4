"""Training lays rows exactly as serving does, and the encoder sees what a layout promises."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from oneread.canvas.markers import MarkerCanvas, MarkerForm
from oneread.canvas.text import option_texts, render
from oneread.questions import Choice, Noul, Question, Score
from oneread.readers.reader import EMBEDDED
from training.bases import framing, tiny
from training.cases import CaseWriter, tokenise
from training.encoder import QUESTION, Encoder, visibility
from training.rows import Form, Rows

STATE = {"ticket": "The export fails for every project since Monday.", "plan": "team"}
QUESTIONS: list[Question] = [
    Noul("Is something broken?", "a function does not work"),
    Choice({"bug": None, "how_to": "asks how something is done", "praise": None}, "What is it?"),
    Score(["low", "medium", "high"], "How bad?"),
]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(EMBEDDED / "tokenizer.json"))


def rows_of(tokenizer: Tokenizer, layout: str) -> Rows:
    ids = framing(json.loads(tokenizer.to_str()))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    writer = CaseWriter()
    for q in QUESTIONS:
        options = option_texts(q)
        target = [1.0] + [0.0] * (len(options) - 1)
        writer.add(
            "t", {Noul: "noul", Choice: "choice", Score: "score"}[type(q)], render(q.instructions), render(STATE), options, target
        )
    cases = writer.file()
    return Rows(cases, tokenise(cases.texts, tokenizer, 400), Form(ids["bos"], ids["sep"], ids["mask"], layout))


@pytest.fixture(scope="module")
def encoder(tokenizer: Tokenizer) -> Encoder:
    config, tensors = tiny(json.loads(tokenizer.to_str()), tokenizer.get_vocab_size())
    model = Encoder(config).eval()
    model.load_state_dict(tensors, strict=False)
    return model


@pytest.mark.parametrize("layout", ["full", "apart", "state_first"])
def test_a_training_row_is_the_row_that_is_served(tokenizer: Tokenizer, layout: str) -> None:
    rows = rows_of(tokenizer, layout)
    batch = rows.batch(np.arange(len(QUESTIONS)))
    form = rows.form
    canvas = MarkerCanvas(tokenizer, MarkerForm(512, form.bos, form.sep, form.mask, layout))  # type: ignore[arg-type]
    sees = visibility(batch.parts, layout)[:, 0] == 0
    for i, question in enumerate(QUESTIONS):
        compiled = canvas.compile(question)
        read = canvas.row([(compiled, range(len(compiled.options)))], canvas.encode_state(STATE))
        n = len(read.canvas)
        assert batch.ids[i, :n].tolist() == read.canvas.tolist()
        assert (batch.parts[i, n:] == -1).all()
        positions = np.arange(n) if read.positions is None else read.positions
        assert batch.pos[i, :n].tolist() == positions.tolist()
        slots = batch.markers[batch.slot_row == i] - i * batch.ids.shape[1]
        assert slots.tolist() == [s.position for s in read.slots]
        served = np.ones((n, n), bool) if read.sees is None else read.sees[read.segments][:, read.segments]  # type: ignore[index]
        assert (sees[i, :n, :n].numpy() == served).all()


def test_apart_scores_do_not_depend_on_the_order_of_options(tokenizer: Tokenizer, encoder: Encoder) -> None:
    rows = rows_of(tokenizer, "apart")
    plain, turned = rows.batch(np.array([1])), rows.batch(np.array([1]), np.random.default_rng(1))
    a, b = (encoder(x.ids, x.pos, visibility(x.parts, "apart"), x.markers).detach() for x in (plain, turned))
    assert not torch.equal(plain.target, turned.target)  # the options really stand in another order
    assert torch.allclose(a.sort().values, b.sort().values, atol=1e-5)
    assert torch.allclose(a[plain.target.argmax()], b[turned.target.argmax()], atol=1e-5)


def test_full_scores_do_depend_on_it(tokenizer: Tokenizer, encoder: Encoder) -> None:
    rows = rows_of(tokenizer, "full")
    plain, turned = rows.batch(np.array([1])), rows.batch(np.array([1]), np.random.default_rng(1))
    a, b = (encoder(x.ids, x.pos, visibility(x.parts, "full"), x.markers).detach() for x in (plain, turned))
    assert not torch.allclose(a[plain.target.argmax()], b[turned.target.argmax()], atol=1e-5)


def test_a_blind_state_carries_nothing_from_one_question_to_another(tokenizer: Tokenizer, encoder: Encoder) -> None:
    rows = rows_of(tokenizer, "apart")
    alone = rows.batch(np.array([0]))
    n = int((alone.parts[0] >= 0).sum())
    score = encoder(alone.ids[:, :n], alone.pos[:, :n], visibility(alone.parts[:, :n], "blind"), alone.markers).detach()
    other = rows.batch(np.array([1]))
    head = int(((other.parts[0] != 1) & (other.parts[0] >= 0)).sum())  # the other question without its state
    ids = torch.cat([alone.ids[:, :n], other.ids[:, :head]], 1)
    pos = torch.cat([alone.pos[:, :n], other.pos[:, :head]], 1)
    parts = torch.cat([alone.parts[:, :n], other.parts[:, :head] + QUESTION], 1)
    packed = encoder(ids, pos, visibility(parts, "blind"), alone.markers).detach()
    assert torch.allclose(score, packed, atol=1e-5)
    leaking = encoder(ids, pos, visibility(parts, "apart"), alone.markers).detach()
    assert not torch.allclose(score, leaking, atol=1e-5)
