"""Images of a request: out of base64, data URLs and multipart parts, measured by their headers, never decoded here."""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidRequest, Issue, Loc
from ..questions import Image

MAX_IMAGES = 8
MAX_IMAGE_BYTES = 5 * 1024 * 1024
MAX_IMAGE_PIXELS = 16 * 1024 * 1024

_DATA_URL = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,", re.ASCII)
_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of a JPEG's start of frame; the three left out are tables."""


@dataclass(frozen=True, slots=True)
class ImageLimits:
    """What a request may bring: images, bytes of each file, width times height of each."""

    count: int = MAX_IMAGES
    bytes: int = MAX_IMAGE_BYTES
    pixels: int = MAX_IMAGE_PIXELS


class Album:
    """The images of one request as they are found, numbered from 1.

    Args:
        limits: None where the reader takes no images: then each is refused where it stands, unread.
    """

    def __init__(self, limits: ImageLimits | None) -> None:
        self._limits = limits
        self.images: list[Image] = []
        self.issues: list[Issue] = []

    def add_base64(self, text: Any, loc: Loc) -> str:
        """Take in a file in base64. Returns what stands for it in the text."""
        if self._limits is None:
            return self.add(b"", loc)
        if not isinstance(text, str):
            return self._refuse(loc, "Input should be base64", "string_type")
        if len(text) > self._limits.bytes * 4 // 3 + 1024:
            return self._too_large(loc)
        try:
            return self.add(base64.b64decode(text, validate=True), loc)
        except (binascii.Error, ValueError):
            return self._refuse(loc, "Input should be base64", "base64")

    def add_url(self, url: Any, loc: Loc) -> str:
        """Take in a data URL; an address elsewhere is refused, since nothing is fetched."""
        if self._limits is None:
            return self.add(b"", loc)
        found = _DATA_URL.match(url) if isinstance(url, str) else None
        if found is None:
            return self._refuse(loc, "Input should be a data URL in base64; nothing is fetched from elsewhere", "image_url")
        return self.add_base64(url[found.end() :], loc)

    def add(self, data: bytes, loc: Loc) -> str:
        """Take in a file. Returns what stands for it in the text."""
        limits = self._limits
        if limits is None:
            return self._refuse(loc, "Images need a reader that takes them; this one reads text only", "images_unsupported")
        if len(self.images) == limits.count:
            message = f"At most {limits.count} images are allowed"
            return self._refuse(loc, message, "too_long", max_length=limits.count)
        if len(data) > limits.bytes:
            return self._too_large(loc)
        size = measure(data)
        if size is None:
            return self._refuse(loc, "An image should be a PNG, JPEG, WebP or GIF file", "image_format")
        if not 0 < size[0] * size[1] <= limits.pixels:
            message = f"An image should have at most {limits.pixels} pixels"
            return self._refuse(loc, message, "image_pixels", max_pixels=limits.pixels)
        self.images.append(Image(data, *size, loc))
        return f"[image {len(self.images)}]"

    def close(self) -> tuple[Image, ...]:
        """The images, or `InvalidRequest` with what is wrong with them."""
        if self.issues:
            raise InvalidRequest(self.issues)
        return tuple(self.images)

    def _too_large(self, loc: Loc) -> str:
        assert self._limits is not None
        message = f"An image should be at most {self._limits.bytes} bytes"
        return self._refuse(loc, message, "image_too_large", max_bytes=self._limits.bytes)

    def _refuse(self, loc: Loc, message: str, kind: str, **context: Any) -> str:
        self.issues.append(Issue(loc, message, kind, context))
        return ""


def measure(data: bytes) -> tuple[int, int] | None:
    """Width and height that the header of a PNG, JPEG, WebP or GIF tells; None for anything else or a header cut off."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
            return _pair(">II", data, 16)
        if data[:6] in (b"GIF87a", b"GIF89a"):
            return _pair("<HH", data, 6)
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp(data)
        if data[:3] == b"\xff\xd8\xff":
            return _jpeg(data)
    except (struct.error, IndexError):
        pass
    return None


def replaced(value: Any, names: Mapping[str, str]) -> Any:
    """A JSON value in which every name, wherever it stands in a string, is its counterpart. Keys stay as they are."""
    if isinstance(value, str):
        for name, shown in names.items():
            value = value.replace(name, shown)
        return value
    if isinstance(value, list):
        return [replaced(child, names) for child in value]
    if isinstance(value, dict):
        return {key: replaced(child, names) for key, child in value.items()}
    return value


def _pair(form: str, data: bytes, offset: int) -> tuple[int, int]:
    width, height = struct.unpack_from(form, data, offset)
    return width, height


def _webp(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8 ":
            width, height = _pair("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", data, 21)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # padding
            at += 1
        elif marker in _JPEG_SIZES:
            height, width = _pair(">HH", data, at + 5)
            return width, height
        elif marker == 0xDA:
            return None
        else:
            at += 2 + struct.unpack_from(">H", data, at + 2)[0]
    return None
