"""The OpenAPI document as one page that needs no script and no network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from html import escape
from typing import Any

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, td:first-child { font-family: ui-monospace, monospace; font-size: .9em; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; }
td, th { border-bottom: 1px solid #8884; padding: .3rem .6rem .3rem 0; text-align: left; vertical-align: top; }
h2 { margin-top: 2.5rem; } h2 code { font-size: 1em; } .method { text-transform: uppercase; opacity: .7; }
"""

CSP = (
    f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def docs_page(document: Mapping[str, Any]) -> str:
    """HTML of an OpenAPI document: its paths, then its schemas."""
    info = document["info"]
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(info['title'])}</title><style>{_STYLE}</style>",
        "<meta name=viewport content='width=device-width'>",
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info.get('summary', ''))}</p>",
        "<p>For machines: <a href=/openapi.json>openapi.json</a></p>",
    ]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            parts.append(_operation(path, method, operation))
    parts.append("<h1>Schemas</h1>")
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        parts.append(_schema(name, schema))
    return "\n".join(parts)


def _operation(path: str, method: str, operation: Mapping[str, Any]) -> str:
    body = operation.get("requestBody", {}).get("content", {})
    shapes = "".join(
        f"<p>Body: {_link(content.get('schema', {}))}, <code>{escape(kind)}</code></p>" for kind, content in body.items()
    )
    rows = "".join(
        f"<tr><td>{escape(status)}<td>{escape(reply.get('description', ''))}"
        f"<td>{' '.join(_link(c.get('schema', {})) for c in reply.get('content', {}).values())}"
        for status, reply in operation.get("responses", {}).items()
    )
    return (
        f"<h2><span class=method>{escape(method)}</span> <code>{escape(path)}</code></h2>"
        f"<p><b>{escape(operation.get('summary', ''))}</b> {escape(operation.get('description', ''))}</p>{shapes}"
        f"<table><tr><th>status<th>when<th>body{rows}</table>"
    )


def _schema(name: str, schema: Mapping[str, Any]) -> str:
    needed = schema.get("required", [])
    rows = "".join(
        f"<tr><td>{escape(field)}<td>{_link(value)}<td>{'required' if field in needed else ''}"
        f"<td>{escape(value.get('description', ''))}"
        for field, value in schema.get("properties", {}).items()
    )
    table = f"<table>{rows}</table>" if rows else f"<p>{_link(schema)}</p>"
    return f"<h2 id='{escape(name)}'><code>{escape(name)}</code></h2><p>{escape(schema.get('description', ''))}</p>{table}"


def _link(schema: Mapping[str, Any]) -> str:
    """A type in words, with links to the schemas it names."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f"<a href='#{name}'>{name}</a>"
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(_link(part) for part in schema[key])
    if "const" in schema:
        return f"<code>{escape(str(schema['const']))}</code>"
    if schema.get("type") == "array":
        return f"array of {_link(schema.get('items', {}))}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"object of {_link(schema['additionalProperties'])}"
    return escape(str(schema.get("type", "any")))
