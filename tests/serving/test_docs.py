"""docs/api.md says what the server does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from oneread.serving.dialects import systemone
from oneread.serving.dialects import systemone_schema as schema

from .bad_bodies import BAD
from .test_bad_input import REFUSED

DOCS = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
EXAMPLES: list[dict[str, Any]] = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", DOCS, re.S)]


def test_the_request_of_the_docs_is_valid_and_the_reply_has_the_shape_of_replies() -> None:
    request, reply, _ = EXAMPLES
    assert list(systemone.parse(request).request.questions) == list(reply["answers"])
    assert schema.SystemOneReply.model_validate(reply).model_dump(exclude_unset=True) == reply


def test_the_docs_name_every_error_type() -> None:
    told = {name for row in re.findall(r"^\|(.*?)\| ", DOCS, re.M) for name in re.findall(r"`(\w+)`", row)}
    assert {issue["type"] for bad in BAD for issue in bad.expected} <= told
    for _, _, _, status, kind, _ in REFUSED:
        assert f"| {status} | `{kind}` |" in DOCS
