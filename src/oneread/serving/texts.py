"""A text as it is written for a caller: let in like a decision, given up when its time is over or its caller is gone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from contextvars import copy_context
from threading import Event
from typing import TYPE_CHECKING, Any, TypeAlias

from ..engines.base import wanted
from ..engines.turns import Errand
from .admission import Admission, timed_out
from .call import Call
from .failures import Failure, Refused, unavailable

if TYPE_CHECKING:
    from ..decide import Piece, Text

Gone: TypeAlias = Callable[[], Awaitable[None]]


async def written(
    text: Text, most: int, admission: Admission, call: Call, deadline: float, gone: Gone, stopping: asyncio.Event
) -> AsyncGenerator[Piece, None]:
    """The pieces of a text as they are written, in a thread. What is not yet written is given up when iteration ends.

    Args:
        most: tokens that may be written.
        deadline: of the whole text, in monotonic seconds.
        gone: returns once the caller has left.
        stopping: set when the server must end.

    Raises:
        Refused: 529 or 504 when it is not let in, before any piece; later 504 at its deadline, 503 when the server stops, 499
            when the caller left.
    """
    ends = [asyncio.ensure_future(gone()), asyncio.ensure_future(stopping.wait())]
    following: asyncio.Future[Piece | None] | None = None
    given_up = Event()
    try:
        async with _let_in(lambda: admission.admit_generation(deadline, text.prompt_tokens, most, text.passes)) as work:
            call.rows, call.tokens = call.rows + 1, call.tokens + text.prompt_tokens
            work.queued(text.prompt_tokens)
            pieces, done, context = iter(text), 0, copy_context()
            context.run(wanted.set, lambda: not given_up.is_set())
            while True:
                started = time.monotonic()
                following = asyncio.get_running_loop().run_in_executor(None, lambda: context.run(_next, pieces))
                left = max(0.0, deadline - started)
                awaited: set[asyncio.Future[Any]] = {following, *ends}
                await asyncio.wait(awaited, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                if not following.done():
                    raise _ended(*(end.done() for end in ends))
                piece = following.result()
                if piece is None:
                    return
                call.spans.append(("read", started, time.monotonic()))
                call.tokens += piece.tokens - done
                work.queued(round((piece.tokens - done) * text.passes))
                done = piece.tokens
                yield piece
    finally:
        for end in ends:
            end.cancel()
        if following is None or following.done():
            text.close()
        else:  # what is being written in the thread ends with its step
            given_up.set()

            def close(last: asyncio.Future[Piece | None]) -> None:
                last.exception()  # looked at, so that asyncio does not log an error that nobody waits for
                text.close()

            following.add_done_callback(close)


def _next(pieces: Iterator[Piece]) -> Piece | None:
    return next(pieces, None)


def _ended(gone: bool, stopping: bool) -> Refused:
    if gone:
        return Refused(Failure(499, "client_closed_request", "The caller left before the text was written."))
    if stopping:
        return Refused(unavailable("The server stops before this could be written. The request may be sent again."))
    return timed_out("The text was not written in time", 0.0)


@asynccontextmanager
async def _let_in(admit: Callable[[], Any]) -> AsyncIterator[Errand]:
    """Admission, held by a task of its own: what it notes in its context has to be undone in the same one, and a text that is
    streamed is written in several."""
    inside: asyncio.Future[Errand] = asyncio.get_running_loop().create_future()
    over = asyncio.Event()

    async def hold() -> None:
        try:
            with admit() as work:
                inside.set_result(work)
                await over.wait()
        except Exception as error:  # whatever it is, who waits for it must hear of it
            if inside.done():
                raise
            inside.set_exception(error)

    holding = asyncio.create_task(hold())
    try:
        yield await inside
    finally:
        over.set()
        await holding
