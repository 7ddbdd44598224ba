"""A TCP proxy for HTTP/1.1 that loses, cuts and delays answers, and delays and refuses requests.

It does not parse HTTP. A request begins with bytes of the client after bytes of the server; clients
of the stores send no request before the answer to the last one.
"""

import contextlib
import itertools
import random
import select
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Mapping

from graveler_embedded.tcp_ports import HOST

_CHUNK_BYTES = 256 * 1024
# A stopped server may take this long to answer a request whose client has gone.
_ORPHAN_S = 60.0
# The rest of a request arrives within this time.
_REST_S = 0.03

# Faults of a request:
# - refuse: it is reset, and does not arrive
# - late, twice: it arrives late; with "twice" it is reset before, so that the client sends another
# - lose, stall, cut: the answer is lost, at once or later, or its second half is lost
# - delay, hang: the answer is late; with "hang" perhaps after the client's timeout
FAULTS = ("refuse", "late", "twice", "lose", "stall", "cut", "delay", "hang")


class Proxy:
    """Listens on its own port, and forwards all traffic to the target, except for faults."""

    def __init__(self, name: str, port: int, target: int, seed: str) -> None:
        self.name, self.port = name, port
        self._target = target
        self._chance = random.Random(seed)
        self._rates: Mapping[str, float] = {}
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._pending: set[int] = set()
        self.requests = 0
        self.injected: Counter[str] = Counter()
        self._listener = socket.create_server((HOST, port), backlog=256)
        threading.Thread(target=self._accept, daemon=True).start()

    def set_faults(self, **rates: float) -> None:
        """Set the probability of each fault for later requests."""
        self._rates = rates

    def pending(self) -> set[int]:
        """Return the requests that were sent and whose answers have not begun."""
        with self._lock:
            return set(self._pending)

    def begin(self) -> tuple[int, str, float]:
        """Return number and fault of a new request, and the fault's duration."""
        with self._lock:
            number = next(self._numbers)
            self.requests += 1
            self._pending.add(number)
            draw, fault = self._chance.random(), ""
            for name, rate in self._rates.items():
                draw -= rate
                if draw < 0:
                    fault = name
                    self.injected[fault] += 1
                    break
            short, long = self._chance.uniform(0.05, 3), self._chance.uniform(0.5, 14)
            return number, fault, long if fault in ("late", "hang") else short

    def end(self, number: int) -> None:
        with self._lock:
            self._pending.discard(number)

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection((HOST, self._target), timeout=10)
        except OSError:
            _reset(client)
            return
        for each in (client, server):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server.settimeout(None)
        link = _Link(self, client, server)
        with contextlib.suppress(OSError):
            link.run()
        link.close()


class _Link:
    """One connection of a client, and its connection to the server."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy, self._client, self._server = proxy, client, server
        self._number: int | None = None  # of the request that is not answered
        self._fault, self._takes_s = "", 0.0

    def run(self) -> None:
        both = (self._client, self._server)
        while True:
            readable, _, _ = select.select(both, (), ())
            goes_on = self._from_server() if self._server in readable else self._from_client()
            if not goes_on:
                return

    def close(self) -> None:
        if self._number is not None:
            self._proxy.end(self._number)
        for each in (self._client, self._server):
            with contextlib.suppress(OSError):
                each.close()

    def _from_client(self) -> bool:
        try:
            sent = self._client.recv(_CHUNK_BYTES)
        except OSError:
            sent = b""
        if not sent:
            return self._client_is_gone()
        if self._number is None:
            self._number, self._fault, self._takes_s = self._proxy.begin()
            if self._fault == "refuse":
                _reset(self._client)
                return False
            if self._fault == "late":
                time.sleep(self._takes_s)
            if self._fault == "twice":
                return self._send_behind(sent)
        self._server.sendall(sent)
        return True

    def _send_behind(self, sent: bytes) -> bool:
        """Send a request after its client has given up, and perhaps retried."""
        while select.select((self._client,), (), (), _REST_S)[0]:
            rest = self._client.recv(_CHUNK_BYTES)
            if not rest:
                break
            sent += rest
        _reset(self._client)
        time.sleep(self._takes_s)
        self._server.sendall(sent)
        return self._client_is_gone()

    def _client_is_gone(self) -> bool:
        """Wait for the server's answer to a request that was already forwarded."""
        if self._number is not None:
            self._server.settimeout(_ORPHAN_S)
            with contextlib.suppress(OSError):
                self._server.recv(_CHUNK_BYTES)
        return False

    def _from_server(self) -> bool:
        try:
            answer = self._server.recv(_CHUNK_BYTES)
        except OSError:
            answer = b""
        if not answer:
            _reset(self._client)  # as a server that was killed
            return False
        number, self._number = self._number, None
        if number is None:
            self._client.sendall(answer)
            return True
        self._proxy.end(number)
        if self._fault in ("lose", "stall", "cut"):
            if self._fault == "stall":
                time.sleep(self._takes_s)
            if self._fault == "cut":
                self._client.sendall(answer[: len(answer) // 2])
            _reset(self._client)
            return False
        if self._fault in ("delay", "hang"):
            time.sleep(self._takes_s)
        self._client.sendall(answer)
        return True


def _reset(connection: socket.socket) -> None:
    """Close a connection so that the other side sees a reset."""
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
