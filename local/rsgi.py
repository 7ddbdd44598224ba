"""Serves a WSGI application to Granian over RSGI, and refuses requests that did not arrive whole.

Theory of operation. Granian's own WSGI hides a broken body: it reads as nothing, or as the part
that came. Over RSGI, Granian raises an error instead. So the event loop reads the whole body first,
and a thread calls the application only if the body is complete.
"""

import asyncio
import io
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import msgspec

from graveler.limits import GATEWAY_BODY_BYTES_MAX
from local.gateway import Application

if TYPE_CHECKING:
    from granian._granian import RSGIHTTPProtocol as HTTPProtocol
    from granian.rsgi import Scope

_BROKEN = "the body is incomplete or its chunks are malformed: send the whole request again"
_UNPREFIXED = ("CONTENT_LENGTH", "CONTENT_TYPE")
_BODY_HEADERS = (*_UNPREFIXED, "TRANSFER_ENCODING")
# Bytes of a refused body to read and discard, so that the client gets the answer.
_DRAINED_BYTES_MAX = 1024**3

Rsgi = Callable[["Scope", "HTTPProtocol"], Coroutine[Any, Any, None]]
Answer = tuple[int, list[tuple[str, str]], bytes]


def rsgi(application: Application, threads: int) -> Rsgi:
    """Return an RSGI application that calls the application in one of the threads."""
    pool = ThreadPoolExecutor(threads)

    async def serve(scope: "Scope", protocol: "HTTPProtocol") -> None:
        environ = _environ_of(scope)
        if int(environ.get("CONTENT_LENGTH") or 0) > GATEWAY_BODY_BYTES_MAX:
            await _drain(protocol)  # the application refuses it by its length
            body = b""
        else:
            try:
                body = await protocol()
            except RuntimeError:
                protocol.response_bytes(*_refusal())
                return
        environ["wsgi.input"] = io.BytesIO(body)
        loop = asyncio.get_running_loop()
        answer = await loop.run_in_executor(pool, _call, application, environ)
        protocol.response_bytes(*answer)

    return serve


async def _drain(protocol: "HTTPProtocol") -> None:
    drained = 0
    async for block in protocol:
        drained += len(block)
        if drained > _DRAINED_BYTES_MAX:
            return


def _environ_of(scope: "Scope") -> dict[str, Any]:
    """Return the request in WSGI's form, without its body."""
    headers = scope.headers
    environ: dict[str, Any] = {}
    # A name with a hyphen comes last: it wins over the same name with an underscore.
    for name in sorted(headers.keys(), key=lambda name: "_" not in name):
        wsgi_name = name.replace("-", "_").upper()
        if wsgi_name in _BODY_HEADERS and "_" in name:
            continue  # not the header that describes the body
        # An unreadable value becomes an empty one.
        value = ",".join(headers.get_all(name))  # type: ignore[attr-defined]
        prefix = "" if wsgi_name in _UNPREFIXED else "HTTP_"
        environ[f"{prefix}{wsgi_name}"] = value
    return environ | {
        "REQUEST_METHOD": scope.method,
        "PATH_INFO": scope.path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "REMOTE_ADDR": scope.client.rpartition(":")[0],
    }


def _call(application: Application, environ: dict[str, Any]) -> Answer:
    started: list[tuple[str, list[tuple[str, str]]]] = []
    body: Iterable[bytes] = application(environ, lambda *answer: started.append(answer))
    ((status, headers),) = started
    return int(status.split()[0]), headers, b"".join(body)


def _refusal() -> Answer:
    body = msgspec.json.encode({"message": _BROKEN})
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    return 400, [*headers, ("Connection", "close")], body
