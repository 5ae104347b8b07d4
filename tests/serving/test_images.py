"""Images on the wire: every way in, every limit, and nothing decoded."""

from __future__ import annotations

import base64
import io
import json
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from PIL import Image as Picture

from oneread.questions import Image
from oneread.serving.images import ImageLimits, measure

from .bad_bodies import NOUL, one
from .conftest import Connect
from .fakes import FakeDecider, FakeReader


def picture(form: str = "PNG", size: tuple[int, int] = (7, 5), **options: Any) -> bytes:
    out = io.BytesIO()
    Picture.new("RGB", size, "red").save(out, form, **options)
    return out.getvalue()


PNG = picture()
B64 = base64.b64encode(PNG).decode()
URL = f"data:image/png;base64,{B64}"


@pytest.mark.parametrize(
    "data",
    [
        picture("PNG"),
        picture("JPEG"),
        picture("JPEG", progressive=True, comment=b"hello" * 100),
        picture("GIF"),
        picture("WEBP"),
        picture("WEBP", lossless=True),
        picture("WEBP", exif=b"Exif\0\0MM"),
    ],
)
def test_the_header_tells_the_size(data: bytes) -> None:
    assert measure(data) == (7, 5)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_header_cut_off_anywhere_tells_nothing_or_the_same(form: str) -> None:
    data = picture(form)
    assert {measure(data[:n]) for n in range(len(data))} <= {None, (7, 5)}


@pytest.mark.parametrize("data", [b"", b"BM" + bytes(60), b"%PDF-1.7", b"<svg/>", b"\xff\xd8\xff\xda" + bytes(9)])
def test_other_files_are_no_images(data: bytes) -> None:
    assert measure(data) is None


@dataclass
class SeeingReader(FakeReader):
    takes_images: bool = True


@pytest.fixture
def decider() -> FakeDecider:
    return FakeDecider(SeeingReader())


def seen(decider: FakeDecider) -> list[tuple[bytes, int, int]]:
    return [(image.data, image.width, image.height) for image in decider.asked[-1].images]


WAYS: list[tuple[str, dict[str, Any]]] = [
    ("/v1/systemone", {**one(NOUL), "images": [URL, {"content_type": "image/png", "base64": B64}]}),
    (
        "/v1/systemone",
        {
            "state": {"photos": ["<a>", "see <b>"]},
            "questions": {"q": NOUL},
            "assets": {
                "<a>": {"type": "image", "format": "png", "data_base64": B64},
                "<b>": {"type": "image", "format": "png", "data_base64": B64},
            },
        },
    ),
    (
        "/api/alpha/decisions",
        {"state": ["x", *[{"type": "image_url", "image_url": {"url": URL}}] * 2], "questions": {"q": NOUL}},
    ),
    (
        "/v1/decisions",
        {
            "model": "jev-latest",
            "input": [{"role": "user", "content": [{"type": "input_image", "image_url": URL}]}],
            "questions": [{"type": "predicate", "instructions": [{"type": "input_image", "image_url": URL}]}],
        },
    ),
]


@pytest.mark.parametrize(("path", "body"), WAYS, ids=[f"{path}-{i}" for i, (path, _) in enumerate(WAYS)])
async def test_images_come_in_every_way(path: str, body: Any, client: httpx.AsyncClient, decider: FakeDecider) -> None:
    got = await client.post(path, json=body)
    assert got.status_code == 200, got.text
    assert seen(decider) == [(PNG, 7, 5)] * 2


async def test_placeholders_and_parts_become_numbers_in_the_text(client: httpx.AsyncClient, decider: FakeDecider) -> None:
    await client.post("/v1/systemone", json=WAYS[1][1])
    assert decider.asked[-1].state == {"photos": ["[image 1]", "see [image 2]"]}
    await client.post("/api/alpha/decisions", json=WAYS[2][1])
    assert decider.asked[-1].state == ["x", "[image 1]", "[image 2]"]


async def test_a_form_with_a_request_and_photos_is_read(client: httpx.AsyncClient, decider: FakeDecider) -> None:
    files = {"request": (None, json.dumps(one(NOUL))), "photo": ("a.jpg", picture("JPEG"), "image/jpeg"), "more": PNG}
    got = await client.post("/v1/systemone", files=files)
    assert got.status_code == 200, got.text
    assert seen(decider) == [(picture("JPEG"), 7, 5), (PNG, 7, 5)]


async def test_the_sdks_form_is_read(client: httpx.AsyncClient, decider: FakeDecider) -> None:
    body = {
        "state": "see <image:1>",
        "model": "jev-latest",
        "questions": {"q": {"type": "noul", "instructions": ["is <image:1> red?"]}},
        "assets": {"<image:1>": {"type": "image", "part": "asset-0"}},
    }
    files = {"request": (None, json.dumps(body), "application/json"), "asset-0": ("asset-0", PNG, "image/png")}
    got = await client.post("/v1/systemone", files=files)
    assert got.status_code == 200, got.text
    assert decider.asked[-1].state == "see [image 1]"
    assert decider.asked[-1].questions["q"].instructions == ["is [image 1] red?"]
    assert decider.asked[-1].images == (Image(PNG, 7, 5, ("assets", "<image:1>")),)


ASSET = {"type": "image", "format": "png", "data_base64": B64}
WRONG: list[tuple[dict[str, Any], list[Any], str]] = [
    ({"images": [URL] * 4}, ["images", 3], "too_long"),
    ({"images": [f"data:image/png;base64,{base64.b64encode(PNG + bytes(20_000)).decode()}"]}, ["images", 0], "image_too_large"),
    ({"images": ["data:image/png;base64," + "A" * 90_000]}, ["images", 0], "image_too_large"),
    ({"images": [f"data:image/png;base64,{base64.b64encode(picture(size=(101, 100))).decode()}"]}, ["images", 0], "image_pixels"),
    ({"images": ["data:image/png;base64,$$$$"]}, ["images", 0], "base64"),
    ({"images": ["https://example.org/a.png"]}, ["images", 0], "image_url"),
    ({"images": ["file:///etc/passwd"]}, ["images", 0], "image_url"),
    ({"images": [f"data:text/html;base64,{base64.b64encode(b'<svg/>').decode()}"]}, ["images", 0], "image_format"),
    ({"images": [{"content_type": "image/png"}]}, ["images", 0, "base64"], "string_type"),
    ({"images": [5]}, ["images", 0], "image_url"),
    ({"assets": {"<a>": ASSET}}, ["assets", "<a>"], "asset_unused"),
    ({"assets": {"<a>": {**ASSET, "type": "video"}}}, ["assets", "<a>"], "asset"),
    ({"assets": {"<a>": B64}}, ["assets", "<a>"], "asset"),
    ({"assets": {"": ASSET}}, ["assets", ""], "asset"),
    ({"assets": {"<a>": {"type": "image"}}}, ["assets", "<a>", "data_base64"], "string_type"),
    ({"assets": {"<a>": {"type": "image", "part": "asset-0"}}}, ["assets", "<a>", "part"], "asset_part"),
    ({"questions": {"q": {"type": "box", "instructions": "x"}}}, ["questions", "q", "box"], "images_unsupported"),
]


@pytest.mark.parametrize(("more", "loc", "kind"), WRONG, ids=[f"{row[2]}-{i}" for i, row in enumerate(WRONG)])
async def test_a_wrong_image_is_refused_where_it_stands(
    more: dict[str, Any], loc: list[Any], kind: str, connect: Connect, decider: FakeDecider
) -> None:
    got = await connect(decider, images=ImageLimits(3, 20_000, 10_000)).post("/v1/systemone", json={**one(NOUL), **more})
    assert got.status_code == 422
    assert [(issue["loc"], issue["type"]) for issue in got.json()["detail"]] == [(["body", *loc], kind)]
    assert B64 not in got.text
    assert not decider.asked


def form(*parts: bytes, end: bytes = b"--b--\r\n") -> bytes:
    return b"".join(b"--b\r\n" + part + b"\r\n" for part in parts) + end


REQUEST = b'content-disposition: form-data; name="request"\r\n\r\n' + json.dumps(one(NOUL)).encode()
FORMS: list[tuple[str, bytes, str]] = [
    ("multipart/form-data", form(REQUEST), "multipart"),
    ("multipart/form-data; boundary=other", form(REQUEST), "multipart"),
    ("multipart/form-data; boundary=b", form(REQUEST, end=b""), "multipart"),
    ("multipart/form-data; boundary=b", form(b"x: y\r\n\r\nz"), "multipart"),
    ("multipart/form-data; boundary=b", form(REQUEST, REQUEST), "multipart"),
    ("multipart/form-data; boundary=b", form(REQUEST.replace(b'"request"', b'"other"')), "multipart"),
    ("multipart/form-data; boundary=b", form(REQUEST, *[b'a: b; name="%d"\r\n\r\nx' % i for i in range(70)]), "multipart"),
    ("multipart/form-data; boundary=b", form(b'a: b; name="request"\r\n\r\n{'), "json_invalid"),
    ("multipart/form-data; boundary=b", form(REQUEST, b'a: b; name="note"\r\n\r\nhello'), "image_format"),
]


@pytest.mark.parametrize(("kind", "body", "fault"), FORMS, ids=range(len(FORMS)))
async def test_a_damaged_form_is_refused(
    kind: str, body: bytes, fault: str, client: httpx.AsyncClient, decider: FakeDecider
) -> None:
    got = await client.post("/v1/systemone", content=body, headers={"content-type": kind})
    assert got.status_code == 422
    assert [issue["type"] for issue in got.json()["detail"]] == [fault]
    assert not decider.asked
