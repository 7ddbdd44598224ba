"""A proxy before a server, which spoils chosen answers on their way back."""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import urllib3

# Headers of one connection, and what the proxy computes anew.
_OWN_HEADERS = {"connection", "content-length", "date", "server", "transfer-encoding"}


@dataclass(frozen=True)
class Reply:
    """An answer of the server."""

    status: int
    body: bytes


@dataclass(frozen=True)
class Fault:
    """Spoils the answers to requests like `GET /repositories/x?prefix=y`, by a pattern."""

    name: str
    request: str
    spoil: Callable[[Reply], Reply]
    is_forwarded: bool = True  # else the server never sees the request


def replaced(old: str, new: str) -> Callable[[Reply], Reply]:
    """Return a fault that replaces a text in a body."""
    return lambda reply: Reply(reply.status, reply.body.replace(old.encode(), new.encode(), 1))


def answered(status: int, body: str = "{}") -> Callable[[Reply], Reply]:
    """Return a fault that answers something else."""
    return lambda _: Reply(status, body.encode())


def damaged(reply: Reply) -> Reply:
    """Return the reply with its first byte changed, or with one more byte if it is empty."""
    body = reply.body
    return Reply(reply.status, bytes([body[0] ^ 1]) + body[1:] if body else b"\0")


@dataclass
class SpoilingProxy:
    """A running proxy."""

    endpoint: str
    spoiled: set[str] = field(default_factory=set)


@contextmanager
def spoiling_proxy(server: str, faults: Sequence[Fault]) -> Iterator[SpoilingProxy]:
    """Run a proxy before the server at a URL; the proxy lists the faults that took place."""
    pool = urllib3.PoolManager(retries=False)
    proxy = SpoilingProxy("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked = f"{self.command} {self.path}"
            fault = next((each for each in faults if re.search(each.request, asked)), None)
            sent = {name: value for name, value in self.headers.items() if name != "Host"}
            headers: dict[str, str] = {}
            reply = Reply(204, b"")
            if fault is None or fault.is_forwarded:
                answer = pool.request(
                    self.command, server + self.path, body=body, headers=sent, redirect=False
                )
                headers, reply = dict(answer.headers), Reply(answer.status, answer.data)
            if fault is not None:
                proxy.spoiled.add(fault.name)
                reply = fault.spoil(reply)
            self.send_response(reply.status)
            for name, value in headers.items():
                if name.lower() not in _OWN_HEADERS:
                    self.send_header(name, value)
            length = headers.get("content-length") if self.command == "HEAD" else None
            self.send_header("Content-Length", length or str(len(reply.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_PATCH = forward  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        proxy.endpoint = f"http://127.0.0.1:{http.server_address[1]}"
        thread = threading.Thread(target=http.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield proxy
        finally:
            http.shutdown()
            thread.join()
