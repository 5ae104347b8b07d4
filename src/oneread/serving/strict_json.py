"""JSON as RFC 8259 has it, with every fault named and placed, and nothing of the text in an error."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

from ..errors import InvalidRequest, Loc

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_STRING = r'"(?:[^"\\]|\\.)*"'


class _Repeated(dict[str, Any]):
    """An object in which a key stands twice."""


class _Constant(Exception):
    """NaN, Infinity or -Infinity, which Python's parser would take."""


def parse(body: bytes) -> Any:
    """The value of a JSON text in UTF-8 (a byte order mark is skipped).

    Raises:
        InvalidRequest: with one issue. For what cannot be parsed, ``loc`` is the offset in characters (in bytes for
            broken UTF-8); for repeated keys and lone surrogates it is the path, which stops at the evidence.
    """
    try:
        text = body.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        raise InvalidRequest.at((error.start,), "The body should be UTF-8", "json_not_utf8") from None
    if not text.strip(" \t\r\n"):
        raise InvalidRequest.at((), "A JSON body is needed", "missing")
    repeated = False

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        repeated = True
        return _Repeated(pairs)

    try:
        value = json.loads(text, object_pairs_hook=members, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise InvalidRequest.at((error.pos,), "JSON decode error", "json_invalid") from None
    except _Constant:
        where = _offset(text, r"-?Infinity|NaN")
        raise InvalidRequest.at((where,), "NaN and Infinity are not JSON numbers", "json_constant") from None
    except RecursionError:
        raise InvalidRequest.at((), "The body is nested too deep", "json_too_deep") from None
    except ValueError:  # the interpreter's own bound on integers, far above any number that means something
        digits = sys.get_int_max_str_digits()
        where = _offset(text, rf"-?\d{{{digits + 1},}}")
        raise InvalidRequest.at((where,), f"Integers should have at most {digits} digits", "json_number_too_long") from None
    if repeated:
        path = next((path for path, item in _walk(value, ()) if isinstance(item, _Repeated)), ())
        raise InvalidRequest.at(path, "A key stands twice in this object", "json_repeated_key")
    if _SURROGATE_ESCAPE.search(text):
        for path, item in _walk(value, ()):
            if isinstance(item, str) and not _is_unicode(item):
                raise InvalidRequest.at(path, "Strings should hold Unicode characters only, no lone surrogates", "string_unicode")
    return value


def _refuse_constant(_: str) -> NoReturn:
    raise _Constant


def _offset(text: str, pattern: str) -> int:
    """Where the pattern first stands outside a string."""
    for match in re.finditer(f"{_STRING}|({pattern})", text):
        if match[1] is not None:
            return match.start()
    return 0


def _walk(value: Any, path: Loc) -> Iterator[tuple[Loc, Any]]:
    """Every value and every key inside, with the path of the object or value it stands in."""
    todo: list[tuple[Loc, Any]] = [(path, value)]
    while todo:
        path, value = todo.pop()
        yield path, value
        if isinstance(value, dict):
            for key, child in value.items():
                yield path, key
                todo.append(((*path, key) if not _opaque(path) else path, child))
        elif isinstance(value, list):
            todo += [((*path, index) if not _opaque(path) else path, child) for index, child in enumerate(value)]


def _opaque(path: Loc) -> bool:
    """Whether what stands below is never told in an error: evidence, or deeper than a question's own fields."""
    return bool(path) and (path[0] != "questions" or len(path) >= 3)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
