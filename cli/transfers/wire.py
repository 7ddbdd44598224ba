"""Requests of transfers: a connection for each thread and host that stays open, and back-off.

A transfer sends thousands of small requests, so this is thinner than urllib3, which takes twice the
processor time of http.client for each.
"""

import http.client
import random
import socket
import ssl
import threading
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar
from urllib.parse import unquote, urljoin, urlsplit

from cli.configuration import RetryPolicy
from cli.errors import CommandError
from cli.transport import proxy_of

T = TypeVar("T")

Block = bytes | memoryview
Body = bytes | Callable[[], Iterable[Block]] | None

CONNECT_S = 10.0
ANSWER_S = 60.0

# Statuses that say "later". All requests of transfers may be repeated: they store the same bytes.
LATER = frozenset({429, 500, 502, 503, 504})

# A connection, and the last answer that came by it.
_Kept = tuple[http.client.HTTPConnection, http.client.HTTPResponse]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_REDIRECTS_MAX = 5

# Object stores slow clients down for longer than an API does.
_MORE_ATTEMPTS = 4


class BrokenError(Exception):
    """The connection failed, or the body was cut off: send the request again."""


class LaterError(Exception):
    """The server is too busy: send the request again later."""

    def __init__(self, text: str, wait_s: float | None) -> None:
        super().__init__(text)
        self.wait_s = wait_s


class StoppedError(Exception):
    """The command is being interrupted."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer."""

    status: int
    headers: http.client.HTTPMessage
    content: bytes

    @property
    def etag(self) -> str:
        """The entity tag without its quotes."""
        return (self.headers.get("ETag") or "").strip('" ')


class Wire:
    """Sends requests; each thread has its own connections."""

    def __init__(self, retries: RetryPolicy) -> None:
        self._retries = retries
        self._local = threading.local()
        self._stopping = threading.Event()
        self._opened: set[http.client.HTTPConnection] = set()

    def close(self) -> None:
        """Close the connections that no thread uses any more; they open again when needed."""
        for connection in list(self._opened):
            connection.close()

    def stop(self) -> None:
        """Make all threads raise StoppedError where they wait, also for the network."""
        self._stopping.set()
        for connection in list(self._opened):
            # Another thread waits for it: to shut it down wakes that up, to close it does not.
            if connection.sock is not None:
                with suppress(OSError):
                    socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)

    def check(self) -> None:
        """Raise StoppedError if the command is being interrupted."""
        if self._stopping.is_set():
            raise StoppedError

    def patiently(self, attempt: Callable[[], T]) -> T:
        """Return the result of an attempt, which is repeated after growing waits.

        Raises:
            CommandError: the last attempt failed as well.
            StoppedError: the command was interrupted.
        """
        wait_s = self._retries.wait_min_s
        attempts = self._retries.attempts_max and self._retries.attempts_max + _MORE_ATTEMPTS
        for left in range(attempts, -1, -1):
            self.check()
            asked_s = None
            try:
                return attempt()
            except BrokenError as error:
                if not left:
                    raise CommandError(str(error)) from error
            except LaterError as error:
                if not left:
                    raise CommandError(str(error)) from error
                asked_s = error.wait_s
            # Varied, so that threads and clients spread.
            varied_s = wait_s * random.uniform(0.5, 1)  # noqa: S311
            self._stopping.wait(asked_s if asked_s is not None else varied_s)
            wait_s = min(wait_s * 2, self._retries.wait_max_s)
        raise AssertionError("the last attempt returns or raises")

    def ask(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: Body = None
    ) -> Reply:
        """Return the whole answer of a request; raises as `patiently`.

        Args:
            method: the HTTP method.
            url: the whole URL.
            headers: the headers, with Content-Length if the body is not bytes.
            body: bytes, or a function that yields them from the beginning.
        """
        return self.patiently(lambda: self.once(method, url, headers, body))

    def once(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: Body = None
    ) -> Reply:
        """Return the whole answer of one attempt.

        Raises:
            BrokenError: the connection failed.
            LaterError: the server asked for a pause.
        """
        answer = self.open(method, url, headers, body)
        return Reply(answer.status, answer.headers, read_all(answer))

    def open(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: Body = None
    ) -> http.client.HTTPResponse:
        """Return an answer whose content is still to be read, after redirects; as `once`."""
        sent = dict(headers or {})
        for _ in range(_REDIRECTS_MAX):
            self.check()
            answer = self._sent(method, url, sent, body)
            if answer.status in LATER:
                text = read_all(answer).decode(errors="replace")
                raise LaterError(_shortened(answer, url, text), _retry_after_s(answer))
            if answer.status not in _REDIRECTS or "Location" not in answer.headers:
                return answer
            read_all(answer)
            target = urljoin(url, answer.headers["Location"])
            if urlsplit(target)[:2] != urlsplit(url)[:2]:
                # Not for the object store, nor for the same host without TLS.
                sent.pop("Authorization", None)
            url = target
        raise CommandError(f"{_host(url)} redirects again and again")

    def _sent(
        self, method: str, url: str, headers: Mapping[str, str], body: Body
    ) -> http.client.HTTPResponse:
        parts = urlsplit(url)
        place = (parts.scheme, parts.netloc)
        kept = self._connections
        connection, before = kept.pop(place, (None, None))
        if connection is not None and before is not None and not _is_read(before):
            self._drop(connection)  # the rest of that content would be taken for an answer
            connection = None
        was_open = connection is not None
        if connection is None:
            connection = self._connected(*place)
            self._opened.add(connection)
        target = url if self._is_proxied(connection, place) else _target(parts.path, parts.query)
        try:
            if connection.sock is None:
                _connect(connection)
                self.check()  # `stop` did not see the socket
            answer = _exchange(connection, method, target, headers, body)
        except (OSError, http.client.HTTPException) as error:
            self._drop(connection)
            self.check()
            if was_open:  # the server may close an idle connection: that is no failure
                return self._sent(method, url, headers, body)
            raise BrokenError(f"cannot reach {parts.netloc}: {_reason(error)}") from error
        except BaseException:
            self._drop(connection)  # the body could not be read: half of it may have been sent
            raise
        kept[place] = connection, answer
        return answer

    def _drop(self, connection: http.client.HTTPConnection) -> None:
        connection.close()
        self._opened.discard(connection)

    @property
    def _connections(self) -> dict[tuple[str, str], _Kept]:
        try:
            return self._local.connections  # type: ignore[no-any-return]
        except AttributeError:
            self._local.connections = {}
            return self._connections

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return ssl.create_default_context()

    def _connected(self, scheme: str, netloc: str) -> http.client.HTTPConnection:
        """Return a connection to the host, or to the proxy that the environment names for it."""
        host = urlsplit(f"//{netloc}").hostname or ""
        proxy = proxy_of(f"{scheme}://{netloc}")
        if not proxy:
            return self._plain(scheme, netloc)
        through = urlsplit(proxy)
        headers = {}
        if through.username:
            pair = f"{unquote(through.username)}:{unquote(through.password or '')}"
            headers["Proxy-Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        address = through.netloc.rpartition("@")[2]
        if scheme == "https":
            # http.client would take 443, which is that of the server.
            connection = self._plain("https", address if through.port else f"{address}:80")
            port = urlsplit(f"//{netloc}").port or 443
            connection.set_tunnel(host, port, headers)
            return connection
        connection = self._plain("http", address)
        connection.extra_headers = headers  # type: ignore[attr-defined]
        return connection

    def _plain(self, scheme: str, netloc: str) -> http.client.HTTPConnection:
        if scheme == "https":
            return http.client.HTTPSConnection(netloc, timeout=ANSWER_S, context=self._tls)
        return http.client.HTTPConnection(netloc, timeout=ANSWER_S)

    @staticmethod
    def _is_proxied(connection: http.client.HTTPConnection, place: tuple[str, str]) -> bool:
        """Whether the proxy needs the whole URL, as one of plain HTTP does."""
        return place[0] == "http" and hasattr(connection, "extra_headers")


def read_all(answer: http.client.HTTPResponse) -> bytes:
    """Return the rest of an answer.

    Raises:
        BrokenError: it was cut off.
    """
    try:
        return answer.read()
    except (OSError, http.client.HTTPException) as error:
        answer.close()
        raise BrokenError(f"the answer was cut off: {_reason(error)}") from error


def read_into(answer: http.client.HTTPResponse, buffer: memoryview) -> int:
    """Read as much as arrives into the buffer; return how much, 0 at the end.

    Raises:
        BrokenError: the connection failed.
    """
    try:
        return answer.readinto(buffer)
    except (OSError, http.client.HTTPException) as error:
        answer.close()
        raise BrokenError(f"the answer was cut off: {_reason(error)}") from error


def _is_read(answer: http.client.HTTPResponse) -> bool:
    """Whether nothing of an answer is on its way any more."""
    if answer.chunked:
        return answer.chunk_left is None
    return not answer.length


def _connect(connection: http.client.HTTPConnection) -> None:
    connection.timeout = CONNECT_S
    connection.connect()
    assert connection.sock is not None
    connection.sock.settimeout(ANSWER_S)


def _exchange(
    connection: http.client.HTTPConnection,
    method: str,
    target: str,
    headers: Mapping[str, str],
    body: Body,
) -> http.client.HTTPResponse:
    connection.putrequest(method, target, skip_accept_encoding=True)
    for name, value in getattr(connection, "extra_headers", {}).items():
        connection.putheader(name, value)
    for name, value in headers.items():
        connection.putheader(name, value)
    if isinstance(body, bytes):
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        return connection.getresponse()
    connection.endheaders()
    if body is not None:
        try:
            for block in body():
                connection.send(block)
        except (BrokenPipeError, ConnectionResetError):
            # A server that refuses a body closes the connection, often after an answer.
            return connection.getresponse()
    return connection.getresponse()


def _target(path: str, query: str) -> str:
    return f"{path or '/'}?{query}" if query else path or "/"


def _host(url: str) -> str:
    return urlsplit(url).netloc


def _shortened(answer: http.client.HTTPResponse, url: str, text: str) -> str:
    line = " ".join(text.split())[:200]
    return f"{_host(url)} answered {answer.status} {answer.reason}: {line}".rstrip(": ")


def _retry_after_s(answer: http.client.HTTPResponse) -> float | None:
    text = answer.headers.get("Retry-After", "")
    return float(text) if text.isdecimal() and len(text) < 4 else None


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error) or type(error).__name__
