"""A request's body as bytes: content type, content encoding and the cap, which holds before and after decompression."""

from __future__ import annotations

import asyncio
import sys
import zlib
from collections.abc import Sequence
from typing import Protocol

from starlette.requests import Request

from ..errors import InvalidRequest
from .failures import Failure, Refused

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_CODINGS = 2
MAX_MEMBERS = 64
ZSTD_WINDOW_LOG = 23
"""RFC 9659: a zstd content encoding uses windows of at most 8 MiB."""


async def read_body(request: Request, cap: int, within_s: float | None = None) -> bytes:
    """The whole body, decompressed.

    Args:
        cap: the most bytes, as sent and after each step of decompression.
        within_s: how long it may take to arrive; None does not bound it.

    Raises:
        Refused: 413 over the cap (at once where the declared length is over it), 415 for a content encoding that is
            not gzip or zstd, 408 for one that arrives too slowly.
        InvalidRequest: a compressed body that is damaged, cut off or followed by something else.
    """
    decoders = [_DECODERS[name]() for name in reversed(_codings(request))]
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > cap:
        raise _too_large(cap)
    try:
        async with asyncio.timeout(within_s):
            return await _read(request, decoders, cap)
    except TimeoutError:
        message = f"The body should arrive within {within_s:g} s."
        raise Refused(Failure(408, "timeout", message, headers={"connection": "close"})) from None


async def _read(request: Request, decoders: Sequence[_Decoder], cap: int) -> bytes:
    raw, body = 0, bytearray()
    async for chunk in request.stream():
        raw += len(chunk)
        if raw > cap:
            raise _too_large(cap)
        for decoder in decoders:
            chunk = decoder.feed(chunk, cap)
        body += chunk
        if len(body) > cap:
            raise _too_large(cap)
    if not all(decoder.complete for decoder in decoders):
        raise _damaged("ends too early")
    return bytes(body)


def media_type(request: Request) -> str:
    """The content type without parameters, lower case; empty when none was sent."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def require_json(request: Request) -> None:
    """Refuse (415) a body that says it is something other than JSON. One that says nothing is taken for JSON."""
    kind = media_type(request)
    if kind not in ("", "application/json") and not (kind.startswith("application/") and kind.endswith("+json")):
        raise Refused(Failure(415, "unsupported_media_type", "The body should be JSON: send 'Content-Type: application/json'."))


def _codings(request: Request) -> list[str]:
    """Content encodings in the order in which they were applied, without ``identity``."""
    names = [name.strip().lower() for line in request.headers.getlist("content-encoding") for name in line.split(",")]
    names = [name for name in names if name not in ("", "identity")]
    if len(names) > MAX_CODINGS or not all(name in _DECODERS for name in names):
        message = f"The content encoding should be gzip or zstd, at most {MAX_CODINGS} of them one over the other."
        raise Refused(Failure(415, "unsupported_media_type", message, headers={"accept-encoding": "gzip, zstd"}))
    return names


def _too_large(cap: int) -> Refused:
    message = f"The body should be at most {cap} bytes, also after decompression."
    return Refused(Failure(413, "request_too_large", message, headers={"connection": "close"}))


def _damaged(what: str) -> InvalidRequest:
    return InvalidRequest.at((), f"The compressed body {what}", "content_encoding")


class _Stream(Protocol):
    """One gzip member or zstd frame; both libraries' objects look like this after the wrappers below."""

    def feed(self, data: bytes, limit: int) -> bytes: ...

    @property
    def ended(self) -> bool: ...

    @property
    def rest(self) -> bytes: ...


class _GzipMember:
    def __init__(self) -> None:
        self._z = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)

    def feed(self, data: bytes, limit: int) -> bytes:
        try:
            return self._z.decompress(data, limit)
        except zlib.error:
            raise _damaged("is not valid gzip") from None

    @property
    def ended(self) -> bool:
        return self._z.eof

    @property
    def rest(self) -> bytes:
        return self._z.unused_data


class _ZstdFrame:
    def __init__(self) -> None:
        self._z = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG})

    def feed(self, data: bytes, limit: int) -> bytes:
        try:
            return self._z.decompress(data, limit)
        except zstd.ZstdError:
            raise _damaged("is not valid zstd with a window of at most 8 MiB") from None

    @property
    def ended(self) -> bool:
        return self._z.eof

    @property
    def rest(self) -> bytes:
        return self._z.unused_data


class _Decoder:
    """Members or frames one after the other, as both formats allow. A stream that would pass the cap is never unpacked."""

    def __init__(self, stream: type[_GzipMember] | type[_ZstdFrame]) -> None:
        self._open = stream
        self._stream: _Stream | None = None
        self._members = 0
        self._size = 0

    def feed(self, data: bytes, cap: int) -> bytes:
        out = bytearray()
        while data:
            if self._stream is None:
                self._members += 1
                if self._members > MAX_MEMBERS:
                    raise _damaged(f"has more than {MAX_MEMBERS} members")
                self._stream = self._open()
            # One byte more than is left, so that a limit reached exactly and one passed can be told apart.
            out += self._stream.feed(data, cap + 1 - self._size - len(out))
            if self._size + len(out) > cap:
                raise _too_large(cap)
            data = self._stream.rest if self._stream.ended else b""
            if self._stream.ended:
                self._stream = None
        self._size += len(out)
        return bytes(out)

    @property
    def complete(self) -> bool:
        return self._stream is None and self._members > 0


_DECODERS = {
    "gzip": lambda: _Decoder(_GzipMember),
    "x-gzip": lambda: _Decoder(_GzipMember),
    "zstd": lambda: _Decoder(_ZstdFrame),
}
