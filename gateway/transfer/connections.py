"""Connections to S3 that are kept open between requests.

Blocking sockets in threads move bytes with less CPU time than any event loop in Python (ADR 21).
Each request has a connection of its own while it is under way.
"""

import http.client
import select
import socket
import ssl
import threading
from collections import defaultdict
from functools import cache

from graveler.aws.s3.requests import SignedRequest

# More would hardly be used again before S3 closes them.
_IDLE_MAX = 64

_Host = tuple[str, str, int]  # scheme, host, port


class Connections:
    """A pool of connections to all hosts, shared by threads."""

    def __init__(self, *, timeout_s: float) -> None:
        """timeout_s bounds the wait for a connection, and for each read and write."""
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._idle: dict[_Host, list[http.client.HTTPConnection]] = defaultdict(list)

    def take(self, request: SignedRequest) -> http.client.HTTPConnection:
        """Return a connection to the request's host; an idle one if there is any."""
        host = _host_of(request)
        while True:
            with self._lock:
                idle = self._idle[host]
                connection = idle.pop() if idle else None
            if connection is None:
                return self._connected(host)
            if not _is_stale(connection):
                return connection
            connection.close()

    def keep(self, request: SignedRequest, connection: http.client.HTTPConnection) -> None:
        """Take the connection back, whose answer was read to its end."""
        with self._lock:
            idle = self._idle[_host_of(request)]
            if connection.sock is not None and len(idle) < _IDLE_MAX:
                idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close the connections that are not in use."""
        with self._lock:
            idle, self._idle = self._idle, defaultdict(list)
        for connection in (each for some in idle.values() for each in some):
            connection.close()

    def _connected(self, host: _Host) -> http.client.HTTPConnection:
        scheme, name, port = host
        connection: http.client.HTTPConnection
        if scheme == "https":
            connection = http.client.HTTPSConnection(
                name, port, timeout=self._timeout_s, context=_tls()
            )
        else:
            connection = http.client.HTTPConnection(name, port, timeout=self._timeout_s)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return connection


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _host_of(request: SignedRequest) -> _Host:
    return request.scheme, request.host, request.port


def _is_stale(connection: http.client.HTTPConnection) -> bool:
    """Whether S3 has closed the idle connection: only then is there anything to read."""
    if connection.sock is None:
        return True
    # Not select(): it fails for descriptors above 1,023.
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return bool(poll.poll(0))
