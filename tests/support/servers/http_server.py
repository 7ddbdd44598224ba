"""Our HTTP server in a thread of the test, and a client of it that sends any bytes."""

import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPMessage, HTTPResponse, IncompleteRead
from typing import Self

from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.server.http.connection import Limits
from graveler_gateway.server.http.exchange import Exchange
from graveler_gateway.server.http.server import Handler, HttpServer

# A hang fails the test.
_HANG_S = 20.0


class RunningServer:
    """A server that accepts connections itself."""

    def __init__(self, handler: Handler, limits: Limits | None = None) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port: int = self._listener.getsockname()[1]
        self.server = HttpServer(
            handler, lambda: self._listener.accept()[0], self._listener, limits or Limits()
        )
        self._thread = threading.Thread(target=self.server.run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop it; return when all requests have ended."""
        self.server.stop()
        self._thread.join(_HANG_S)
        assert not self._thread.is_alive(), "the server does not stop"
        self._listener.close()


@contextmanager
def running(handler: Handler, limits: Limits | None = None) -> Iterator[RunningServer]:
    """Serve with the handler until the context ends."""
    server = RunningServer(handler, limits)
    try:
        yield server
    finally:
        server.stop()


@dataclass(frozen=True)
class Answer:
    """An answer as a client sees it; is_whole: its content has the promised length."""

    status: int
    headers: HTTPMessage
    content: bytes
    is_whole: bool


class RawClient:
    """A connection that sends any bytes and reads answers."""

    def __init__(self, port: int, *, receive_buffer_bytes: int | None = None) -> None:
        self.socket = socket.socket()
        self.socket.settimeout(_HANG_S)
        if receive_buffer_bytes is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
        try:
            self.socket.connect(("127.0.0.1", port))
        except OSError:
            self.socket.close()
            raise
        self._file = self.socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, data: bytes) -> None:
        """Send the bytes."""
        self.socket.sendall(data)

    def answer(self, method: str = "GET") -> Answer:
        """Return the next answer to a request of the method."""
        response = HTTPResponse(_Kept(self._file), method=method)  # type: ignore[arg-type]
        response.begin()
        try:
            content, is_whole = response.read(), True
        except IncompleteRead as error:
            content, is_whole = error.partial, False
        return Answer(response.status, response.msg, content, is_whole)

    def ask(self, data: bytes, method: str = "GET") -> Answer:
        """Send the bytes, and return the next answer."""
        self.send(data)
        return self.answer(method)

    def is_ended(self) -> bool:
        """Wait for bytes or for the end of the connection; return whether it is the end."""
        try:
            return not self._file.peek(1)
        except ConnectionError:
            return True

    def line(self) -> bytes:
        """Return the next line that the server sends."""
        return self._file.readline()

    def end_sending(self) -> None:
        """Tell the server that nothing more will be sent."""
        self.socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """End the connection."""
        self._file.close()
        self.socket.close()


class _Kept:
    """What HTTPResponse takes for a socket; the file stays open for the next answer."""

    def __init__(self, file: object) -> None:
        self._file = file

    def makefile(self, _mode: str) -> object:
        return _Unclosed(self._file)


class _Unclosed:
    def __init__(self, file: object) -> None:
        self._file = file

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)

    def close(self) -> None:
        """Leave the file open."""


def head_bytes(head: RequestHead, more: Sequence[tuple[str, str]] = ()) -> bytes:
    """Return the head as a client sends it."""
    query = f"?{head.raw_query}" if head.raw_query else ""
    lines = [f"{head.method} {head.raw_path}{query} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in [*head.headers, *more]]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def read_whole(exchange: Exchange) -> bytes:
    """Return the whole body of a request."""
    pieces = []
    while piece := exchange.body.read():
        pieces.append(piece)
    return b"".join(pieces)


def until(is_so: Callable[[], object]) -> None:
    """Wait until is_so() is true.

    Raises:
        AssertionError: it does not become true.
    """
    give_up_s = time.monotonic() + _HANG_S
    while not is_so():
        assert time.monotonic() < give_up_s, "it does not become true"
        time.sleep(0.005)
