"""``oneread ask``"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from ..errors import InvalidRequest, OnereadError
from ..serving.dialects import systemone
from ..serving.dialects.base import Terms
from ..serving.images import ImageLimits
from ..serving.settings import API_KEY, api_key
from ..serving.strict_json import parse as parse_json
from .console import fail, out
from .loading import loading, placed
from .options import READER_TODO, CacheGib, Device, ExpertBits, PassRows, ReaderPath, Threads
from .serve_options import Calibration
from .table import answers_table

if TYPE_CHECKING:
    from ..readers.checkpoint import Placement

TIMEOUT_S = 120

FREE = Terms(images=ImageLimits())
"""What a body may hold before it is known who reads it: images, too."""

State = Annotated[
    str | None,
    typer.Argument(help="The evidence: a text, @FILE for a file's text (its JSON value if named .json), or - for stdin."),
]
Url = Annotated[
    str | None,
    typer.Option(
        envvar="ONEREAD_URL", help="Ask a running server, e.g. http://127.0.0.1:8080; a key is taken from ONEREAD_API_KEY."
    ),
]


def ask(
    state: State = None,
    noul: Annotated[list[str] | None, typer.Option(help="A yes/no question.", metavar="QUESTION")] = None,
    choice: Annotated[list[str] | None, typer.Option(help="One of a named set.", metavar="QUESTION=OPTION,OPTION...")] = None,
    score: Annotated[list[str] | None, typer.Option(help="Levels, the lowest first.", metavar="QUESTION=LEVEL,LEVEL...")] = None,
    request: Annotated[
        Path | None,
        typer.Option(
            help="The body of a POST /v1/systemone, or a case that holds one under request; - for stdin.", metavar="FILE"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the reply as JSON.")] = False,
    url: Url = None,
    reader: ReaderPath = None,
    threads: Threads = None,
    device: Device = None,
    prefix_cache_gib: CacheGib = None,
    pass_rows: PassRows = None,
    expert_bits: ExpertBits = None,
    calibration: Calibration = None,
) -> None:
    """Ask questions about a piece of evidence and print the answers.

    --noul, --choice and --score may be given several times. Without --url the reader is loaded into this process.
    """
    asked = [(kind, text) for kind, texts in (("noul", noul), ("choice", choice), ("score", score)) for text in texts or ()]
    if request is not None:
        if state is not None or asked:
            fail("--request holds the state and the questions already.", "Leave the state, --noul, --choice and --score out.", 2)
        body = _request_body(request)
    else:
        body = _body(state, asked)
    if url is None:
        reply = _decide(body, reader, threads, placed(device, prefix_cache_gib, pass_rows, expert_bits), calibration)
    elif calibration is not None:
        fail("A running server answers under its own calibration.", "Leave --calibration out, or --url.", 2)
    else:
        reply = _post(url, body)
    if as_json:
        out.print(json.dumps(reply, ensure_ascii=False, indent=2), markup=False, soft_wrap=True)
    else:
        out.print(answers_table(body["questions"], reply))


def _body(state: str | None, asked: list[tuple[str, str]]) -> dict[str, Any]:
    if state is None:
        fail("There is no evidence.", "Give a text, @FILE or -; 'oneread ask --help' has an example.", 2)
    if not asked:
        fail("There is no question.", "Add --noul, --choice or --score; 'oneread ask --help' has an example.", 2)
    questions: dict[str, Any] = {}
    for kind, text in asked:
        key, question = _question(kind, text)
        if key in questions:
            fail("The same question stands there twice.", "Ask it once, or use --request, where questions have ids.", 2)
        questions[key] = question
    return {"state": _state(state), "questions": questions}


def _question(kind: str, text: str) -> tuple[str, dict[str, Any]]:
    if kind == "noul":
        return text, {"type": "noul", "instructions": text}
    instructions, equals, names = text.rpartition("=")
    options = [name.strip() for name in names.split(",")]
    if not equals or "" in options or len(set(options)) < len(options):
        what = "a question, =, and different names between commas"
        fail(f"--{kind} takes {what}.", f'Write --{kind} "How is the mood?=calm,angry"; use --request for names with commas.', 2)
    criteria = dict.fromkeys(options) if kind == "choice" else options
    return instructions, {"type": kind, "instructions": instructions, "criteria": criteria}


def _state(state: str) -> Any:
    if state == "-":
        return sys.stdin.read()
    if not state.startswith("@"):
        return state
    path = Path(state[1:])
    data = _read(path)
    if path.suffix == ".json":
        return _json(data, path)
    try:
        return data.decode()
    except UnicodeDecodeError:
        fail(f"{path} is not a UTF-8 text.", "Convert it to UTF-8, e.g. with iconv.", 2)


def _request_body(path: Path) -> dict[str, Any]:
    value = _json(sys.stdin.buffer.read() if str(path) == "-" else _read(path), path)
    if isinstance(value, dict) and "questions" not in value and "request" in value:
        value = value["request"]
    try:
        systemone.parse(value, FREE)
    except InvalidRequest as error:
        _fail_invalid(error)
    body: dict[str, Any] = value
    return body


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        fail(f"{path} cannot be read: {error.strerror}.", "Check the path; a file's name follows the @ or --request.", 2)


def _json(data: bytes, path: Path) -> Any:
    try:
        return parse_json(data)
    except InvalidRequest as error:
        issue = error.issues[0]
        where = f" at offset {issue.loc[0]}" if issue.loc and isinstance(issue.loc[0], int) else ""
        fail(f"{path} is not JSON{where}: {issue.message}.", "Mend the file, or send text instead.", 2)


def _decide(
    body: dict[str, Any], reader: Path | None, threads: int | None, placement: Placement, calibration: Path | None
) -> dict[str, Any]:
    """Through the same parsing, decision and rendering as the server."""
    from ..calibration.profile import ProfileError, load_profile
    from ..decide import Decider
    from ..readers.reader import load_reader

    try:
        systemone.parse(body, FREE)
        profile = None if calibration is None else load_profile(calibration)
        with loading(reader) as bars:
            decider = Decider(load_reader(reader, threads, placement=placement, progress=bars), calibration=profile)
        with decider:
            ask = systemone.parse(body, FREE if decider.reader.takes_images else systemone.PLAIN)
            systemone.check_model(ask.model, decider.reader.name)
            return systemone.reply(decider.decide(ask.request))
    except InvalidRequest as error:
        _fail_invalid(error)
    except ProfileError as error:
        fail(str(error), "Leave --calibration out, or fit a profile for this reader with 'oneread calibrate'.")
    except OnereadError as error:
        fail(str(error), READER_TODO)


def _fail_invalid(error: InvalidRequest) -> NoReturn:
    fail(f"The request is not valid. {error}.", "docs/api.md says what a request holds.", 2)


def _post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    headers = {"Content-Type": "application/json"}
    try:
        key = api_key(os.environ)
    except ValueError as error:
        fail(f"{error}.", f"Set the server's key, or unset {API_KEY}.", 2)
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    target = url.rstrip("/") + "/v1/systemone"
    if not target.startswith(("http://", "https://")):
        fail(f"{url} is not an http URL.", "Write --url http://127.0.0.1:8080", 2)
    sent = urllib.request.Request(target, json.dumps(body).encode(), headers)  # noqa: S310
    try:
        with urllib.request.urlopen(sent, timeout=TIMEOUT_S) as got:  # noqa: S310
            reply: dict[str, Any] = json.load(got)
            return reply
    except urllib.error.HTTPError as error:
        fail(f"The server answered {error.code}: {_told(error.read())}.", _TODO.get(error.code, "See the server's docs/api.md."))
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        fail(
            f"No answer from {url}: {reason}.",
            "Start a server with 'oneread serve', or leave --url out to answer in this process.",
        )


_TODO = {
    401: f"Set {API_KEY} to a key of that server.",
    403: f"Set {API_KEY} to a key of that server.",
    404: "Give the server's root with --url, without /v1/systemone.",
    503: "Try again in a moment.",
}


def _told(body: bytes) -> str:
    """The message of an error reply, in either of its forms."""
    try:
        detail = json.loads(body)["detail"]
        if isinstance(detail, list):
            return "; ".join(f"{'.'.join(map(str, issue['loc'][1:]))}: {issue['msg']}" for issue in detail)
        return str(detail["message"]).rstrip(".")
    except (ValueError, KeyError, TypeError):
        return "a reply of another form"
