"""OpenRouter's envelope around System One: `POST /api/alpha/decisions`. Images stand in a state that is an array."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Any

from ...answers import Answers
from ...errors import InvalidRequest, Loc
from ..failures import Failure
from ..images import Album
from . import systemone
from .base import ALIASES, Ask, Dialect, Terms
from .openai_errors import path

NAMES = (*ALIASES, "typesafe/jev-1.13", "typesafe/jev-1.14", "typesafe/jev-latest", "~typesafe/jev-latest")


def parse(value: Any, terms: Terms) -> Ask:
    """As System One's, but for `image_url` items of the state. Raises as `systemone.parse` does."""
    album = Album(terms.images)
    if isinstance(value, dict) and isinstance(value.get("state"), list):
        value = {**value, "state": [_item(item, album, ("state", i)) for i, item in enumerate(value["state"])]}
    images = album.close()
    ask = systemone.parse(value, terms)
    if images and ask.request.images:
        message = "Images should stand in the state or in a field of their own, not in both"
        raise InvalidRequest.at(("state",), message, "images_twice")
    return replace(ask, request=replace(ask.request, images=(*images, *ask.request.images)), reply=reply)


def reply(answers: Answers) -> dict[str, Any]:
    """The body of a 200."""
    body = systemone.reply(answers)
    body["usage"]["cost"] = 0.0
    return {"id": f"gen-{secrets.token_hex(12)}", "provider": "oneread", **body}


def refuse(failure: Failure) -> tuple[int, dict[str, Any]]:
    """The status and the body of a failure; an invalid request is a 400 that lists its places as metadata."""
    status = 400 if failure.issues else 401 if failure.kind == "authentication_error" else failure.status
    error: dict[str, Any] = {"code": status, "message": failure.message}
    if failure.issues:
        first = failure.issues[0]
        error["message"] = f"{path(first.loc)}: {first.message}" if first.loc else first.message
        error["metadata"] = {"issues": systemone.error_body(failure)["detail"]}
    return status, {"error": error}


def _item(item: Any, album: Album, loc: Loc) -> Any:
    if isinstance(item, dict) and item.get("type") == "image_url":
        inner = item.get("image_url")
        url = inner.get("url") if isinstance(inner, dict) else inner
        return album.add_url(url, (*loc, "image_url"))
    return item


DIALECT = Dialect(parse, refuse, NAMES)
