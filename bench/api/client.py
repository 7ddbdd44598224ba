"""An HTTP client that costs less than the servers it measures: requests are encoded beforehand.

One thread sends them over kept connections, each with one request on the way. A test of an answer's
status is all that a measured request costs besides httptools.
"""

import asyncio
import base64
import json
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from httptools import HttpResponseParser

API = "/api/v1"


class AnswerError(Exception):
    """The server's answer has another status than the measurement needs."""


class Answer(NamedTuple):
    """A whole answer."""

    status: int
    body: bytes


class Connection(asyncio.Protocol):
    """A kept connection, with at most one request on the way."""

    is_closed = False

    def __init__(self) -> None:
        self._answer: asyncio.Future[Answer] | None = None
        self._parts: list[bytes] = []
        self._parser = HttpResponseParser(self)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_closed = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionResetError("the server closed"))

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)

    def on_message_complete(self) -> None:
        status = self._parser.get_status_code()
        if not self._parser.should_keep_alive():
            self.close()
        self._parser = HttpResponseParser(self)
        body, self._parts = b"".join(self._parts), []
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done():
            answer.set_result(Answer(status, body))

    async def send(self, request: bytes) -> Answer:
        """Send an encoded request; return its answer.

        Raises:
            OSError: the connection broke before the whole answer came.
        """
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    def close(self) -> None:
        self.is_closed = True
        self._transport.close()


class Client:
    """Sends requests to one server, as one user, over as many connections as it has to."""

    def __init__(self, endpoint: str, access_key_id: str, secret_access_key: str) -> None:
        split = urlsplit(endpoint)
        self._host, self._port = split.hostname or "", split.port or 80
        self._prefix = split.path.rstrip("/") or API
        pair = base64.b64encode(f"{access_key_id}:{secret_access_key}".encode()).decode()
        self._head = (
            f" HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n"
            f"Authorization: Basic {pair}\r\nAccept: application/json\r\n"
        )
        self._idle: list[Connection] = []

    def encode(
        self,
        method: str,
        path: str,
        document: object = None,
        *,
        content: bytes | None = None,
        is_absolute: bool = False,
    ) -> bytes:
        """Return the bytes of a request; its body is the document as JSON, or the content."""
        body, media_type = content, "application/octet-stream"
        if document is not None:
            body, media_type = json.dumps(document).encode(), "application/json"
        head = f"{method} {path if is_absolute else self._prefix + path}{self._head}"
        if body is not None:
            head += f"Content-Type: {media_type}\r\n"
        if body is not None or method in ("POST", "PUT"):
            head += f"Content-Length: {len(body or b'')}\r\n"
        return f"{head}\r\n".encode() + (body or b"")

    async def send(self, request: bytes) -> Answer:
        """Send an encoded request over an idle connection, or a new one; return its answer."""
        connection = await self._connection()
        answer = await connection.send(request)
        self._idle.append(connection)
        return answer

    async def expect(self, request: bytes, *statuses: int) -> Answer:
        """Send an encoded request; return its answer.

        Raises:
            AnswerError: the answer has none of the statuses.
        """
        answer = await self.send(request)
        if answer.status not in statuses:
            line = request.partition(b"\r\n")[0].decode()
            raise AnswerError(f"{line} was answered {answer.status}: {answer.body[:300]!r}")
        return answer

    async def call(self, method: str, path: str, document: object = None) -> Any:  # noqa: ANN401 - whatever it holds
        """Send a request; return the document of its answer, None if there is none.

        Raises:
            AnswerError: the request failed.
        """
        request = self.encode(method, path, document)
        answer = await self.expect(request, 200, 201, 202, 204)
        return json.loads(answer.body) if answer.body else None

    def close(self) -> None:
        """Close the idle connections."""
        for connection in self._idle:
            connection.close()
        self._idle.clear()

    async def _connection(self) -> Connection:
        while self._idle:
            if not (connection := self._idle.pop()).is_closed:
                return connection
        loop = asyncio.get_running_loop()
        return (await loop.create_connection(Connection, self._host, self._port))[1]


def quoted(text: str) -> str:
    """Return the text as a part of a query."""
    return quote(text, safe="")
