"""A server that speaks `POST /v1/systemone`, asked as a decider is."""

from __future__ import annotations

import asyncio
import email.utils
import random
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..answers import Answer, Answers, ChoiceAnswer, NoulAnswer, ScoreAnswer, Usage
from ..controls import Content
from ..errors import MissingExtra, OnereadError
from ..questions import Choice, Noul, Question, Request, Score

if TYPE_CHECKING:
    import httpx

RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
LONGEST_WAIT_S = 60.0


class RemoteError(OnereadError):
    """The server gave no usable answer.

    Attributes:
        kind: ``"http_422"``, ``"unreachable"``, ``"malformed"``.
    """

    def __init__(self, message: str, kind: str) -> None:
        self.kind = kind
        super().__init__(message)


class Remote:
    """Asks one server. Bound to one event loop.

    Args:
        url: the server's root, its ``/v1``, or the whole ``.../v1/systemone``.
        key: sent as a bearer token.
        model: the model to ask for.
        timeout_s: for one attempt.
        retries: further attempts after a failure that may pass; the server's ``retry-after`` is honoured, at most
            `LONGEST_WAIT_S`.

    Raises:
        MissingExtra: httpx is not installed.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        model: str = "jev-latest",
        timeout_s: float = 60.0,
        retries: int = 6,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        try:
            import httpx
        except ImportError:
            raise MissingExtra("Evaluating a URL needs httpx: pip install 'oneread[eval]'") from None
        self.endpoint = endpoint(url)
        self.model = model
        self.retries = retries
        self.served: set[str] = set()
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._transport_error = httpx.TransportError
        self._client = httpx.AsyncClient(headers=headers, timeout=timeout_s, transport=transport, follow_redirects=False)

    async def adecide(self, request: Request) -> Answers:
        """Ask; retries what may pass.

        Raises:
            RemoteError: no usable answer came.
        """
        body = {
            "model": self.model,
            "state": request.state,
            "questions": {key: wire_question(question) for key, question in request.questions.items()},
        }
        for attempt in range(self.retries + 1):
            wait = min(LONGEST_WAIT_S, 0.25 * 2**attempt) * random.uniform(0.5, 1.0)
            try:
                reply = await self._client.post(self.endpoint, json=body)
            except self._transport_error as error:
                failure = RemoteError(f"{self.endpoint} cannot be reached ({type(error).__name__})", "unreachable")
            else:
                if reply.status_code == 200:
                    answers = self._parse(reply, request)
                    self.served.add(answers.model)
                    return answers
                failure = RemoteError(f"{self.endpoint} replied {reply.status_code}", f"http_{reply.status_code}")
                if reply.status_code not in RETRIED:
                    raise failure
                wait = max(wait, min(LONGEST_WAIT_S, retry_after(reply.headers)))
            if attempt < self.retries:
                await asyncio.sleep(wait)
        raise failure

    async def aclose(self) -> None:
        await self._client.aclose()

    async def __aenter__(self) -> Remote:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()

    def _parse(self, reply: httpx.Response, request: Request) -> Answers:
        try:
            body = reply.json()
            answers = {key: parse_answer(body["answers"][key], question) for key, question in request.questions.items()}
            usage = body.get("usage") or {}
            return Answers(
                str(body["model"]), answers, Usage(int(usage.get("input_tokens", 0)), int(usage.get("output_tokens", 0)))
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            raise RemoteError(f"{self.endpoint} replied something that is no System One answer", "malformed") from None


def endpoint(url: str) -> str:
    """The whole address of ``/v1/systemone`` from a root, a ``/v1`` or itself."""
    url = url.rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise RemoteError("A URL should start with http:// or https://", "url")
    if url.endswith("/systemone"):
        return url
    return url + ("/systemone" if url.endswith("/v1") else "/v1/systemone")


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds the server asks to wait: ``retry-after-ms``, ``retry-after`` in seconds or as a date; 0 when it does not."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after", "0")
        if value.replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return 0.0


def wire_question(question: Question) -> dict[str, Any]:
    """A question as `POST /v1/systemone` takes it."""
    wire: dict[str, Any] = {}
    if question.instructions is not None:
        wire["instructions"] = question.instructions
    match question:
        case Noul(_, yes, no):
            sides: dict[str, Content] = {name: side for name, side in (("true", yes), ("false", no)) if side is not None}
            return {"type": "noul", **wire, **({"criteria": sides} if sides else {})}
        case Choice(options):
            return {"type": "choice", **wire, "criteria": dict(options)}
        case Score(levels):
            return {"type": "score", **wire, "criteria": list(levels)}


def parse_answer(value: Mapping[str, Any], question: Question) -> Answer:
    """One answer of a reply. Raises KeyError, TypeError or ValueError when it is not one to this question."""
    match question:
        case Noul():
            return NoulAnswer(_share(value["noul"]))
        case Choice(options):
            by_name = {name: _share(value["probabilities"][name]) for name in options}
            return ChoiceAnswer(_one_of(value["choice"], by_name), _share(value["confidence"]), _some(by_name))
        case Score(levels):
            by_level = tuple(_share(value["probabilities"][str(i)]) for i in range(len(levels)))
            if not sum(by_level):
                raise ValueError
            return ScoreAnswer(float(value["score"]), _share(value["confidence"]), tuple(levels), by_level)


def _share(value: Any) -> float:
    if isinstance(value, bool) or not 0 <= float(value) <= 1:
        raise ValueError
    return float(value)


def _one_of(name: Any, by_name: Mapping[str, float]) -> str:
    if name not in by_name:
        raise ValueError
    return str(name)


def _some(by_name: dict[str, float]) -> dict[str, float]:
    if not sum(by_name.values()):
        raise ValueError
    return by_name
