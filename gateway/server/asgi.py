"""The gateway as an ASGI application: the loop moves messages, threads do the work.

Operations and both directions of bytes run in threads, with blocking sockets to S3, which takes
less CPU time than to await them (ADR 21). A small body is read before its request gets a thread.
"""

import asyncio
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import Any

from gateway.operations.answers import Answer
from gateway.operations.forms import has_form
from gateway.protocol.errors import Code, S3Error
from gateway.protocol.head import Head
from gateway.server.application import Application, Served
from gateway.server.arriving import InMemory, Receive, Streamed
from gateway.server.departing import ClientGoneError, Send, send_pieces
from gateway.transfer.exchange import NoAnswerError
from gateway.transfer.store import DataMissingError
from graveler.errors import GravelerError

# A body of this size takes one or two messages, and no thread waits for them.
_SMALL_BYTES = 64 * 1024
_SMALL_DIGITS = len(str(_SMALL_BYTES))

# Of a header: the server refuses the whole answer. Some answers repeat what a URL said.
_UNSENDABLE = re.compile("[\x00-\x1f\x7f]")

# No repository can have this name.
HEALTH_PATH = "/_health"

Scope = Mapping[str, Any]


class Asgi:
    """An ASGI application of one process."""

    def __init__(self, application: Application, *, threads: int, idle_s: float) -> None:
        self._application = application
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="request")
        # Slow readers wait for each other, and for nobody else.
        self._readers = ThreadPoolExecutor(threads, thread_name_prefix="reader")
        self._idle_s = idle_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        head = head_of(scope)
        if head.raw_path == HEALTH_PATH and head.method in {"GET", "HEAD"}:
            await _send_health(send)
            return
        loop = asyncio.get_running_loop()
        arriving = await self._arriving(head, receive, loop)
        address = scope["client"][0] if scope.get("client") else ""
        work = partial(copy_context().run, self._application.serve, head, arriving, address)
        served: Served = await loop.run_in_executor(self._pool, work)
        answer = served.answer
        try:
            if isinstance(arriving, Streamed):
                await arriving.finish(drains=_drains(head, arriving, answer))
            if _must_close(head, arriving):
                served = _closing(served)
            await self._send(head, served, send, loop)
        except ClientGoneError:
            served.record.code = "ClientGone"
        finally:
            if answer.reading is not None:
                answer.reading.close()
            served.record.write()

    async def _arriving(
        self, head: Head, receive: Receive, loop: asyncio.AbstractEventLoop
    ) -> InMemory | Streamed:
        small = await _small_body(head, receive, self._idle_s)
        if small is not None:
            return small
        streamed = Streamed(receive, loop, self._idle_s)
        if has_form(head):  # nobody knows who sends it before its fields are read
            await streamed.read_ahead(_SMALL_BYTES)
        return streamed

    async def _send(
        self, head: Head, served: Served, send: Send, loop: asyncio.AbstractEventLoop
    ) -> None:
        """Send the answer.

        Raises:
            ClientGoneError: the client does not take it.
        """
        answer = served.answer
        has_content = head.method != "HEAD" and answer.status not in {204, 304}
        start = {
            "type": "http.response.start",
            "status": answer.status,
            "headers": _headers_of(answer, has_content=has_content),
        }
        await _sent(send, start)
        if answer.reading is None or not has_content:
            content = answer.content if has_content else b""
            served.record.bytes_out = len(content)
            await _sent(send, _last_piece(content))
            return
        work = partial(send_pieces, answer.reading.pieces(), send, loop, self._idle_s)
        try:
            served.record.bytes_out = await loop.run_in_executor(self._readers, work)
        except (S3Error, DataMissingError, NoAnswerError, GravelerError) as error:
            # The answer has begun: only an early end tells the client.
            served.record.code, served.record.message = "CutOff", str(error)
            raise
        await _sent(send, _last_piece(b""))


async def _sent(send: Send, message: dict[str, Any]) -> None:
    """Send the message.

    Raises:
        ClientGoneError: the client does not take it; servers raise whatever they like then.
    """
    try:
        await send(message)
    except Exception as error:
        raise ClientGoneError from error


def _last_piece(content: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": content, "more_body": False}


async def _send_health(send: Send) -> None:
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"6")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"alive!", "more_body": False})


def head_of(scope: Scope) -> Head:
    """Return the request's head, as it was sent."""
    raw_path: bytes = scope.get("raw_path") or scope["path"].encode()
    return Head(
        scope["method"],
        raw_path.decode("latin-1"),
        scope["query_string"].decode("latin-1"),
        tuple(
            (name.decode("latin-1").lower(), value.decode("latin-1").strip())
            for name, value in scope["headers"]
        ),
    )


async def _small_body(head: Head, receive: Receive, idle_s: float) -> InMemory | None:
    """Return the whole body if it is small and its client does not wait; None if not."""
    is_chunked = head.header("transfer-encoding") is not None
    length = head.header("content-length") or ("" if is_chunked else "0")
    has_few_digits = length.isascii() and length.isdigit() and len(length) <= _SMALL_DIGITS
    if not has_few_digits or int(length) > _SMALL_BYTES:
        return None
    if int(length) == 0:
        return InMemory(b"")
    if head.header("expect") is not None:
        return None
    try:
        async with asyncio.timeout(idle_s):
            return await _whole_body(receive)
    except TimeoutError:
        return InMemory(b"", Code.REQUEST_TIMEOUT)
    except Exception:  # noqa: BLE001 - whatever the server raises of a broken body
        return InMemory(b"", Code.INCOMPLETE_BODY)


async def _whole_body(receive: Receive) -> InMemory:
    pieces = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return InMemory(b"", Code.INCOMPLETE_BODY)
        pieces.append(message.get("body", b""))
        if not message.get("more_body"):
            return InMemory(b"".join(pieces))


def _drains(head: Head, arriving: Streamed, answer: Answer) -> bool:
    """Whether to take the rest of a body: its client may not listen before it has sent it."""
    return answer.status >= 300 and not _is_waiting(head, arriving)


def _is_waiting(head: Head, arriving: InMemory | Streamed) -> bool:
    """Whether the client still waits for 100 Continue."""
    has_begun = isinstance(arriving, Streamed) and arriving.has_begun
    return head.header("expect") is not None and not has_begun


def _must_close(head: Head, arriving: InMemory | Streamed) -> bool:
    """Whether the connection must end with the answer.

    The server would take the client's next request for the rest of a body that did not come whole.
    And botocore up to 1.43.62 misreads the next answer if it got no 100 Continue.
    """
    is_partial = isinstance(arriving, Streamed) and not arriving.is_over
    return is_partial or _is_waiting(head, arriving)


def _closing(served: Served) -> Served:
    """Return the answer with an order to close the connection."""
    headers = {**served.answer.headers, "Connection": "close"}
    return replace(served, answer=replace(served.answer, headers=headers))


def _headers_of(answer: Answer, *, has_content: bool) -> list[tuple[bytes, bytes]]:
    headers = {name.lower(): value for name, value in answer.headers.items()}
    if answer.length_bytes is not None:
        headers["content-length"] = str(answer.length_bytes)
    elif has_content:
        headers["content-length"] = str(len(answer.content))
    headers.setdefault("server", "Graveler")
    return [
        (name.encode("latin-1"), _UNSENDABLE.sub(" ", value).encode("latin-1", "replace"))
        for name, value in headers.items()
    ]
