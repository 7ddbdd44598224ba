"""HTTP over kept connections, through the proxies of the environment, with redirects.

Proxies are lakectl's: HTTPS_PROXY or HTTP_PROXY, by the URL's scheme. NO_PROXY names hosts without
a proxy, and this machine never has one. Certificates are the system's; SSL_CERT_FILE and
SSL_CERT_DIR name others.
"""

import os
import socket
import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from http.client import BadStatusLine, IncompleteRead
from random import uniform
from threading import Event, local
from urllib.parse import unquote, urljoin, urlsplit

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

from graveler_cli.configuration import RequestRetries

Block = bytes | memoryview
# A function yields the body from the beginning, each time that it is sent.
Body = bytes | Callable[[], Iterable[Block]] | None

# To connect, and to wait for an answer or a block; API Gateway's timeout is 30 s.
CONNECT_S = 10.0
ANSWER_S = 60.0

# Statuses after which a later request may succeed.
LATER = frozenset({429, 500, 502, 503, 504})

# A request that takes long is redirected three times; an object's bytes once, to a presigned URL.
_REDIRECTS_MAX = 5

# Headers that only the server may get.
_CREDENTIALS = {"authorization", "cookie"}
_OF_THE_BODY = {"content-type", "content-length", "content-md5"}

_PROXIES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class CommandStoppedError(Exception):
    """The command is being interrupted."""


class RedirectTargetError(urllib3.exceptions.HTTPError):
    """A redirected request failed; the request before the redirect may have had its effect."""

    def __init__(self, url: str, cause: urllib3.exceptions.HTTPError) -> None:
        super().__init__(str(cause))
        self.url = url
        self.cause = cause


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """A whole answer."""

    status: int
    reason: str
    headers: Mapping[str, str]
    content: bytes

    @classmethod
    def of(cls, response: urllib3.BaseHTTPResponse) -> "WholeAnswer":
        """Read the rest of an answer.

        Raises:
            HTTPError: it was cut off.
        """
        return cls(response.status, response.reason or "", response.headers, response.read())

    @property
    def etag(self) -> str:
        """The entity tag without its quotes."""
        return self.headers.get("ETag", "").strip('" ')


class KeptConnections:
    """Sends requests to any host over connections that stay open; shared by threads."""

    def __init__(self, amount: int = 16, *, sends_again: bool = False) -> None:
        """Prepare connections.

        Args:
            amount: the idle connections to keep for each host, at most.
            sends_again: whether all requests may be repeated. If so, a request that fails on a kept
                connection is sent again: the server may close an idle one at any time.
        """
        self._amount = amount
        self._sends_again = sends_again
        # Of this thread's request: the URL for a proxy, and whether its connection is a kept one.
        self._request = local()
        # By scheme and host: the connections, and whether a proxy needs the whole URL.
        self._pools: dict[tuple[str, str], tuple[urllib3.HTTPConnectionPool, bool]] = {}
        self._opened: set[HTTPConnection] = set()
        self._stopping = Event()

    def open(
        self, method: str, url: str, body: Body = None, headers: Mapping[str, str] | None = None
    ) -> urllib3.BaseHTTPResponse:
        """Return the answer at the end of all redirects; its content is still to be read.

        Raises:
            HTTPError: the host, or its proxy, could not be reached, or redirects without end.
            CommandStoppedError: the command is being interrupted.
        """
        first = url
        sent = headers or {}
        for _ in range(_REDIRECTS_MAX + 1):
            try:
                response = self.send(method, url, body, sent)
            except urllib3.exceptions.HTTPError as error:
                if url is first:
                    raise
                raise RedirectTargetError(url, error) from error
            location = response.get_redirect_location()
            if not location:
                return response
            response.drain_conn()
            response.release_conn()
            try:
                target = urljoin(url, location)
                is_elsewhere = _origin(target) != _origin(url)
            except ValueError:
                raise urllib3.exceptions.ResponseError(f"a redirect to {location!r}") from None
            # As browsers and Go do: the result is read at the target.
            if response.status == 303 or (response.status in {301, 302} and method == "POST"):
                method, body = ("HEAD" if method == "HEAD" else "GET"), None
                sent = _without(sent, _OF_THE_BODY)
            if is_elsewhere:
                sent = _without(sent, _CREDENTIALS)
            url = target
        raise urllib3.exceptions.ResponseError(f"more than {_REDIRECTS_MAX} redirects")

    def send(
        self, method: str, url: str, body: Body, headers: Mapping[str, str]
    ) -> urllib3.BaseHTTPResponse:
        """Return the answer to one request, which may be a redirect; raises as `open`."""
        self.check()
        try:
            parts = urlsplit(url)
        except ValueError as error:
            raise urllib3.exceptions.LocationParseError(url) from error
        origin = parts.scheme, parts.netloc
        pool, is_absolute = self._pools.get(origin) or self._pools.setdefault(
            origin, self._pool_for(url)
        )
        target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        self._request.whole_url = url if is_absolute else ""
        while True:
            self._request.is_kept = False
            try:
                response = pool.urlopen(
                    method,
                    url if is_absolute else target,
                    body=body() if callable(body) else body,  # type: ignore[arg-type] # memoryviews too
                    headers=dict(headers),
                    redirect=False,
                    assert_same_host=False,
                    preload_content=False,
                )
                break
            except urllib3.exceptions.HTTPError:
                self.check()
                if not (self._sends_again and self._request.is_kept):
                    raise
        response.url = url
        return response

    def stop(self) -> None:
        """Make all threads raise CommandStoppedError where they wait, also for the network."""
        self._stopping.set()
        for connection in list(self._opened):
            # A shutdown wakes the thread that waits for the socket; a close does not.
            if connection.sock is not None:
                with suppress(OSError):
                    socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)

    def check(self) -> None:
        """Raise CommandStoppedError if the command is being interrupted."""
        if self._stopping.is_set():
            raise CommandStoppedError

    def pause(self, wait_s: float) -> None:
        """Wait, or raise CommandStoppedError as soon as the command is interrupted."""
        self._stopping.wait(wait_s)
        self.check()

    def close(self) -> None:
        """Close the idle connections; later requests open others."""
        pools, self._pools = self._pools, {}
        for pool, _ in pools.values():
            pool.close()

    def _pool_for(self, url: str) -> tuple[urllib3.HTTPConnectionPool, bool]:
        """Return connections to the URL's host, and whether a proxy needs the whole URL."""
        is_tls = url[:6].lower() == "https:"
        settings: dict[str, object] = {
            "maxsize": self._amount,
            "timeout": urllib3.Timeout(connect=CONNECT_S, read=ANSWER_S),
            "retries": False,  # each attempt is the caller's to repeat
        }
        if is_tls:
            settings["ssl_context"] = self._tls
        proxy = proxy_of(url)
        pool = _manager(proxy, settings).connection_from_url(url)
        kind = _TlsConnection if pool.scheme == "https" else _Connection
        pool.ConnectionCls = partial(kind, self)  # type: ignore[assignment]
        return pool, bool(proxy) and not is_tls

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        # Shared, because each context reads the system's certificates.
        return ssl.create_default_context()


class _Connection(HTTPConnection):
    """A connection that can be interrupted, with a longer timeout for bodies."""

    def __init__(self, owner: KeptConnections, *args: object, **settings: object) -> None:
        super().__init__(*args, **settings)  # type: ignore[arg-type]
        self._owner = owner
        self._has_answered = False

    def connect(self) -> None:
        self._has_answered = False
        self._owner._opened.add(self)  # noqa: SLF001 - of the same module
        super().connect()
        self._owner.check()  # `stop` may have missed the socket

    def putrequest(self, method: str, url: str, *args: object, **more: object) -> None:
        # urllib3 resolves `..` in a whole URL, but keys of objects may have it.
        whole_url = self._owner._request.whole_url  # noqa: SLF001
        super().putrequest(method, whole_url or url, *args, **more)  # type: ignore[arg-type]

    def endheaders(self, *args: object, **more: object) -> None:
        is_open = self.sock is not None
        self._owner._request.is_kept = is_open and self._has_answered  # noqa: SLF001
        super().endheaders(*args, **more)  # type: ignore[arg-type]
        # urllib3 sends a body with the timeout of connecting.
        self.sock.settimeout(ANSWER_S)

    def getresponse(self) -> urllib3.HTTPResponse:  # type: ignore[override] # as in urllib3
        response = super().getresponse()
        self._has_answered = True
        return response

    def close(self) -> None:
        super().close()
        self._owner._opened.discard(self)  # noqa: SLF001 - of the same module


class _TlsConnection(_Connection, HTTPSConnection):
    """`_Connection` over TLS."""


def waits_s(retries: RequestRetries, attempts_max: int) -> Iterator[float | None]:
    """Yield the wait after each attempt, which doubles and varies; None after the last."""
    wait_s = retries.wait_min_s
    for _ in range(attempts_max):
        yield wait_s * uniform(0.5, 1)  # noqa: S311 - so that threads and clients spread
        wait_s = min(wait_s * 2, retries.wait_max_s)
    yield None


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the wait that an answer asks for; None if it asks for none, or a long one."""
    text = headers.get("Retry-After", "")
    return float(text) if text.isdecimal() and len(text) < 4 else None


def reason_of(error: BaseException) -> str:
    """Return the operating system's message among the error's causes, else the innermost one's."""
    found: BaseException | None = error
    while found is not None:
        error = found
        if isinstance(error, OSError) and error.strerror:
            return error.strerror.lower()
        if type(error) is BadStatusLine:
            return f"the answer is not HTTP: {str(error).strip()[:60]!r}"
        if isinstance(error, IncompleteRead):  # its cause is an error of the parser
            break
        found = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return str(error) or type(error).__name__


def proxy_of(url: str) -> str:
    """Return the URL of the proxy for a URL, or "" for none."""
    if not any(os.environ.get(name) for name in _PROXIES):
        return ""
    # Imported late, because most users have no proxy.
    from urllib import request  # noqa: PLC0415

    parts = urlsplit(url)
    host = parts.hostname or ""
    if host == "localhost" or host.startswith("127.") or host == "::1":
        return ""
    proxy = request.getproxies().get(parts.scheme, "")
    if not proxy or request.proxy_bypass(parts.netloc.rpartition("@")[2]):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def _manager(proxy: str, settings: Mapping[str, object]) -> urllib3.PoolManager:
    """Return connections through a proxy, or without one if it is ""."""
    if not proxy:
        return urllib3.PoolManager(**settings)  # type: ignore[arg-type]
    parts = urlsplit(proxy)
    user = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    headers = urllib3.make_headers(proxy_basic_auth=user) if parts.username else {}
    host = parts.netloc.rpartition("@")[2]
    return urllib3.ProxyManager(
        f"{parts.scheme}://{host}",
        proxy_headers=headers,
        **settings,  # type: ignore[arg-type]
    )


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)


def _without(headers: Mapping[str, str], names: set[str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in names}
