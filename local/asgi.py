"""Serves the API and the S3 gateway to Granian on one port, over ASGI.

Theory of operation. A request that is signed for S3, or sent to a host of the gateway, is the
gateway's; all others are the API's, as in lakeFS. The API is a WSGI application that runs in
threads. Granian's own WSGI hides a broken body: it reads as nothing, or as the part that came. Over
ASGI, such a body ends without its last message. So the event loop reads the whole body first, and a
thread calls the application only if the body is complete.
"""

import asyncio
import io
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol
from urllib.parse import unquote_to_bytes

import msgspec

from gateway.server.asgi import head_of
from gateway.server.routing import is_for_gateway
from graveler.limits import GATEWAY_BODY_BYTES_MAX
from local.gateway import Application

_SIGNED = (b"AWS4-", b"AWS ")
_BROKEN = "the body is incomplete or its chunks are malformed: send the whole request again"
_UNPREFIXED = ("CONTENT_LENGTH", "CONTENT_TYPE")
_BODY_HEADERS = (*_UNPREFIXED, "TRANSFER_ENCODING")
# Bytes of a refused body to read and discard, so that the client gets the answer.
_DRAINED_BYTES_MAX = 1024**3

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Answer = tuple[int, list[tuple[str, str]], bytes]


class Asgi(Protocol):
    """An ASGI application."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...


class _BrokenError(Exception):
    """The body did not arrive whole."""


def one_port(api: Asgi, gateway: Asgi, domains: Iterable[str]) -> Asgi:
    """Return the application that passes each request to the API or to the gateway."""
    hosts = tuple(domains)

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        # Most requests of S3's clients are told by one header, without reading the others.
        is_signed = any(
            name == b"authorization" and value.startswith(_SIGNED)
            for name, value in scope["headers"]
        )
        chosen = gateway if is_signed or is_for_gateway(head_of(scope), hosts) else api
        await chosen(scope, receive, send)

    return serve


def asgi(application: Application, threads: int) -> Asgi:
    """Return an ASGI application that calls the WSGI application in one of the threads."""
    pool = ThreadPoolExecutor(threads)

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        environ = _environ_of(scope)
        try:
            body = await _body_of(environ, receive)
        except _BrokenError:
            await _send(send, *_refusal())
            return
        environ["wsgi.input"] = io.BytesIO(body)
        loop = asyncio.get_running_loop()
        await _send(send, *await loop.run_in_executor(pool, _call, application, environ))

    return serve


async def _body_of(environ: Mapping[str, Any], receive: Receive) -> bytes:
    """Return the body; nothing of one that the application refuses by its length.

    Raises:
        _BrokenError: it did not arrive whole.
    """
    is_refused = int(environ.get("CONTENT_LENGTH") or 0) > GATEWAY_BODY_BYTES_MAX
    blocks: list[bytes] = []
    read_bytes = 0
    has_more = True
    while has_more:
        try:
            message = await receive()
        except Exception as error:
            raise _BrokenError from error
        if message["type"] != "http.request":
            raise _BrokenError
        block = message.get("body", b"")
        has_more = message.get("more_body", False)
        read_bytes += len(block)
        if is_refused and read_bytes > _DRAINED_BYTES_MAX:
            break
        # One byte too many is enough for the application to refuse a chunked body.
        if not is_refused and read_bytes - len(block) <= GATEWAY_BODY_BYTES_MAX:
            blocks.append(block)
    return b"".join(blocks)


def _environ_of(scope: Scope) -> dict[str, Any]:
    """Return the request in WSGI's form, without its body."""
    values: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        values.setdefault(name.decode("latin-1").lower(), []).append(_text_of(value))
    environ: dict[str, Any] = {}
    # A name with a hyphen comes last: it wins over the same name with an underscore.
    for name in sorted(values, key=lambda name: "_" not in name):
        wsgi_name = name.replace("-", "_").upper()
        if wsgi_name in _BODY_HEADERS and "_" in name:
            continue  # not the header that describes the body
        prefix = "" if wsgi_name in _UNPREFIXED else "HTTP_"
        environ[f"{prefix}{wsgi_name}"] = ",".join(values[name])
    client = scope.get("client")
    raw_path: bytes = scope.get("raw_path") or scope["path"].encode()
    return environ | {
        "REQUEST_METHOD": scope["method"],
        "PATH_INFO": unquote_to_bytes(raw_path).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client[0] if client else "",
    }


def _text_of(value: bytes) -> str:
    """Return a header's value; an unreadable one becomes empty."""
    return value.decode() if value.isascii() else ""


def _call(application: Application, environ: dict[str, Any]) -> Answer:
    started: list[tuple[str, list[tuple[str, str]]]] = []
    body: Iterable[bytes] = application(environ, lambda *answer: started.append(answer))
    ((status, headers),) = started
    return int(status.split()[0]), headers, b"".join(body)


async def _send(send: Send, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
    raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _refusal() -> Answer:
    body = msgspec.json.encode({"message": _BROKEN})
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    return 400, [*headers, ("Connection", "close")], body
