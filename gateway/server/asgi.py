"""The gateway as an ASGI application: the loop moves messages, threads do the work.

Operations and both directions of bytes run in threads, with blocking sockets to S3, which takes
less CPU time than to await them (ADR 21). A small body is read before its request gets a thread.
"""

import asyncio
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any

from gateway.operations.answers import Answer
from gateway.operations.forms import has_form
from gateway.protocol.errors import S3Error
from gateway.protocol.head import Head
from gateway.server.application import Application, Served
from gateway.server.arriving import InMemory, Receive, Streamed
from gateway.server.departing import ClientGoneError, Send, send_pieces
from gateway.transfer.exchange import NoAnswerError
from gateway.transfer.store import DataMissingError

# A body of this size takes one or two messages, and no thread waits for them.
_SMALL_BYTES = 64 * 1024

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
                await arriving.finish(drains=_drains(head, answer))
            await self._send(head, served, send, loop)
        finally:
            if answer.reading is not None:
                answer.reading.close()
            served.record.write()

    async def _arriving(
        self, head: Head, receive: Receive, loop: asyncio.AbstractEventLoop
    ) -> InMemory | Streamed:
        small = await _small_body(head, receive, self._idle_s)
        if small is not None:
            return InMemory(small)
        streamed = Streamed(receive, loop, self._idle_s)
        if has_form(head):  # nobody knows who sends it before its fields are read
            await streamed.read_ahead(_SMALL_BYTES)
        return streamed

    async def _send(
        self, head: Head, served: Served, send: Send, loop: asyncio.AbstractEventLoop
    ) -> None:
        answer = served.answer
        has_content = head.method != "HEAD" and answer.status not in {204, 304}
        await send(
            {
                "type": "http.response.start",
                "status": answer.status,
                "headers": _headers_of(answer, has_content=has_content),
            }
        )
        if answer.reading is None or not has_content:
            content = answer.content if has_content else b""
            served.record.bytes_out = len(content)
            await send({"type": "http.response.body", "body": content, "more_body": False})
            return
        work = partial(
            send_pieces, answer.reading.pieces(), send, loop, self._idle_s, is_gone=lambda: False
        )
        try:
            served.record.bytes_out = await loop.run_in_executor(self._readers, work)
        except ClientGoneError:
            served.record.code = "ClientGone"
            return
        except (S3Error, DataMissingError, NoAnswerError) as error:
            # The answer has begun: only an early end tells the client.
            served.record.code, served.record.message = "CutOff", str(error)
            raise
        await send({"type": "http.response.body", "body": b"", "more_body": False})


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


async def _small_body(head: Head, receive: Receive, idle_s: float) -> bytes | None:
    """Return the whole body if it is small and its client does not wait; None if not."""
    length = head.header("content-length")
    if length is None:
        if head.header("transfer-encoding") is None:
            return b""
        return None
    if head.header("expect") is not None or not (length.isascii() and length.isdigit()):
        return None
    if int(length[:10]) > _SMALL_BYTES:
        return None
    if int(length) == 0:
        return b""
    pieces = []
    async with asyncio.timeout(idle_s):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise ConnectionError("the client is gone")
            pieces.append(message.get("body", b""))
            if not message.get("more_body"):
                return b"".join(pieces)


def _drains(head: Head, answer: Answer) -> bool:
    """Whether to take the rest of a body: its client may not listen before it has sent it."""
    return answer.status >= 300 and head.header("expect") is None


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
