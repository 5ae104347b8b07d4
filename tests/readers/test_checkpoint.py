"""A DiffusionGemma folder answers through the one path: labels, mass, draws, thoughts, steps, widths, images."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from PIL import Image as Picture  # noqa: E402

from oneread import Asking, Choice, ChoiceAnswer, Controls, Decider, InvalidRequest, Noul, Question, Request, Score  # noqa: E402
from oneread.answers import Answers, QuestionDiagnostics  # noqa: E402
from oneread.errors import EngineError, ReaderError  # noqa: E402
from oneread.questions import Image, Message  # noqa: E402
from oneread.readers.checkpoint import Placement, fingerprint, name_of, survey  # noqa: E402
from oneread.readers.reader import load_reader  # noqa: E402

from ..canvas.test_labels import SPECIALS  # noqa: E402
from .gemma import NAME, PLACED, open_checkpoint, write_checkpoint  # noqa: E402

ASKED: dict[str, Question] = {
    "urgent": Noul("Is it urgent?"),
    "team": Choice({"billing": "money", "outage": None, "other": None}, "Which team?"),
    "anger": Score(["calm", "angry"], "How angry?"),
}
STATE = "the site is down and nobody answers"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("checkpoint"))


@pytest.fixture(scope="module")
def decider(folder: Path) -> Iterator[Decider]:
    before = torch.get_num_threads()
    with Decider(open_checkpoint(folder)) as decider:
        yield decider
    torch.set_num_threads(before)


def ask(decider: Decider, questions: dict[str, Question] = ASKED, images: tuple[Image, ...] = (), **controls: Any) -> Answers:
    asking = controls.pop("asking", {})
    state = controls.pop("state", STATE)
    return decider.decide(Request(state, questions, Controls(diagnostics=True, **controls), asking, images))


def told(reply: Answers, key: str = "urgent") -> QuestionDiagnostics:
    assert reply.diagnostics is not None
    return reply.diagnostics.questions[key]


def distributions(reply: Answers) -> dict[str, Any]:
    assert reply.diagnostics is not None
    return {key: pytest.approx(q.probabilities, abs=1e-5) for key, q in reply.diagnostics.questions.items()}


def test_the_folder_says_who_the_reader_is(decider: Decider, folder: Path) -> None:
    reader = decider.reader
    assert (reader.name, reader.licence) == (NAME, "apache-2.0")
    assert reader.has_mass
    assert reader.takes_images
    assert reader.digest == fingerprint(folder)
    assert name_of(Path("/x/models--google--diffusiongemma/snapshots/0a1b")) == "diffusiongemma"


def test_a_changed_weight_changes_the_fingerprint(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / NAME
    shutil.copytree(folder, copy)
    assert fingerprint(copy) == fingerprint(folder)
    weights = copy / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-5] ^= 1
    weights.write_bytes(data)
    assert fingerprint(copy) != fingerprint(folder)


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


def test_a_thought_is_written_first_and_shared_by_draws(decider: Decider) -> None:
    plain = ask(decider, samples=2)
    reply = ask(decider, samples=2, think=40)
    again = ask(decider, samples=2, think=40)
    assert distributions(reply) != {key: told(plain, key).probabilities for key in ASKED}
    assert {key: told(again, key).probabilities for key in ASKED} == distributions(reply)
    for key in ASKED:
        assert len(told(reply, key).thoughts) == 1
        assert told(plain, key).thoughts == ()
    thought = sum(len(decider.reader.canvas.encode_state(told(reply, key).thoughts[0])) > 0 for key in ASKED)
    assert thought == 3
    assert plain.usage.output_tokens == 6
    assert 6 < reply.usage.output_tokens <= 6 + 3 * 40
    assert reply.usage.input_tokens > plain.usage.input_tokens
    alone = ask(decider, {"team": ASKED["team"]}, samples=2, think=40)
    assert told(alone, "team").thoughts == told(reply, "team").thoughts


def test_packed_questions_share_a_thought_and_orders_have_their_own(decider: Decider) -> None:
    packed = ask(decider, mode="packed", think=20)
    assert len({told(packed, key).thoughts for key in ASKED}) == 1
    turned = ask(decider, {"team": ASKED["team"]}, rotations=2, samples=2, think=20)
    assert len(told(turned, "team").draws) == 4
    assert len(told(turned, "team").thoughts) == 2


async def test_thoughts_do_not_block_the_loop(decider: Decider) -> None:
    request = Request(STATE, ASKED, Controls(diagnostics=True, think=20))
    assert {k: q.probabilities for k, q in (await decider.adecide(request)).diagnostics.questions.items()} == distributions(  # type: ignore[union-attr]
        decider.decide(request)
    )


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


def png(seed: int, size: tuple[int, int] = (96, 64), form: str = "PNG") -> Image:
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3)).astype(np.uint8)
    stream = io.BytesIO()
    Picture.fromarray(pixels).save(stream, form)
    return Image(stream.getvalue(), *size, ("images", seed))


def test_images_are_seen_before_the_state(decider: Decider) -> None:
    none, one, other = ask(decider), ask(decider, images=(png(0),)), ask(decider, images=(png(1),))
    seen = [{key: told(reply, key).probabilities for key in ASKED} for reply in (none, one, other)]
    assert seen[0] != seen[1] != seen[2]
    assert seen[0] != seen[2]
    again = ask(decider, images=(png(0),))
    assert {key: told(again, key).probabilities for key in ASKED} == distributions(one)
    both = ask(decider, images=(png(0), png(1, form="JPEG")))
    assert both.usage.input_tokens > one.usage.input_tokens > none.usage.input_tokens


def test_an_image_takes_the_tokens_it_is_given(decider: Decider) -> None:
    one = {"urgent": ASKED["urgent"]}
    plain = ask(decider, one).usage.input_tokens
    taken = [ask(decider, one, (png(0, (640, 480)),), image_tokens=n).usage.input_tokens - plain - 2 for n in (70, 140, 280)]
    assert all(0.5 * most < n <= most for n, most in zip(taken, (70, 140, 280), strict=True))


@pytest.mark.parametrize(
    ("image", "says"),
    [
        (Image(png(0).data[:-40], 96, 64, ("images", 0)), "damaged"),
        (Image(png(0).data, 95, 64, ("images", 0)), "not of the size"),
        (Image(b"\x89PNG\r\n\x1a\n", 96, 64, ("images", 0)), "damaged"),
    ],
)
def test_an_image_that_cannot_be_decoded_is_refused_where_it_stands(decider: Decider, image: Image, says: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        ask(decider, images=(image,))
    (issue,) = caught.value.issues
    assert (issue.loc, issue.type) == (("images", 0), "image_unreadable")
    assert says in issue.message


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


def test_a_tokenizer_that_knows_no_thinking_refuses_to_think(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / NAME
    shutil.copytree(folder, copy)
    tokenizer = json.loads((copy / "tokenizer.json").read_text())
    for token in tokenizer["added_tokens"]:
        token["content"] = token["content"].replace("<|think|>", "<unused0>")
    vocab = tokenizer["model"]["vocab"]
    vocab["<unused0>"] = vocab.pop("<|think|>")
    (copy / "tokenizer.json").write_text(json.dumps(tokenizer))
    with Decider(open_checkpoint(copy)) as decider, pytest.raises(InvalidRequest) as caught:
        ask(decider, think=5)
    assert caught.value.issues[0].loc == ("think",)


def test_a_folder_that_is_not_whole_is_refused(folder: Path, tmp_path: Path) -> None:
    def broken(name: str, text: str | None) -> Path:
        copy = tmp_path / f"{name}-{text is None}"
        shutil.copytree(folder, copy)
        (copy / name).unlink()
        if text is not None:
            (copy / name).write_text(text)
        return copy

    with pytest.raises(ReaderError, match=r"tokenizer\.json is missing"):
        open_checkpoint(broken("tokenizer.json", None))
    with pytest.raises(ReaderError, match=r"model_type should be 'diffusion_gemma'"):
        open_checkpoint(broken("config.json", '{"model_type": "gpt2"}'))
    small = write_checkpoint(tmp_path / "small", specials=SPECIALS)
    shutil.copy(folder / "tokenizer.json", small / "tokenizer.json")
    config = json.loads((small / "config.json").read_text())
    config["text_config"]["vocab_size"] = 100
    (small / "config.json").write_text(json.dumps(config))
    with pytest.raises(ReaderError, match=r"tokens, the model only 100"):
        open_checkpoint(small)


def test_the_fit_is_known_before_anything_is_loaded(folder: Path) -> None:
    known = survey(folder, PLACED)
    assert (known.device, known.tower, known.sees) == ("cpu", True, True)
    fit = known.fit
    parts = dict(fit.parts)
    assert parts["weights"] > 0
    assert 0 < parts["prefix cache"] <= 2**22
    assert parts["one pass"] > 0
    assert parts["image tower"] > 0
    assert str(fit).count("GiB") == 2


def test_a_device_that_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(ReaderError, match="names no device"):
        survey(folder, Placement("abacus"))
    for name in ("meta", "mps"):
        with pytest.raises(ReaderError, match=f"device '{name}' is none that this engine runs on"):
            survey(folder, Placement(name))
    if not torch.cuda.is_available():
        with pytest.raises(ReaderError, match="no CUDA device"):
            survey(folder, Placement("cuda"))


def test_decisions_are_read_while_a_text_is_written(decider: Decider) -> None:
    reader = decider.reader
    assert reader.writer is not None
    assert reader.script is not None
    prompt = reader.script.encode([Message("user", "tell me all")])
    alone = list(reader.writer.generate(prompt, 400, 1))
    came: list[tuple[str, float]] = []

    def write() -> list[np.ndarray]:
        blocks = []
        for block in reader.writer.generate(prompt, 400, 1):  # type: ignore[union-attr]
            blocks.append(block)
            came.append(("block", time.monotonic()))
        return blocks

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        while not writing.done():
            ask(decider, {"urgent": ASKED["urgent"]})
            came.append(("decision", time.monotonic()))
        beside = writing.result()
    assert [b.tolist() for b in beside] == [b.tolist() for b in alone]
    assert len(alone) > 2
    kinds = [kind for kind, _ in sorted(came, key=lambda c: c[1])]
    last = len(kinds) - 1 - kinds[::-1].index("block")
    assert "decision" in kinds[:last], "a decision does not wait for the text's end"


def test_a_text_ends_at_the_tokens_it_is_given(decider: Decider) -> None:
    writer, script = decider.reader.writer, decider.reader.script
    assert writer is not None
    assert script is not None
    prompt = script.encode([Message("user", "hello")])
    whole = np.concatenate(list(writer.generate(prompt, 60, 1)))
    end = int(whole[7])
    cut = np.concatenate(list(writer.generate(prompt, 60, 1, ends=(end,))))
    assert cut.tolist() == whole[: whole.tolist().index(end)].tolist()


def test_without_the_extra_for_images_it_is_a_reader_of_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oneread.readers.checkpoint.find_spec", lambda name: None)
    assert (survey(folder, PLACED).tower, survey(folder, PLACED).sees) == (True, False)
    with Decider(open_checkpoint(folder)) as blind:
        assert not blind.reader.takes_images
        assert "images" not in blind.reader.description
        with pytest.raises(InvalidRequest) as caught:
            ask(blind, images=(png(0),), image_tokens=70)
        assert [(i.loc, i.type) for i in caught.value.issues] == [
            (("images", 0), "images_unsupported"),
            (("image_tokens",), "unsupported_by_reader"),
        ]


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


def test_images_that_fit_no_pass_are_refused_where_the_request_says_them(folder: Path) -> None:
    wide = png(3, (1200, 900))
    with Decider(load_reader(folder, threads=1, placement=Placement("cpu", kv_bytes=2**22, rows=512))) as decider:
        one = {"urgent": Noul("Is it urgent?")}
        room = decider.reader.engine.capabilities.image_room
        assert ask(decider, one, images=(wide,), image_tokens=280).answers
        thinking: list[dict[str, Any]] = [{}, {"think": 5}]
        for more in thinking:
            with pytest.raises(InvalidRequest) as caught:
                ask(decider, one, images=(wide,), image_tokens=560, **more)
            (issue,) = caught.value.issues
            assert (issue.loc, issue.type, issue.context["max_tokens"]) == (("images",), "too_many_tokens", room)
        # Whatever fits by that rule is read, wherever its pages lie.
        for words in range(0, 40, 3):
            assert ask(decider, one, images=(png(4, (600, 500)), png(5, (700, 90))), image_tokens=140, state="a " * words).answers


def test_scores_that_are_no_numbers_are_no_answers(folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    copy = tmp_path / NAME
    shutil.copytree(folder, copy)
    tensors = load_file(copy / "model.safetensors")
    save_file({name: torch.full_like(tensor, float("nan")) for name, tensor in tensors.items()}, copy / "model.safetensors")
    with Decider(open_checkpoint(copy)) as decider, pytest.raises(EngineError, match="not finite"):
        ask(decider)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("config.json", "[]", "model_type should be"),
        ("config.json", {"canvas_length": "x"}, "canvas should be a whole number"),
        ("config.json", {"canvas_length": 0}, "canvas should be a whole number"),
        ("config.json", {"text_config": {"layer_types": 5}}, "text_config"),
        ("generation_config.json", "[]", "should be an object"),
        ("generation_config.json", '{"sampler_config": 5}', "should be an object"),
        ("generation_config.json", '{"max_denoising_steps": 0}', "cannot be so: max_denoising_steps"),
        ("generation_config.json", '{"t_min": "x", "eos_token_id": ["y"]}', "cannot be so: eos_token_id, t_min, t_max"),
        ("model.safetensors.index.json", '{"weight_map": ["a"]}', "not an index"),
        ("model.safetensors.index.json", '{"weight_map": {"a": 5}}', "not an index"),
        ("model.safetensors.index.json", '{"weight_map": {"a": "lost.safetensors"}}', "cannot be read"),
        ("tokenizer.json", "{}", "not a tokenizer"),
    ],
)
def test_a_file_of_another_form_is_named(folder: Path, tmp_path: Path, name: str, text: str | dict[str, Any], says: str) -> None:
    copy = tmp_path / NAME
    shutil.copytree(folder, copy)
    if isinstance(text, dict):
        text = json.dumps(json.loads((copy / name).read_text()) | text)
    (copy / name).write_text(text)
    with pytest.raises(ReaderError, match=says) as caught:
        open_checkpoint(copy)
    assert name in str(caught.value) or "lost.safetensors" in str(caught.value)


@pytest.mark.parametrize("entry", [5, {}, {"dtype": "F32", "shape": [1], "data_offsets": [0]}])
def test_a_weights_file_of_another_form_is_named(folder: Path, tmp_path: Path, entry: Any) -> None:
    header = json.dumps({"x": entry}).encode()
    shutil.copytree(folder, tmp_path / NAME)
    (tmp_path / NAME / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(ReaderError, match=r"model\.safetensors: is not a safetensors file"):
        survey(tmp_path / NAME, PLACED)


@pytest.mark.parametrize("change", [-1, -100_000, 1])
def test_weights_cut_off_are_found_before_anything_is_loaded(folder: Path, tmp_path: Path, change: int) -> None:
    shutil.copytree(folder, tmp_path / NAME)
    file = tmp_path / NAME / "model.safetensors"
    data = file.read_bytes()
    file.write_bytes(data[:change] if change < 0 else data + b"x")
    with pytest.raises(ReaderError, match="bytes of tensors where its header says"):
        survey(tmp_path / NAME, PLACED)


@pytest.mark.parametrize("controls", [{}, {"think": 5}])
async def test_who_leaves_a_long_state_does_not_hold_up_the_next(decider: Decider, controls: dict[str, Any]) -> None:
    long = Request("abc " * 2000, {"urgent": Noul("Is it urgent?")}, Controls(**controls))
    model: Any = decider.reader.writer._model  # type: ignore[union-attr]
    passes, began, run = [], asyncio.Event(), model._pass
    loop = asyncio.get_running_loop()

    def slow(reads: Any) -> Any:
        passes.append(len(reads[0].prompt))
        loop.call_soon_threadsafe(began.set)
        time.sleep(0.2)
        return run(reads)

    model._pass = slow
    try:
        work = asyncio.ensure_future(decider.adecide(long))
        await asyncio.wait_for(began.wait(), 10)
        work.cancel()
        await asyncio.wait_for(decider.adecide(Request("short", {"urgent": Noul("Is it urgent?")})), 10)
    finally:
        del model._pass
    assert len(passes) <= 3, "one of the long state's, perhaps one begun as it was given up, and the next one's"
