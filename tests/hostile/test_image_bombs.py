"""Images made to hurt: each is a typed refusal before a pixel is decoded, and costs neither memory nor time."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import random
import struct
import time
import tracemalloc
import zlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image as Picture

from oneread.serving.app import create_app
from oneread.serving.images import MAX_IMAGES, ImageLimits, measure
from oneread.serving.settings import Settings
from tests.serving.fakes import FakeDecider, FakeReader

SECRET = b"planted-secret-0c41"
LIMITS = ImageLimits()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, *more: bytes) -> bytes:
    """A PNG that says it is so large and holds a few rows of nothing."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    data = chunk(b"IDAT", zlib.compress(bytes(100_000), 9))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(more) + data + chunk(b"IEND", b"")


def gif(width: int, height: int, frames: int = 1) -> bytes:
    frame = b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x02\x4c\x01\x00"
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(6) + frame * frames + b";"


def jpeg(*sizes: tuple[int, int]) -> bytes:
    """A JPEG with a start of frame for each size."""
    frames = b"".join(
        b"\xff\xc0" + struct.pack(">HBHHB", 17, 8, h, w, 3) + bytes([1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]) for w, h in sizes
    )
    return b"\xff\xd8" + frames + b"\xff\xda" + struct.pack(">H", 12) + bytes(10) + b"\xff\xd9"


def webp(width: int, height: int) -> bytes:
    extended = bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    content = b"WEBPVP8X" + struct.pack("<I", len(extended)) + extended
    return b"RIFF" + struct.pack("<I", len(content)) + content


def lossless(width: int, height: int) -> bytes:
    bits = struct.pack("<I", (width - 1) | (height - 1) << 14)
    content = b"WEBPVP8L" + struct.pack("<I", 5) + b"\x2f" + bits
    return b"RIFF" + struct.pack("<I", len(content)) + content


def picture(form: str, **options: Any) -> bytes:
    out = io.BytesIO()
    Picture.effect_noise((40, 30), 60).convert("RGB").save(out, form, **options)
    return out.getvalue()


BOMBS: dict[str, bytes] = {
    "png, as large as its header can tell": png(2**31 - 1, 2**31 - 1),
    "png, one pixel high": png(2**31 - 1, 1),
    "png, just too large": png(4096, 4097),
    "png, sizes with a sign": png(2**32 - 1, 2**32 - 1),
    "gif": gif(65535, 65535),
    "gif of many frames": gif(65535, 65535, frames=5000),
    "jpeg": jpeg((65535, 65535)),
    "webp": webp(2**24, 2**24),
    "webp, lossless": lossless(2**14, 2**14),
    "png without a width": png(0, 5),
    "jpeg without a height": jpeg((5, 0)),
}
STRANGERS: dict[str, bytes] = {
    "nothing": b"",
    "a tiff": b"II*\x00" + bytes(60),
    "a pdf": b"%PDF-1.7 " + SECRET,
    "an svg with an entity bomb": b'<!DOCTYPE s [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><svg width="1">&b;</svg>' + SECRET,
    "a zip": b"PK\x03\x04" + SECRET,
    "a script that begins like a gif": b"GIF89b=/*" + SECRET,
    "a page behind a png's first bytes": b"\x89PNG\r\n\x1a\n<html>" + SECRET,
    "a jpeg of nothing but padding": b"\xff\xd8" + b"\xff" * 500_000,
    "a jpeg of empty segments": b"\xff\xd8" + b"\xff\xe0\x00\x02" * 200_000,
    "a jpeg whose segment goes backwards": b"\xff\xd8\xff\xe0\x00\x00" * 10,
    "a riff of something else": b"RIFF\x00\x00\x00\x00WAVEfmt ",
    "a webp with a chunk of another kind": b"RIFF\x00\x00\x00\x00WEBPANIM" + bytes(30),
}  # fmt: skip
POLYGLOTS: dict[str, bytes] = {
    "png and zip": picture("PNG") + b"PK\x03\x04" + SECRET,
    "gif and script": picture("GIF") + b"*/=1;alert(1)//" + SECRET,
    "jpeg and page": picture("JPEG", comment=b"<script>" + SECRET + b"</script>"),
    "png with a text of a gigabyte": png(40, 30, chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(2**24), 9) * 4)),
}


class SeeingReader(FakeReader):
    takes_images = True


class Door:
    """An app whose reader takes images and decodes none."""

    def __init__(self) -> None:
        self.decider = FakeDecider(SeeingReader(takes_images=True))
        self.app = create_app(Settings(), self.decider)  # type: ignore[arg-type]
        self.loop = asyncio.new_event_loop()

    def post(self, images: list[bytes]) -> httpx.Response:
        urls = [f"data:image/png;base64,{base64.b64encode(image).decode()}" for image in images]
        body = {"state": "x", "questions": {"q": {"type": "noul", "instructions": "Is it?"}}, "images": urls}
        return self.send(content=json.dumps(body).encode(), headers={"content-type": "application/json"})

    def send(self, **request: Any) -> httpx.Response:
        async def call() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://test", timeout=30) as client:
                return await client.post("/v1/systemone", **request)

        return self.loop.run_until_complete(call())


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    door = Door()
    yield door
    door.loop.close()


@pytest.fixture(autouse=True)
def nothing_is_decoded(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if "door" in request.fixturenames:

        def opened(*_: Any, **__: Any) -> None:
            raise AssertionError("an image was opened before it was let in")

        monkeypatch.setattr(Picture, "open", opened)


def refused(door: Door, images: list[bytes]) -> list[str]:
    """The types of the issues, after a look at what the refusal cost."""
    door.decider.asked.clear()
    tracemalloc.start()
    start = time.monotonic()
    got = door.post(images)
    seconds, peak = time.monotonic() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert got.status_code == 422, got.text
    assert seconds < 2
    assert peak < 4 * 2**20 + 12 * sum(map(len, images))
    assert SECRET.decode() not in got.text
    assert not door.decider.asked
    return [issue["type"] for issue in got.json()["detail"]]


@pytest.mark.parametrize("name", BOMBS)
def test_what_its_header_says_is_enough_to_refuse(door: Door, name: str) -> None:
    assert len(BOMBS[name]) < 120_000
    assert refused(door, [BOMBS[name]]) == ["image_pixels"]


@pytest.mark.parametrize("name", STRANGERS)
def test_what_is_no_image_is_refused(door: Door, name: str) -> None:
    assert refused(door, [STRANGERS[name]]) == ["image_format"]


def test_every_bomb_of_a_request_is_named(door: Door) -> None:
    assert refused(door, [BOMBS["gif"], picture("PNG"), BOMBS["webp"]]) == ["image_pixels"] * 2


@pytest.mark.parametrize("count", [MAX_IMAGES + 1, 2000])
def test_more_images_than_are_taken_are_refused(door: Door, count: int) -> None:
    told = ["too_long"] * (count - MAX_IMAGES)
    assert refused(door, [gif(1, 1)] * count) == (told if count < 64 else [*told[:64], "too_many_errors"])


def test_files_beyond_the_limit_are_refused_undecoded(door: Door) -> None:
    assert refused(door, [picture("PNG") + bytes(LIMITS.bytes)]) == ["image_too_large"]


def test_a_form_of_many_bombs_is_refused(door: Door) -> None:
    request = {"state": "x", "questions": {"q": {"type": "noul", "instructions": "Is it?"}}}
    files = {"request": (None, json.dumps(request)), **{f"p{i}": (f"{i}.gif", BOMBS["gif"]) for i in range(60)}}
    got = door.send(files=files)
    assert got.status_code == 422
    assert {issue["type"] for issue in got.json()["detail"]} == {"image_pixels"}


@pytest.mark.parametrize("name", POLYGLOTS)
def test_what_else_a_file_holds_is_not_looked_at(door: Door, name: str) -> None:
    got = door.post([POLYGLOTS[name]])
    assert got.status_code == 200
    assert SECRET.decode() not in got.text
    assert (door.decider.asked[-1].images[0].width, door.decider.asked[-1].images[0].height) == (40, 30)


def see(data: bytes) -> str:
    """What a reader's eyes say of a file that was let in: how large it is, or why it cannot be seen."""
    from oneread.engines.onepass.vision import VisionTower

    size = measure(data)
    if size is None or not 0 < size[0] * size[1] <= 64 * 64:
        return "refused"
    tower = SimpleNamespace(prepare=lambda pixels, budget: pixels.shape)
    try:
        return str(VisionTower.see(tower, data, *size, 280))  # type: ignore[arg-type]
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize(
    "data",
    [
        jpeg((8, 8), (60000, 60000)),
        gif(8, 8).replace(struct.pack("<HHHH", 0, 0, 8, 8), struct.pack("<HHHH", 0, 0, 60000, 60000)),
        png(8, 8, chunk(b"IHDR", struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0))),
        webp(8, 8) + lossless(16000, 16000)[12:],
    ],
    ids=["jpeg", "gif", "png", "webp"],
)
def test_a_second_larger_size_inside_is_no_way_in(data: bytes) -> None:
    assert see(picture("PNG")) == "(30, 40, 3)"
    tracemalloc.start()
    told = see(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "size that its header told" in told or "damaged" in told
    assert peak < 8 * 2**20


def test_a_text_chunk_that_unpacks_to_much_is_no_way_in() -> None:
    assert "planted" not in see(POLYGLOTS["png with a text of a gigabyte"])


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_damaged_files_are_seen_or_refused_by_name(form: str) -> None:
    exif = Picture.Exif()
    exif[0x0112] = 6
    whole = picture(form, **({"exif": exif} if form != "GIF" else {}))
    assert np.prod(measure(whole) or ()) == 1200
    told: set[str] = set()
    for n in range(0, len(whole), max(1, len(whole) // 150)):
        told.add(see(whole[:n]))
    dice = random.Random(form)
    for _ in range(400):
        broken = bytearray(whole)
        for _ in range(dice.randint(1, 6)):
            broken[dice.randrange(dice.choice([64, len(broken)]))] = dice.randrange(256)
        told.add(see(bytes(broken)))
    assert "The image's file is damaged" in told or form == "GIF"
    assert all(len(message) < 120 for message in told)
