"""Bodies that are refused with 422, and exactly what each is told."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

SECRET = "planted-secret-9f2c"
"""Stands in the evidence of every body below; must stand in no reply."""

NOUL = {"type": "noul", "instructions": f"Is it {SECRET}?"}


@dataclass(frozen=True)
class Bad:
    """A body (bytes as they are, anything else as JSON) and the places it is refused at: (loc, msg, type[, ctx])."""

    name: str
    body: Any
    detail: list[tuple[Any, ...]]

    @property
    def raw(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()

    @property
    def expected(self) -> list[dict[str, Any]]:
        return [
            {"loc": ["body", *loc], "msg": msg, "type": kind} | ({"ctx": ctx[0]} if ctx else {})
            for loc, msg, kind, *ctx in self.detail
        ]


def one(question: Any) -> dict[str, Any]:
    return {"state": SECRET, "questions": {"q": question}}


def choice(criteria: Any, **fields: Any) -> dict[str, Any]:
    return one({"type": "choice", "criteria": criteria, **fields})


def score(criteria: Any, **fields: Any) -> dict[str, Any]:
    return one({"type": "score", "criteria": criteria, **fields})


def state(text: str) -> bytes:
    """A body whose state is this JSON text."""
    return f'{{"questions": {json.dumps({"q": NOUL})}, "state": {text}}}'.encode()


def nested(depth: int) -> Any:
    value: Any = SECRET
    for _ in range(depth):
        value = [value]
    return value


JSON = "JSON decode error"
UTF8 = "The body should be UTF-8"
REQUIRED = "Field required"
TWICE = "A key stands twice in this object"
CONSTANT = "NaN and Infinity are not JSON numbers"
ARRAY = "Input should be an array"
DEEP = "Nesting should be at most 64 levels deep"
TOO_DEEP = "The body is nested too deep"
NO_TYPE = "A question needs a 'type': 'noul', 'choice' or 'score'"
NOUL_EMPTY = "A noul needs instructions or at least one criterion"
OBJECT = "Input should be an object"
CONTENT = "Input should be a string, an object or an array"
TYPES = "The question's type should be 'noul', 'choice' or 'score'"
FIELDS = "This field is not known here; a question has type, instructions, criteria, depends_on, ask_if, alone and abstain_below"
IMAGES = "Images need a reader that takes them; this one reads text only"
TRAILING_COMMA = 31 if sys.version_info >= (3, 13) else 32
SURROGATE = "Strings should hold Unicode characters only, no lone surrogates"

BAD: list[Bad] = [
    # Text that is not JSON
    Bad("empty", b"", [((), "A JSON body is needed", "missing")]),
    Bad("blank", b" \r\n\t", [((), "A JSON body is needed", "missing")]),
    Bad("not-json", SECRET.encode(), [((0,), JSON, "json_invalid")]),
    Bad("cut-off", b'{"state": "' + SECRET.encode() + b'", "questions": {', [((47,), JSON, "json_invalid")]),
    Bad("cut-off-string", b'{"state": "' + SECRET.encode(), [((10,), JSON, "json_invalid")]),
    Bad("trailing-comma", b'{"state": "' + SECRET.encode() + b'",}', [((TRAILING_COMMA,), JSON, "json_invalid")]),
    Bad("trailing-text", state('"x"') + SECRET.encode(), [((98,), JSON, "json_invalid")]),
    Bad("two-values", state('"x"') + b"{}", [((98,), JSON, "json_invalid")]),
    Bad("single-quotes", b"{'state': '" + SECRET.encode() + b"'}", [((1,), JSON, "json_invalid")]),
    Bad("comment", b"{/* " + SECRET.encode() + b" */}", [((1,), JSON, "json_invalid")]),
    Bad("unquoted-key", b"{state: 1}", [((1,), JSON, "json_invalid")]),
    Bad("leading-zero", state("[012]"), [((96,), JSON, "json_invalid")]),
    Bad("plus-sign", state("[+1]"), [((95,), JSON, "json_invalid")]),
    Bad("bare-dot", state("[.5]"), [((95,), JSON, "json_invalid")]),
    Bad("hex", state("[0xff]"), [((96,), JSON, "json_invalid")]),
    Bad("control-character", state('"a\x00b"'), [((96,), JSON, "json_invalid")]),
    Bad("raw-newline", state('"a\nb"'), [((96,), JSON, "json_invalid")]),
    Bad("bad-escape", state(r'"\x41"'), [((95,), JSON, "json_invalid")]),
    Bad("short-escape", state(r'"\u12"'), [((96,), JSON, "json_invalid")]),
    Bad("form", b"state=" + SECRET.encode() + b"&questions=1", [((0,), JSON, "json_invalid")]),
    Bad("xml", b"<state>" + SECRET.encode() + b"</state>", [((0,), JSON, "json_invalid")]),
    # Bytes that are not text
    Bad("latin-1", '{"state": "café"}'.encode("latin-1"), [((14,), UTF8, "json_not_utf8")]),
    Bad("utf-16", json.dumps(one(NOUL)).encode("utf-16"), [((0,), UTF8, "json_not_utf8")]),
    Bad("utf-16-bare", json.dumps(one(NOUL)).encode("utf-16-le"), [((1,), JSON, "json_invalid")]),
    Bad("utf-8-cut", json.dumps(one("é"), ensure_ascii=False).encode()[:-4], [((53,), UTF8, "json_not_utf8")]),
    Bad("utf-8-surrogate", b'{"state": "\xed\xa0\x80"}', [((11,), UTF8, "json_not_utf8")]),
    Bad("nul-bytes", b"\x00" * 16, [((0,), JSON, "json_invalid")]),
    # JSON that Python takes and nobody else does
    Bad("nan", state("[NaN]"), [((95,), CONSTANT, "json_constant")]),
    Bad("nan-after-string", state('["NaN \\" NaN", NaN]'), [((109,), CONSTANT, "json_constant")]),
    Bad("infinity", state("Infinity"), [((94,), CONSTANT, "json_constant")]),
    Bad("minus-infinity", state("[1, -Infinity]"), [((98,), CONSTANT, "json_constant")]),
    Bad("float-overflow", state("[1e999]"), [(("state",), "Numbers should be finite", "finite_number")]),
    Bad(
        "integer-of-5000-digits",
        state("[" + "7" * 5000 + "]"),
        [((95,), f"Integers should have at most {sys.get_int_max_str_digits()} digits", "json_number_too_long")],
    ),
    Bad(
        "repeated-top-level",
        b'{"state": "a", "state": "' + SECRET.encode() + b'", "questions": {}}',
        [((), TWICE, "json_repeated_key")],
    ),
    Bad(
        "repeated-question",
        b'{"state": "a", "questions": {"q": {"type": "noul"}, "q": {"type": "noul"}}}',
        [(("questions",), TWICE, "json_repeated_key")],
    ),
    Bad(
        "repeated-field",
        b'{"state": "a", "questions": {"q": {"type": "noul", "type": "choice"}}}',
        [(("questions", "q"), TWICE, "json_repeated_key")],
    ),
    Bad(
        "repeated-option",
        b'{"state": "a", "questions": {"q": {"type": "choice", "criteria": {"a": null, "a": null}}}}',
        [(("questions", "q", "criteria"), TWICE, "json_repeated_key")],
    ),
    Bad("repeated-in-state", state('{"x": {"' + SECRET + '": {"k": 1, "k": 2}}}'), [(("state",), TWICE, "json_repeated_key")]),
    Bad("surrogate-in-state", state('{"' + SECRET + r'": "\ud800"}'), [(("state",), SURROGATE, "string_unicode")]),
    Bad("surrogate-as-key", state(r'{"\udfff": 1}'), [(("state",), SURROGATE, "string_unicode")]),
    Bad(
        "surrogate-id",
        rb'{"state": "a", "questions": {"\ud83d": {"type": "noul", "instructions": "x"}}}',
        [(("questions",), SURROGATE, "string_unicode")],
    ),
    Bad(
        "surrogate-option",
        rb'{"state": "a", "questions": {"q": {"type": "choice", "criteria": {"\udc00": null, "b": null}}}}',
        [(("questions", "q", "criteria"), SURROGATE, "string_unicode")],
    ),
    Bad(
        "surrogate-unknown-field",
        rb'{"state": "a", "questions": {"q": {"type": "noul", "\udc00": 1}}}',
        [(("questions", "q"), SURROGATE, "string_unicode")],
    ),
    Bad("nested-65-state", {"state": nested(65), "questions": {"q": NOUL}}, [(("state",), DEEP, "recursion_loop")]),
    Bad(
        "nested-65-instructions",
        one({"type": "noul", "instructions": nested(65)}),
        [(("questions", "q", "noul", "instructions"), DEEP, "recursion_loop")],
    ),
    Bad("nested-100000", state("[" * 100_000 + "]" * 100_000), [((), TOO_DEEP, "json_too_deep")]),
    Bad("nested-100000-objects", state('{"a":' * 100_000 + "1" + "}" * 100_000), [((), TOO_DEEP, "json_too_deep")]),
    # The top level
    Bad("null", None, [((), OBJECT, "model_type")]),
    Bad("number", 7, [((), OBJECT, "model_type")]),
    Bad("string", SECRET, [((), OBJECT, "model_type")]),
    Bad("array", [one(NOUL)], [((), OBJECT, "model_type")]),
    Bad("empty-object", {}, [(("state",), REQUIRED, "missing"), (("questions",), REQUIRED, "missing")]),
    Bad("no-state", {"questions": {"q": NOUL}}, [(("state",), REQUIRED, "missing")]),
    Bad("no-questions", {"state": SECRET}, [(("questions",), REQUIRED, "missing")]),
    Bad("state-null", {"state": None, "questions": {"q": NOUL}}, [(("state",), CONTENT, "content_type")]),
    Bad("state-number", {"state": 3, "questions": {"q": NOUL}}, [(("state",), CONTENT, "content_type")]),
    Bad("state-boolean", {"state": True, "questions": {"q": NOUL}}, [(("state",), CONTENT, "content_type")]),
    Bad("questions-null", {"state": SECRET, "questions": None}, [(("questions",), OBJECT, "dict_type")]),
    Bad("questions-array", {"state": SECRET, "questions": [NOUL]}, [(("questions",), OBJECT, "dict_type")]),
    Bad("questions-string", {"state": SECRET, "questions": SECRET}, [(("questions",), OBJECT, "dict_type")]),
    Bad(
        "questions-empty",
        {"state": SECRET, "questions": {}},
        [(("questions",), "At least 1 question is needed", "too_short", {"min_length": 1})],
    ),
    Bad("model-null", {"model": None, **one(NOUL)}, [(("model",), "Input should be a string", "string_type")]),
    Bad("model-number", {"model": 1, **one(NOUL)}, [(("model",), "Input should be a string", "string_type")]),
    Bad("model-object", {"model": {"name": SECRET}, **one(NOUL)}, [(("model",), "Input should be a string", "string_type")]),
    Bad(
        "assets",
        {**one(NOUL), "assets": {"<image:1>": {"type": "image", "format": "png", "data_base64": SECRET}}},
        [(("assets",), IMAGES, "images_unsupported")],
    ),
    Bad("assets-array", {**one(NOUL), "assets": [SECRET]}, [(("assets",), OBJECT, "dict_type")]),
    # A question
    Bad("question-null", one(None), [(("questions", "q"), OBJECT, "model_attributes_type")]),
    Bad("question-string", one(SECRET), [(("questions", "q"), OBJECT, "model_attributes_type")]),
    Bad("question-array", one([NOUL]), [(("questions", "q"), OBJECT, "model_attributes_type")]),
    Bad("question-empty", one({}), [(("questions", "q"), NO_TYPE, "union_tag_not_found")]),
    Bad("no-type", one({"instructions": SECRET}), [(("questions", "q"), NO_TYPE, "union_tag_not_found")]),
    Bad("type-unknown", one({"type": SECRET, "instructions": "x"}), [(("questions", "q"), TYPES, "union_tag_invalid")]),
    Bad(
        "type-boolean-question", one({"type": "boolean", "instructions": "x"}), [(("questions", "q"), TYPES, "union_tag_invalid")]
    ),
    Bad("type-upper-case", one({"type": "Noul", "instructions": "x"}), [(("questions", "q"), TYPES, "union_tag_invalid")]),
    Bad("type-null", one({"type": None, "instructions": "x"}), [(("questions", "q"), TYPES, "union_tag_invalid")]),
    Bad("type-number", one({"type": 1, "instructions": "x"}), [(("questions", "q"), TYPES, "union_tag_invalid")]),
    Bad("type-object", one({"type": {"a": SECRET}, "instructions": "x"}), [(("questions", "q"), TYPES, "union_tag_invalid")]),
    Bad("type-array", one({"type": ["noul"], "instructions": "x"}), [(("questions", "q"), TYPES, "union_tag_invalid")]),
    Bad(
        "box",
        one({"type": "box", "instructions": SECRET}),
        [
            (
                ("questions", "q", "box"),
                "Box questions need a reader that takes images; this one reads text only",
                "images_unsupported",
            )
        ],
    ),
    Bad(
        "field-misspelt",
        one({**NOUL, "critera": {"true": SECRET}}),
        [(("questions", "q", "noul", "critera"), FIELDS, "extra_forbidden")],
    ),
    Bad(
        "field-unknown",
        choice({"a": None, "b": None}, weight=2),
        [(("questions", "q", "choice", "weight"), FIELDS, "extra_forbidden")],
    ),
    Bad(
        "field-name-long", one({**NOUL, "k" * 200: 1}), [(("questions", "q", "noul", "k" * 63 + "…"), FIELDS, "extra_forbidden")]
    ),
    Bad(
        "id-long",
        {"state": SECRET, "questions": {"k" * 200: None}},
        [(("questions", "k" * 63 + "…"), OBJECT, "model_attributes_type")],
    ),
    Bad(
        "instructions-number",
        one({"type": "noul", "instructions": 4}),
        [(("questions", "q", "noul", "instructions"), CONTENT, "content_type")],
    ),
    Bad(
        "instructions-boolean",
        score(["a", "b"], instructions=False),
        [(("questions", "q", "score", "instructions"), CONTENT, "content_type")],
    ),
    Bad(
        "two-faults",
        {"state": SECRET, "questions": {"a": None, "b": {"type": "score"}}},
        [(("questions", "a"), OBJECT, "model_attributes_type"), (("questions", "b", "score", "criteria"), REQUIRED, "missing")],
    ),
    Bad(
        "100-faults",
        {"state": SECRET, "questions": {f"q{i}": None for i in range(100)}},
        [
            *((("questions", f"q{i}"), OBJECT, "model_attributes_type") for i in range(64)),
            ((), "36 more errors are not shown", "too_many_errors"),
        ],
    ),
    # Nouls
    Bad("noul-empty", one({"type": "noul"}), [(("questions", "q", "noul"), NOUL_EMPTY, "noul_empty")]),
    Bad(
        "noul-all-null",
        one({"type": "noul", "instructions": None, "criteria": {"true": None, "false": None}}),
        [(("questions", "q", "noul"), NOUL_EMPTY, "noul_empty")],
    ),
    Bad("noul-criteria-empty", one({"type": "noul", "criteria": {}}), [(("questions", "q", "noul"), NOUL_EMPTY, "noul_empty")]),
    Bad(
        "noul-criteria-string",
        one({**NOUL, "criteria": SECRET}),
        [(("questions", "q", "noul", "criteria"), OBJECT, "model_type")],
    ),
    Bad(
        "noul-criteria-array",
        one({**NOUL, "criteria": [SECRET, SECRET]}),
        [(("questions", "q", "noul", "criteria"), OBJECT, "model_type")],
    ),
    Bad(
        "noul-criteria-key",
        one({**NOUL, "criteria": {"yes": SECRET}}),
        [(("questions", "q", "noul", "criteria", "yes"), "The criteria of a noul are 'true' and 'false'", "extra_forbidden")],
    ),
    Bad(
        "noul-criteria-number",
        one({**NOUL, "criteria": {"true": 1}}),
        [(("questions", "q", "noul", "criteria", "true"), CONTENT, "content_type")],
    ),
    # Choices
    Bad(
        "choice-no-criteria",
        one({"type": "choice", "instructions": SECRET}),
        [(("questions", "q", "choice", "criteria"), REQUIRED, "missing")],
    ),
    Bad("choice-criteria-null", choice(None), [(("questions", "q", "choice", "criteria"), OBJECT, "dict_type")]),
    Bad("choice-criteria-array", choice(["a", "b"]), [(("questions", "q", "choice", "criteria"), OBJECT, "dict_type")]),
    Bad("choice-criteria-string", choice(SECRET), [(("questions", "q", "choice", "criteria"), OBJECT, "dict_type")]),
    Bad(
        "choice-no-options",
        choice({}),
        [
            (
                ("questions", "q", "choice", "criteria"),
                "At least 2 options are needed, found 0",
                "too_short",
                {"min_length": 2, "actual_length": 0},
            )
        ],
    ),
    Bad(
        "choice-1-option",
        choice({"a": SECRET}),
        [
            (
                ("questions", "q", "choice", "criteria"),
                "At least 2 options are needed, found 1",
                "too_short",
                {"min_length": 2, "actual_length": 1},
            )
        ],
    ),
    Bad(
        "choice-256-options",
        choice({f"o{i}": None for i in range(256)}),
        [
            (
                ("questions", "q", "choice", "criteria"),
                "At most 255 options are allowed, found 256",
                "too_long",
                {"max_length": 255, "actual_length": 256},
            )
        ],
    ),
    Bad(
        "choice-option-number",
        choice({"a": 1, "b": None}),
        [(("questions", "q", "choice", "criteria", "a"), CONTENT, "content_type")],
    ),
    Bad(
        "choice-option-boolean",
        choice({"a": None, "b": True}),
        [(("questions", "q", "choice", "criteria", "b"), CONTENT, "content_type")],
    ),
    # Scores
    Bad(
        "score-no-criteria",
        one({"type": "score", "instructions": SECRET}),
        [(("questions", "q", "score", "criteria"), REQUIRED, "missing")],
    ),
    Bad("score-criteria-null", score(None), [(("questions", "q", "score", "criteria"), ARRAY, "list_type")]),
    Bad("score-criteria-map", score({"0": "calm", "1": SECRET}), [(("questions", "q", "score", "criteria"), ARRAY, "list_type")]),
    Bad("score-criteria-string", score(SECRET), [(("questions", "q", "score", "criteria"), ARRAY, "list_type")]),
    Bad(
        "score-no-levels",
        score([]),
        [
            (
                ("questions", "q", "score", "criteria"),
                "At least 2 levels are needed, found 0",
                "too_short",
                {"min_length": 2, "actual_length": 0},
            )
        ],
    ),
    Bad(
        "score-1-level",
        score([SECRET]),
        [
            (
                ("questions", "q", "score", "criteria"),
                "At least 2 levels are needed, found 1",
                "too_short",
                {"min_length": 2, "actual_length": 1},
            )
        ],
    ),
    Bad(
        "score-11-levels",
        score([f"level {i}" for i in range(11)]),
        [
            (
                ("questions", "q", "score", "criteria"),
                "At most 10 levels are allowed, found 11",
                "too_long",
                {"max_length": 10, "actual_length": 11},
            )
        ],
    ),
    Bad("score-level-null", score(["calm", None]), [(("questions", "q", "score", "criteria", 1), CONTENT, "content_type")]),
    Bad("score-level-number", score([0, "calm"]), [(("questions", "q", "score", "criteria", 0), CONTENT, "content_type")]),
]
