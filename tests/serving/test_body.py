"""Bodies are decoded as they say they are encoded, and the cap holds before and after."""

from __future__ import annotations

import gzip
import io
import json
import random
import sys
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from .bad_bodies import NOUL, SECRET
from .fakes import FakeDecider

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CAP = 20_000
Decode = Callable[[bytes], bytes]


def body(size: int = 2_000) -> bytes:
    """A valid body of exactly this many bytes that does not compress to nothing."""
    frame = len(json.dumps({"state": "", "questions": {"q": NOUL}}))
    text = "".join(random.Random(size).choices("abcdefghijklmnop ", k=size - frame))
    return json.dumps({"state": text, "questions": {"q": NOUL}}).encode()


def zstd_stream(data: bytes) -> bytes:
    """A frame without the size of its content, as a streaming client sends it."""
    out = io.BytesIO()
    with zstd.ZstdFile(out, "w") as file:
        file.write(data)
    return out.getvalue()


CODINGS: dict[str, tuple[str, Decode]] = {
    "none": ("", bytes),
    "identity": ("identity", bytes),
    "gzip": ("gzip", gzip.compress),
    "gzip-upper": ("GZIP", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "zstd": ("zstd", zstd.compress),
    "zstd-stream": ("zstd", zstd_stream),
    "gzip-members": ("gzip", lambda data: gzip.compress(data[:700]) + gzip.compress(b"") + gzip.compress(data[700:])),
    "zstd-frames": ("zstd", lambda data: zstd.compress(data[:700]) + zstd.compress(data[700:])),
    "gzip-then-zstd": ("gzip, zstd", lambda data: zstd.compress(gzip.compress(data))),
    "zstd-then-gzip": ("zstd,identity , gzip", lambda data: gzip.compress(zstd.compress(data))),
}


async def pieces(data: bytes, size: int) -> AsyncIterator[bytes]:
    for at in range(0, len(data), size):
        yield data[at : at + size]


@pytest.fixture
def client(connect: Any, decider: FakeDecider) -> httpx.AsyncClient:
    client: httpx.AsyncClient = connect(decider, max_body_bytes=CAP)
    return client


async def post(client: httpx.AsyncClient, content: Any, coding: str) -> httpx.Response:
    headers = {"content-type": "application/json"} | ({"content-encoding": coding} if coding else {})
    return await client.post("/v1/systemone", content=content, headers=headers)


@pytest.mark.parametrize("name", CODINGS)
@pytest.mark.parametrize("chunk", [1, 13, 10**9])
async def test_a_coded_body_is_answered_however_it_is_cut(
    client: httpx.AsyncClient, decider: FakeDecider, name: str, chunk: int
) -> None:
    coding, encode = CODINGS[name]
    got = await post(client, pieces(encode(body()), chunk), coding)
    assert got.status_code == 200
    assert decider.asked[0].state == json.loads(body())["state"]


@pytest.mark.parametrize("name", CODINGS)
async def test_the_cap_is_exact_after_decoding(client: httpx.AsyncClient, name: str) -> None:
    coding, encode = CODINGS[name]
    assert (await post(client, encode(body(CAP)), coding)).status_code == 200
    assert (await post(client, encode(body(CAP + 1)), coding)).status_code == 413


@pytest.mark.parametrize("name", ["gzip", "zstd", "zstd-stream", "gzip-then-zstd"])
async def test_a_bomb_is_stopped_at_the_cap(client: httpx.AsyncClient, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    coding, encode = CODINGS[name]
    bomb = encode(bytes(10_000_000))
    unpacked = count_unpacked(monkeypatch)
    got = await post(client, bomb, coding)
    assert got.status_code == 413
    assert got.headers["connection"] == "close"
    assert 0 < sum(unpacked) <= 3 * (CAP + 1)


def count_unpacked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    from oneread.serving import body

    seen: list[int] = []
    for stream in (body._GzipMember, body._ZstdFrame):

        def feed(self: Any, data: bytes, limit: int, _feed: Any = stream.feed) -> bytes:
            out: bytes = _feed(self, data, limit)
            seen.append(len(out))
            return out

        monkeypatch.setattr(stream, "feed", feed)
    return seen


async def test_a_declared_length_over_the_cap_is_refused_unread(client: httpx.AsyncClient) -> None:
    read = False

    async def never() -> AsyncIterator[bytes]:
        nonlocal read
        read = True
        yield b""

    headers = {"content-type": "application/json", "content-length": str(CAP + 1)}
    got = await client.post("/v1/systemone", content=never(), headers=headers)
    assert (got.status_code, read) == (413, False)


async def test_an_undeclared_length_over_the_cap_is_refused_when_it_is_passed(client: httpx.AsyncClient) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1000
            yield bytes(1000)

    got = await client.post("/v1/systemone", content=endless(), headers={"content-type": "application/json"})
    assert got.status_code == 413
    assert sent <= CAP + 2000


DAMAGED: dict[str, tuple[str, Decode, str]] = {
    "gzip-not": ("gzip", bytes, "is not valid gzip"),
    "gzip-cut": ("gzip", lambda data: gzip.compress(data)[:-4], "ends too early"),
    "gzip-no-trailer": ("gzip", lambda data: gzip.compress(data)[:-8], "ends too early"),
    "gzip-checksum": ("gzip", lambda data: gzip.compress(data)[:-8] + bytes(8), "is not valid gzip"),
    "gzip-garbage-after": ("gzip", lambda data: gzip.compress(data) + b"{}" * 40, "is not valid gzip"),
    "gzip-empty": ("gzip", lambda _: b"", "ends too early"),
    "gzip-raw-deflate": ("gzip", zlib.compress, "is not valid gzip"),
    "gzip-members": ("gzip", lambda _: gzip.compress(b"") * 65, "has more than 64 members"),
    "gzip-is-zstd": ("gzip", zstd.compress, "is not valid gzip"),
    "zstd-not": ("zstd", bytes, "is not valid zstd with a window of at most 8 MiB"),
    "zstd-cut": ("zstd", lambda data: zstd.compress(data)[:-3], "ends too early"),
    "zstd-garbage-after": (
        "zstd",
        lambda data: zstd.compress(data) + b"{}" * 40,
        "is not valid zstd with a window of at most 8 MiB",
    ),
    "zstd-empty": ("zstd", lambda _: b"", "ends too early"),
    "zstd-is-gzip": ("zstd", gzip.compress, "is not valid zstd with a window of at most 8 MiB"),
    "zstd-frames": ("zstd", lambda _: zstd.compress(b"") * 65, "has more than 64 members"),
    "zstd-window": (
        "zstd",
        lambda _: zstd.compress(bytes(40_000_000), options={zstd.CompressionParameter.window_log: 25}),
        "is not valid zstd with a window of at most 8 MiB",
    ),
    "inner-cut": ("gzip, zstd", lambda data: zstd.compress(gzip.compress(data)[:-4]), "ends too early"),
    "outer-only": ("gzip, zstd", zstd.compress, "is not valid gzip"),
}


@pytest.mark.parametrize("name", DAMAGED)
async def test_a_damaged_compressed_body_is_named_as_such(client: httpx.AsyncClient, decider: FakeDecider, name: str) -> None:
    coding, encode, what = DAMAGED[name]
    got = await post(client, encode(body()), coding)
    assert got.status_code == 422
    assert got.json() == {"detail": [{"loc": ["body"], "msg": f"The compressed body {what}", "type": "content_encoding"}]}
    assert SECRET not in got.text
    assert not decider.asked


@pytest.mark.parametrize("kind", [None, "application/json", "Application/JSON; charset=utf-8", "application/problem+json"])
async def test_json_types_and_no_type_are_taken(client: httpx.AsyncClient, kind: str | None) -> None:
    got = await client.post("/v1/systemone", content=body(), headers={"content-type": kind} if kind else {})
    assert got.status_code == 200


async def test_a_byte_order_mark_is_skipped(client: httpx.AsyncClient) -> None:
    assert (await client.post("/v1/systemone", content=b"\xef\xbb\xbf" + body())).status_code == 200
