"""docs/api.md says what the server does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from oneread import Controls
from oneread.serving.dialects import systemone
from oneread.serving.dialects import systemone_schema as schema
from oneread.serving.profiles import DIALECTS, PROFILES

from .bad_bodies import BAD
from .test_bad_input import REFUSED
from .test_dialects_systemone import ASKED
from .test_dialects_systemone import WRONG as CONTROLS
from .test_images import FORMS
from .test_images import WRONG as IMAGES

DOCS = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
EXAMPLES: list[dict[str, Any]] = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", DOCS, re.S)]


def test_the_request_of_the_docs_is_valid_and_the_reply_has_the_shape_of_replies() -> None:
    request, reply = EXAMPLES[:2]
    assert list(systemone.parse(request).request.questions) == list(reply["answers"])
    assert schema.SystemOneReply.model_validate(reply).model_dump(exclude_unset=True) == reply


def test_the_docs_name_every_error_type() -> None:
    told = {name for row in re.findall(r"^\|(.*?)\| ", DOCS, re.M) for name in re.findall(r"`(\w+)`", row)}
    assert {issue["type"] for bad in BAD for issue in bad.expected} <= told
    for _, _, _, status, kind, _ in REFUSED:
        assert f"| {status} | `{kind}` |" in DOCS


def test_the_controls_of_the_docs_are_valid() -> None:
    request = systemone.parse(EXAMPLES[2]).request
    assert request.controls.samples == request.controls.rotations == "auto"
    assert set(request.asking) == {"urgent", "refund", "anger"}


def test_the_docs_name_every_control_and_its_default() -> None:
    rows = {row[0]: row[2] for row in re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \| .+ \|$", DOCS, re.M)}
    controls = Controls()
    for name in (*schema.Controls.model_fields, "instructions", "options"):
        assert name in rows
        default = getattr(controls, name, None)
        if default is not None:
            assert rows[name].strip("`") == str(default).lower()
    for name in ("depends_on", "ask_if", "alone", "abstain_below"):
        assert f"| `{name}` |" in DOCS


def test_the_docs_name_the_error_types_of_controls_and_images() -> None:
    told = {name for row in re.findall(r"^\|(.*?)\| ", DOCS, re.M) for name in re.findall(r"`(\w+)`", row)}
    kinds = {row[2] for table in (CONTROLS, ASKED, IMAGES, FORMS) for row in table}
    assert kinds <= told


def test_every_path_that_is_served_is_listed() -> None:
    listed = set(re.findall(r"`(?:GET|POST) (/[\w/]*)`", DOCS))
    assert set(DIALECTS) | {"/v1/systemone", "/v1/models"} <= listed


COMPATIBILITY = (Path(__file__).parents[2] / "docs" / "compatibility.md").read_text(encoding="utf-8")


def test_the_table_of_compatibility_has_no_empty_cell_of_ours() -> None:
    rows = [line.strip("|").split(" | ") for line in COMPATIBILITY.splitlines() if line.startswith("| ")]
    wide = [[cell.strip() for cell in row] for row in rows if len(row) == 7]
    assert len(wide) > 60
    assert all(len(row) in (3, 4, 7) for row in rows)
    for row in wide:
        assert row[0], row
        assert row[6], row


def test_the_table_of_compatibility_names_every_control_profile_and_port() -> None:
    for name in (*schema.Controls.model_fields, "instructions", "options", "depends_on", "ask_if", "alone", "abstain_below"):
        assert f"`{name}`" in COMPATIBILITY, name
    for name, profile in PROFILES.items():
        if name is not None:
            assert f"| `{name}` | {profile.port} |" in COMPATIBILITY
    for path in DIALECTS:
        assert f"`{path}`" in COMPATIBILITY
