"""A DiffusionGemma reader sees images: before the state, in the tokens they are given, or they are refused by place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from oneread import Decider, InvalidRequest, Noul
from oneread.questions import Image
from oneread.readers.checkpoint import Placement, survey
from oneread.readers.reader import load_reader

from .asking import ASKED, ask, distributions, png, told
from .gemma import PLACED, open_checkpoint


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
