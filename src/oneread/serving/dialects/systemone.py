"""TypeSafe's System One, with our controls: the wire shape of `POST /v1/systemone`.

`parse` turns a JSON value into what it asks; `systemone_reply` has the way back. Counts and content are checked by the
domain, what stands where by the models of `systemone_schema`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from ... import questions as domain
from ...controls import Asking
from ...controls import Controls as DomainControls
from ...errors import InvalidRequest, Issue, Loc, UnknownModel
from ..images import Album, replaced
from .base import ALIASES, Ask, Dialect, Place, Terms
from .systemone_reply import MAX_NAME, error_body, models, refuse, reply
from .systemone_schema import (
    BoxQuestion,
    ChoiceQuestion,
    Controls,
    NoulCriteria,
    NoulQuestion,
    ScoreQuestion,
    SystemOneRequest,
)

__all__ = ["ALIASES", "DIALECT", "check_model", "controls_of", "error_body", "models", "parse", "refuse", "reply"]

PLAIN = Terms()
NOTHING = Asking()
CONTROLS = tuple(Controls.model_fields)


def parse(value: Any, terms: Terms = PLAIN) -> Ask:
    """What a JSON body asks.

    Raises:
        InvalidRequest: with one issue for each fault; ``loc`` starts at the body's root, and a question's type stands
            after its id.
    """
    wire = _validated(value)
    names, images = _images(wire, terms)
    request, place = _request(wire, terms)
    if names:  # valid as it stands, and so shallow enough to be walked
        text = [value.get(name) for name in ("state", "questions", "instructions")]
        unused = [name for name in names if replaced(text, {name: ""}) == text]
        if unused:
            raise InvalidRequest([Issue(("assets", name), "Nothing refers to this asset", "asset_unused") for name in unused])
        request = _request(_validated(replaced(value, names)), terms)[0]
    return Ask(wire.model, replace(request, images=images), reply, place)


def check_model(model: str, reader: str, aliases: tuple[str, ...] | None = ALIASES) -> None:
    """Raise `UnknownModel` unless a request for this model is one for the reader of that name."""
    if aliases is None:
        return
    served = dict.fromkeys((reader, *aliases))
    if model not in served:
        raise UnknownModel(f"The model is not served here. Served: {', '.join(served)}.")


def no_images(loc: Loc) -> Issue:
    """The issue of a request that brings images."""
    return Issue(loc, "Images need a reader that takes them; this one reads text only", "images_unsupported")


def controls_of(wire: Controls, terms: Terms, instructions: Any = None, **more: Any) -> DomainControls:
    """The controls that a body names, over those of the server."""
    given = {name: getattr(wire, name) for name in CONTROLS if getattr(wire, name) is not None} | more
    if "ask" in given:
        given["ask"] = tuple(given["ask"])
    if instructions is not None:
        given["instructions"] = instructions
    return replace(terms.controls, **given)


def _validated(value: Any) -> SystemOneRequest:
    try:
        return SystemOneRequest.model_validate(value)
    except ValidationError as error:
        raise InvalidRequest([_issue(e["loc"], e["type"], e["msg"]) for e in error.errors(**_BARE)]) from None


def _images(wire: SystemOneRequest, terms: Terms) -> tuple[dict[str, str], tuple[domain.Image, ...]]:
    """What stands for each placeholder, and all images: assets, then `images`, then parts that nothing claims."""
    boxes = "images; this one reads text only" if terms.images is None else "where things are, and there is none yet"
    issues = [
        Issue(("questions", key, "box"), f"Box questions need a reader that takes {boxes}", "images_unsupported")
        for key, question in wire.questions.items()
        if isinstance(question, BoxQuestion)
    ]
    if terms.images is None:
        issues += [no_images((name,)) for name in ("assets", "images") if getattr(wire, name)]
    if issues:
        raise InvalidRequest(issues)
    album = Album(terms.images)
    names, claimed = {}, set()
    for placeholder, asset in (wire.assets or {}).items():
        loc: Loc = ("assets", placeholder)
        if not isinstance(asset, dict) or asset.get("type") != "image" or not placeholder:
            album.issues.append(Issue(loc, "An asset should be an object with type 'image', under a name", "asset"))
        elif "part" in asset:
            part = asset["part"]
            if not isinstance(part, str) or part not in terms.parts or part in claimed:
                message = "Input should name a part of the multipart body that no other asset names"
                album.issues.append(Issue((*loc, "part"), message, "asset_part"))
            else:
                claimed.add(part)
                names[placeholder] = album.add(terms.parts[part], loc)
        else:
            names[placeholder] = album.add_base64(asset.get("data_base64"), (*loc, "data_base64"))
    for index, image in enumerate(wire.images or ()):
        if isinstance(image, dict):
            album.add_base64(image.get("base64"), ("images", index, "base64"))
        else:
            album.add_url(image, ("images", index))
    for part, data in terms.parts.items():
        if part not in claimed:
            if wire.assets:
                album.issues.append(Issue((part[:MAX_NAME],), "No asset names this part", "asset_part"))
            else:
                album.add(data, (part[:MAX_NAME],))
    return names, album.close()


def _request(wire: SystemOneRequest, terms: Terms) -> tuple[domain.Request, Place]:
    """The request, checked, and where its controls stand in the body."""
    controls = controls_of(wire, terms, wire.instructions)
    places: dict[str, Loc] = {}
    if wire.options is not None:
        inner = controls_of(wire.options, Terms())
        named = [name for name in CONTROLS if getattr(wire.options, name) is not None]
        controls = replace(controls, **{name: getattr(inner, name) for name in named})
        places = {name: ("options", name) for name in named}

    def place(issue: Issue) -> Issue:
        head = issue.loc[0] if issue.loc else ""
        return replace(issue, loc=(*places[str(head)], *issue.loc[1:])) if head in places else issue

    questions = {key: _question(q) for key, q in wire.questions.items() if not isinstance(q, BoxQuestion)}
    asking = {key: asked for key, q in wire.questions.items() if (asked := _asking(q, questions)) != NOTHING}
    request = domain.Request(wire.state, questions, controls, asking)
    try:
        domain.validate(request)
    except InvalidRequest as error:
        raise InvalidRequest([place(issue) for issue in error.issues]) from None
    return request, place


def _asking(question: Any, questions: Mapping[str, domain.Question]) -> Asking:
    if isinstance(question, BoxQuestion):
        return NOTHING
    conditions = {
        key: tuple(_condition(value, questions.get(key)) for value in wanted) for key, wanted in (question.ask_if or {}).items()
    }
    return Asking(tuple(question.depends_on or ()), conditions, bool(question.alone), question.abstain_below)


def _condition(value: Any, question: domain.Question | None) -> Any:
    """An answer as a condition names it. Labels as djev shows them are taken too: "yes", "no" and the digits of levels."""
    if isinstance(question, domain.Noul) and isinstance(value, str):
        return {"yes": True, "true": True, "no": False, "false": False}.get(value, value)
    if isinstance(question, domain.Score) and isinstance(value, str) and value in "0123456789":
        return int(value) if value else value
    return value


_BARE: Any = {"include_url": False, "include_input": False, "include_context": False}

_MESSAGES = {
    # pydantic's own messages for these repeat what was sent
    "union_tag_invalid": "The question's type should be 'noul', 'choice' or 'score'",
    "union_tag_not_found": "A question needs a 'type': 'noul', 'choice' or 'score'",
    # and these speak of Python
    "model_attributes_type": "Input should be an object",
    "model_type": "Input should be an object",
    "dict_type": "Input should be an object",
    "list_type": "Input should be an array",
    "string_type": "Input should be a string",
    "extra_forbidden": "This field is not known here; a question has type, instructions, criteria, "
    "depends_on, ask_if, alone and abstain_below",
    "missing": "Field required",
}


def _issue(loc: Loc, kind: str, message: str) -> Issue:
    if kind == "extra_forbidden" and loc[0] == "options":
        return Issue(loc, f"This control is not known here. Known: {', '.join(CONTROLS)}", kind)
    if kind == "extra_forbidden" and loc[-2] == "criteria":
        return Issue(loc, "The criteria of a noul are 'true' and 'false'", kind)
    return Issue(loc, _MESSAGES.get(kind, message), kind)


def _question(question: NoulQuestion | ChoiceQuestion | ScoreQuestion) -> domain.Question:
    match question:
        case NoulQuestion(instructions=instructions, criteria=None):
            return domain.Noul(instructions)
        case NoulQuestion(instructions=instructions, criteria=NoulCriteria(true=yes, false=no)):
            return domain.Noul(instructions, yes, no)
        case ChoiceQuestion(instructions=instructions, criteria=options):
            return domain.Choice(options, instructions)
        case ScoreQuestion(instructions=instructions, criteria=levels):
            return domain.Score(levels, instructions)
    raise AssertionError(question.type)


DIALECT = Dialect(parse, refuse)
