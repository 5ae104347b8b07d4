"""A DiffusionGemma reader writes: thoughts before an answer, texts beside decisions; and it stops when nobody waits."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from oneread import Controls, Decider, InvalidRequest, Noul, Request
from oneread.questions import Message

from .asking import ASKED, STATE, ask, distributions, told
from .gemma import NAME, open_checkpoint


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
