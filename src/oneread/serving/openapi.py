"""The OpenAPI document of routes that read their body themselves."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema


def describe_body(app: FastAPI, path: str, body: type[BaseModel]) -> None:
    """Add a JSON body to the POST of a path, with its schemas among the document's components."""
    base = app.openapi

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = base()
            schemas = models_json_schema([(body, "validation")], ref_template="#/components/schemas/{model}")[1]["$defs"]
            found.setdefault("components", {}).setdefault("schemas", {}).update(schemas)
            found["paths"][path]["post"]["requestBody"] = {
                "required": True,
                "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{body.__name__}"}}},
            }
            app.openapi_schema = found
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]
