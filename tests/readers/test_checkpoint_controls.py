"""A DiffusionGemma reader answers through the one path: labels, mass, draws, steps, widths, chunks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from oneread import Asking, Choice, ChoiceAnswer, Decider, InvalidRequest, Noul  # noqa: E402
from oneread.readers.checkpoint import Placement  # noqa: E402
from oneread.readers.reader import load_reader  # noqa: E402

from .asking import ASKED, STATE, ask, distributions, png, told  # noqa: E402


def test_questions_get_distributions_and_a_real_label_mass(decider: Decider) -> None:
    reply = ask(decider)
    assert reply.diagnostics is not None
    assert reply.diagnostics.method == "labels"
    assert list(reply.answers) == list(ASKED)
    for key in ASKED:
        q = told(reply, key)
        assert sum(q.probabilities) == pytest.approx(1, abs=1e-9)
        assert q.label_mass is not None
        assert 0 < q.label_mass < 1
        assert q.entropy == pytest.approx(-sum(p * np.log(p) for p in q.probabilities))


def test_the_mass_and_the_probabilities_are_those_of_the_models_logits(decider: Decider) -> None:
    """The softmax over the whole vocabulary, from the model's own denoising step, gives the same labels' shares."""
    question = ASKED["team"]
    canvas, reader = decider.reader.canvas, decider.reader
    read = canvas.row([(canvas.compile(question), (0, 1, 2))], canvas.encode_state(STATE))
    model = reader.engine._model  # type: ignore[attr-defined]
    with torch.inference_mode():
        shares = torch.softmax(model.denoise(read, None)[read.slots[0].position], -1).numpy()
    labels = shares[list(read.slots[0].labels)]
    q = told(ask(decider), "team")
    assert q.label_mass == pytest.approx(labels.sum(), rel=1e-3)
    assert q.probabilities == pytest.approx(labels / labels.sum(), abs=1e-4)


def test_other_questions_and_their_order_change_nothing(decider: Decider) -> None:
    whole = distributions(ask(decider))
    turned = ask(decider, dict(reversed(ASKED.items())))
    assert list(turned.answers) == list(reversed(ASKED))
    for key, question in ASKED.items():
        assert told(turned, key).probabilities == whole[key]
        assert told(ask(decider, {key: question}), key).probabilities == whole[key]


def test_packed_questions_share_a_canvas_and_see_one_another(decider: Decider) -> None:
    alone, packed = ask(decider), ask(decider, mode="packed")
    assert packed.diagnostics is not None
    assert packed.diagnostics.rows == 1
    assert packed.usage.output_tokens == 3
    assert distributions(packed) != {key: told(alone, key).probabilities for key in ASKED}
    apart = ask(decider, mode="packed", asking={key: Asking(alone=True) for key in ASKED})
    assert {key: told(apart, key).probabilities for key in ASKED} == distributions(alone)


def test_a_seed_is_the_same_answer_and_another_seed_is_other_noise(decider: Decider) -> None:
    one = distributions(ask(decider, seed=1))
    again = ask(decider, seed=1)
    assert {key: told(again, key).probabilities for key in ASKED} == one
    other = ask(decider, seed=2)
    assert {key: told(other, key).probabilities for key in ASKED} != one


def test_draws_are_other_noise_over_one_prompt(decider: Decider) -> None:
    stats = decider.reader.engine._model.prefix_stats  # type: ignore[attr-defined]
    before = stats.shared, stats.hits, stats.misses
    reply = ask(decider, {"urgent": ASKED["urgent"]}, samples=5, state="a state that was not read before")
    q = told(reply)
    assert len(set(q.draws)) == 5
    assert q.probabilities == pytest.approx(np.mean(q.draws, axis=0))
    assert q.stderr is not None
    assert q.orders == 1
    prompt = reply.usage.input_tokens // 5 - 16
    shared, hits, misses = (now - then for now, then in zip((stats.shared, stats.hits, stats.misses), before, strict=True))
    assert misses <= prompt
    assert shared + hits >= 4 * prompt


def test_only_uncertain_questions_are_drawn_again(decider: Decider) -> None:
    first = ask(decider)
    entropies = sorted(told(first, key).entropy for key in ASKED)
    between = (entropies[0] + entropies[1]) / 2
    reply = ask(decider, samples="auto", auto_max=3, auto_threshold=between)
    assert sorted(len(told(reply, key).draws) for key in ASKED) == [1, 3, 3]


def test_a_prompt_read_before_is_reused_and_told(decider: Decider) -> None:
    state = "one state for two requests, long enough to fill some pages of the cache"
    first, second = ask(decider, state=state), ask(decider, state=state)
    assert second.diagnostics is not None
    assert second.diagnostics.tokens_reused > max(50, first.usage.tokens_reused)
    assert second.usage.tokens_reused == second.diagnostics.tokens_reused
    assert {key: told(second, key).probabilities for key in ASKED} == distributions(first)


def test_an_answer_of_low_mass_is_an_abstention(decider: Decider) -> None:
    mass = told(ask(decider)).label_mass
    assert mass is not None
    reply = ask(decider, {"urgent": ASKED["urgent"]}, confidence="mass", asking={"urgent": Asking(abstain_below=0.9)})
    top = max(told(reply).probabilities)
    assert reply.abstained["urgent"].confidence == pytest.approx(top * mass, rel=1e-3)
    assert "urgent" in reply.answers


def test_more_options_than_labels_are_split_and_meet_again(decider: Decider) -> None:
    most = decider.reader.canvas.row_form.max_options
    assert most is not None
    assert most < 255
    reply = ask(decider, {"q": Choice({f"o{i}": None for i in range(255)}, "Which?")})
    answer = reply.answers["q"]
    assert isinstance(answer, ChoiceAnswer)
    assert len(answer.probabilities) == 255
    assert sum(answer.probabilities.values()) == pytest.approx(1, abs=1e-9)
    assert told(reply, "q").splits == -(-255 // most)
    assert told(reply, "q").second_round


def test_more_steps_read_the_slots_again(decider: Decider) -> None:
    one, three = ask(decider), ask(decider, steps=3)
    assert {key: told(three, key).probabilities for key in ASKED} != distributions(one)
    assert {key: told(ask(decider, steps=3), key).probabilities for key in ASKED} == distributions(three)


def test_the_full_vocabulary_tells_whether_its_best_token_is_a_label(decider: Decider) -> None:
    labels, full = ask(decider), ask(decider, projection="full")
    assert {key: told(full, key).probabilities for key in ASKED} == distributions(labels)
    for key in ASKED:
        assert told(labels, key).argmax_is_label is None
        assert isinstance(told(full, key).argmax_is_label, bool)
        if told(full, key).argmax_is_label:
            assert told(full, key).label_mass > 0.001  # type: ignore[operator]


def test_the_canvas_is_as_wide_as_asked_for(decider: Decider) -> None:
    narrow, wide = ask(decider, {"urgent": ASKED["urgent"]}), ask(decider, {"urgent": ASKED["urgent"]}, canvas_length=32)
    assert narrow.diagnostics is not None
    assert wide.diagnostics is not None
    assert wide.diagnostics.widths[0] == narrow.diagnostics.widths[0] + 16
    many = {str(i): Noul(f"Is it {i}?") for i in range(5)}
    chunks = [ask(decider, many, mode="packed", canvas_length=w).diagnostics.chunks[0] for w in (16, 32)]  # type: ignore[union-attr]
    assert [len(chunk) for chunk in chunks] == [2, 1]


def test_chunks_take_no_more_rows_than_allowed(decider: Decider) -> None:
    many = {str(i): Noul(f"Is it {i}?") for i in range(4)}
    reply = ask(decider, many, mode="packed", chunk_rows=8)
    assert reply.diagnostics is not None
    assert reply.diagnostics.chunks == (tuple((str(i),) for i in range(4)),)


def test_sequential_groups_are_told_the_answers_before_them(decider: Decider) -> None:
    many = {str(i): Noul(f"Is it {i}?") for i in range(2)}
    at_once, in_turn = (ask(decider, many, mode="packed", chunk_rows=8, sequential=s) for s in (False, True))
    assert told(in_turn, "0").probabilities == distributions(at_once)["0"]
    assert told(in_turn, "1").probabilities != distributions(at_once)["1"]
    assert in_turn.usage.input_tokens > at_once.usage.input_tokens


@pytest.mark.parametrize(
    ("controls", "name", "kind"),
    [
        ({"steps": 4}, "steps", "unsupported_by_reader"),
        ({"canvas_length": 48}, "canvas_length", "unsupported_by_reader"),
        ({"think": 4096}, "think", "too_many_tokens"),
        ({"image_tokens": 100}, "image_tokens", "literal_error"),
    ],
)
def test_what_this_checkpoint_cannot_do_is_refused_by_name(
    decider: Decider, controls: dict[str, Any], name: str, kind: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        ask(decider, **controls)
    assert [(issue.loc, issue.type) for issue in caught.value.issues] == [((name,), kind)]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_on_cuda_it_reads_as_on_the_cpu(decider: Decider, folder: Path) -> None:
    with Decider(load_reader(folder, placement=Placement("cuda", 2**22, 1024))) as fast:
        for controls in ({}, {"mode": "packed"}, {"steps": 2}, {"samples": 4}, {"projection": "full"}, {"canvas_length": 32}):
            slow, quick = ask(decider, **controls), ask(fast, **controls)  # type: ignore[arg-type]
            for key in ASKED:
                assert told(quick, key).probabilities == pytest.approx(told(slow, key).probabilities, abs=0.02)
                assert told(quick, key).label_mass == pytest.approx(told(slow, key).label_mass, rel=0.05)
        seen, shown = ask(decider, images=(png(0),)), ask(fast, images=(png(0),))
        assert told(shown).probabilities == pytest.approx(told(seen).probabilities, abs=0.02)
        assert all(len(told(ask(fast, think=20), key).thoughts) == 1 for key in ASKED)
        first, second = ask(fast, state="again " * 40), ask(fast, state="again " * 40)
        assert told(first).probabilities == pytest.approx(told(second).probabilities, abs=0.01)
        assert second.usage.tokens_reused > first.usage.tokens_reused
