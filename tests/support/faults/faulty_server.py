"""A server on loopback that answers some requests too late, never, or in an endless trickle."""

import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from http.client import HTTPConnection
from io import BufferedIOBase
from urllib.parse import urlsplit


class Fault(StrEnum):
    """What happens to a request."""

    IGNORED = "no effect, and no answer"
    SILENT = "an effect, and no answer"
    TRICKLING_HEAD = "an effect, and headers that never end, byte by byte"
    TRICKLING_BODY = "an effect, and a body that never ends, byte by byte"
    LATE = "an effect, and an answer when the client has sent the request again"
    CUT = "an effect, and half an answer"


# Shorter than any time-out: to a client that waits for each byte, the server seems to work.
_TRICKLE_S = 0.01


@dataclass(frozen=True)
class Arrived:
    """A request, as it was sent."""

    head: bytes
    body: bytes

    @property
    def operation(self) -> str:
        """The operation of DynamoDB, else the method."""
        found = re.search(rb"x-amz-target: \w+\.(\w+)", self.head, re.IGNORECASE)
        return (found[1] if found else self.head.split(b" ", 1)[0]).decode()


class FaultyServer:
    """Accepts connections, and answers each request unless it has a fault for it."""

    def __init__(self, answer: Callable[[Arrived], bytes]) -> None:
        self.arrived: list[Arrived] = []
        self.connections = 0
        self._newest = 0  # of the connections, the last one with a request
        self._answer = answer
        self._faults: dict[str, list[Fault]] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def fail(self, operation: str, fault: Fault, times: int = 1) -> None:
        """Let the next requests of the operation, "" for any, have the fault."""
        with self._lock:
            self._faults.setdefault(operation, []).extend([fault] * times)

    def recover(self) -> None:
        """Answer all requests from now on."""
        with self._lock:
            self._faults.clear()

    def operations(self) -> list[str]:
        """Return the operations that have arrived."""
        return [each.operation for each in self.arrived]

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            arguments = (connection, self.connections)
            threading.Thread(target=self._serve, args=arguments, daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        with suppress(OSError), connection, connection.makefile("rb") as reader:
            while head := _head(reader):
                length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
                arrived = Arrived(head, reader.read(int(length[1]) if length else 0))
                with self._lock:
                    self.arrived.append(arrived)
                    self._newest = max(self._newest, number)
                    fault = self._next_fault(arrived.operation)
                if fault is None:
                    connection.sendall(self._answer(arrived))
                else:
                    self._fail(connection, number, arrived, fault)
                    return

    def _next_fault(self, operation: str) -> Fault | None:
        faults = self._faults.get(operation) or self._faults.get("")
        return faults.pop(0) if faults else None

    def _fail(self, connection: socket.socket, number: int, arrived: Arrived, fault: Fault) -> None:
        answer = b"" if fault is Fault.IGNORED else self._answer(arrived)
        if fault is Fault.CUT:
            connection.sendall(answer[: len(answer) // 2])
            return
        if fault is Fault.LATE:
            # On a busy machine, an earlier request may arrive after this one.
            while self._newest == number and not self._closing.wait(_TRICKLE_S):
                pass
            connection.sendall(answer)
        if fault in (Fault.TRICKLING_HEAD, Fault.TRICKLING_BODY):
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            if fault is Fault.TRICKLING_BODY:
                connection.sendall(b"Content-Length: 1000000\r\n\r\n")
            while not self._closing.wait(_TRICKLE_S):
                connection.sendall(b"a")
        self._closing.wait()

    def close(self) -> None:
        self._closing.set()
        # shutdown wakes the thread that accepts; close alone does not.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


def _head(reader: BufferedIOBase) -> bytes:
    """Return the lines of a request before its body; none if the connection has ended."""
    lines = []
    while (line := reader.readline()) not in {b"\r\n", b""}:
        lines.append(line)
    return b"".join(lines)


def answering(body: bytes) -> Callable[[Arrived], bytes]:
    """Answer every request with the body."""
    whole = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    return lambda _: whole


def passing_on(endpoint: str) -> Callable[[Arrived], bytes]:
    """Answer every request as the server at the endpoint does."""
    host = urlsplit(endpoint).netloc

    def answer(arrived: Arrived) -> bytes:
        method, target, _ = arrived.head.split(b"\r\n", 1)[0].decode().split(" ")
        lines = [line.decode("latin-1") for line in arrived.head.split(b"\r\n")[1:] if line]
        headers = dict(line.split(": ", 1) for line in lines)
        connection = HTTPConnection(host)
        try:
            connection.request(method, target, arrived.body, headers)
            came = connection.getresponse()
            body = came.read()
        finally:
            connection.close()
        kept = {"content-length", "transfer-encoding", "connection"}
        named = [(name, value) for name, value in came.getheaders() if name.lower() not in kept]
        # An answer to HEAD has the length of the absent body.
        length = came.headers.get("content-length", str(len(body)))
        named.append(("Content-Length", length if method == "HEAD" else str(len(body))))
        head = "".join(f"{name}: {value}\r\n" for name, value in named)
        return f"HTTP/1.1 {came.status} {came.reason}\r\n{head}\r\n".encode("latin-1") + body

    return answer
