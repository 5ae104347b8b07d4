"""A multipart body: the JSON of its `request` part, and its files."""

from __future__ import annotations

import re

from ..errors import InvalidRequest

MAX_PARTS = 64

_BOUNDARY = re.compile(r"""boundary=(?:"([^"]{1,70})"|([^\s;,"]{1,70}))""", re.IGNORECASE)
_NAME = re.compile(rb'[;\s]name="([^"\r\n]*)"', re.IGNORECASE)


def split_parts(body: bytes, content_type: str) -> tuple[bytes, dict[str, bytes]]:
    """The ``request`` part and the other parts by name, in order (RFC 7578).

    Raises:
        InvalidRequest: the body is not multipart, is cut off, has a part without a name or a name twice, or has no
            ``request``.
    """
    found = _BOUNDARY.search(content_type)
    if found is None:
        raise _damaged("needs a boundary in its content type")
    boundary = b"--" + (found[1] or found[2]).encode("latin-1")
    pieces = (b"\r\n" + body).split(b"\r\n" + boundary)
    if len(pieces) < 2 or not pieces[-1].startswith(b"--"):
        raise _damaged("ends too early")
    if len(pieces) - 2 > MAX_PARTS:
        raise _damaged(f"has more than {MAX_PARTS} parts")
    parts: dict[str, bytes] = {}
    for piece in pieces[1:-1]:
        head, gap, data = piece.partition(b"\r\n\r\n")
        name = _NAME.search(head)
        if not gap or name is None:
            raise _damaged("has a part without a name")
        key = name[1].decode("utf-8", "replace")
        if key in parts:
            raise _damaged("has two parts of one name")
        parts[key] = data
    if "request" not in parts:
        raise _damaged("needs a part named 'request' with the JSON of the request")
    return parts.pop("request"), parts


def _damaged(what: str) -> InvalidRequest:
    return InvalidRequest.at((), f"The multipart body {what}", "multipart")
