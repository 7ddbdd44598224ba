"""Requests to web servers that users name: `graveler.ports.HttpClient` over plain sockets.

A user's URL must not reach the deployment's network, whose servers trust their neighbours. So the
name is resolved once, every address is checked, and the connection goes to a checked address. A
name that resolves to another address a moment later gains nothing. TLS still checks the name.
Redirects are not followed, and proxies of the environment are not used. A request ends at its
deadline; only the name's resolution is not bounded.
"""

import http.client
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from urllib.parse import SplitResult, quote, urlsplit

from graveler.aws import deadlines
from graveler.errors import HookFailedError
from graveler.limits import HOOK_ANSWER_BYTES_MAX
from graveler.ports import HttpAnswer, HttpRequest

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Finds the addresses of a name and a port, as socket.getaddrinfo.
Resolve = Callable[[str, int], Sequence[str]]

_PORTS = {"http": 80, "https": 443}

# IPv6 addresses that stand for the IPv4 address in their last four bytes. Other networks have
# prefixes of their own for NAT64 (64:ff9b:1::/48), which keep it elsewhere, and are not public.
_NAT64 = IPv6Network("64:ff9b::/96")
# All networks that are assigned for the Internet. Python also calls fec0::/10 global.
_IPV6_PUBLIC = IPv6Network("2000::/3")
_IPV4_COMPATIBLE = IPv6Network("::/96")

_HEADERS_BYTES_MAX = 8 * 1024

_OWN_HEADERS = {"host", "connection", "content-length", "transfer-encoding"}
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")

# Characters of a URL's path that need no escape; escapes of the user's stay.
_IN_PATHS = "/%:@!$&'()*+,;=~-._"


def networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Return the networks that the texts name, such as `10.0.0.0/8`.

    Raises:
        ValueError: a text is not a network.
    """
    return tuple(ip_network(text) for text in texts)


def is_public(address: Address) -> bool:
    """Whether the address is public, and so is the IPv4 address that it may stand for."""
    inner = _inner(address)
    if inner is not None:
        return is_public(inner)
    if isinstance(address, IPv6Address):
        return address in _IPV6_PUBLIC and address.is_global
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_unspecified
    )


def _inner(address: Address) -> Address | None:
    if isinstance(address, IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _IPV4_COMPATIBLE or address in _NAT64:
        return IPv4Address(int(address) % 2**32)
    return None


def _resolve(host: str, port: int) -> Sequence[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


class OutgoingHttp:
    """Sends requests to public addresses, and to private ones in the allowed networks."""

    def __init__(self, allowed: Sequence[Network] = (), resolve: Resolve = _resolve) -> None:
        self._allowed = allowed
        self._resolve = resolve

    def send(self, request: HttpRequest, timeout_s: float) -> HttpAnswer:
        """Return the answer; see `graveler.ports.HttpClient`."""
        timeout_s = min(timeout_s, deadlines.left_s())
        until_s = time.monotonic() + timeout_s
        parts, host, port = _parsed(request.url)
        addresses = self._checked(host, port)
        try:
            return _exchange(request, parts, host, port, addresses, until_s)
        except TimeoutError as error:
            raise _too_slow(timeout_s) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            if time.monotonic() >= until_s:
                raise _too_slow(timeout_s) from error
            # The text of some errors holds the request: its class is enough.
            reason = error.strerror if isinstance(error, OSError) else ""
            raise HookFailedError(
                f"no answer from {host!r}: {reason or type(error).__name__}"
            ) from error

    def _checked(self, host: str, port: int) -> Sequence[str]:
        """Return the addresses of the host, all of which are allowed.

        Raises:
            HookFailedError: the host has no address, or one that is not allowed.
        """
        try:
            addresses = self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise HookFailedError(f"host {host!r} has no address") from error
        for text in addresses:
            address = ip_address(text)
            if not (is_public(address) or self._is_allowed(address)):
                raise HookFailedError(
                    f"host {host!r} has the address {address}, which is not public: the setting "
                    "hook_networks does not allow it"
                )
        return addresses

    def _is_allowed(self, address: Address) -> bool:
        inner = _inner(address)
        return any(
            each.version == network.version and each in network
            for network in self._allowed
            for each in (address, inner)
            if each is not None
        )


def _too_slow(timeout_s: float) -> HookFailedError:
    return HookFailedError(f"no answer in {timeout_s:g} s: context deadline exceeded")


def _parsed(url: str) -> tuple[SplitResult, str, int]:
    """Return the URL's parts, its host and its port.

    Raises:
        HookFailedError: the URL is malformed or not allowed.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise HookFailedError("the hook's url is malformed") from error
    if parts.scheme not in _PORTS or not host:
        raise HookFailedError("the hook's url must begin with http:// or https:// and name a host")
    if "@" in parts.netloc:
        raise HookFailedError("the hook's url must not hold a user: set a header instead")
    if not host.isprintable() or any(each in host for each in " \t%/\\"):
        raise HookFailedError("the hook's url names no valid host")
    return parts, host, _PORTS[parts.scheme] if port is None else port


def _exchange(
    request: HttpRequest,
    parts: SplitResult,
    host: str,
    port: int,
    addresses: Sequence[str],
    until_s: float,
) -> HttpAnswer:
    connected = _connected(addresses, port, until_s)
    watch = _Watch(connected, until_s)
    try:
        if parts.scheme == "https":
            connected = _tls().wrap_socket(
                connected, server_hostname=host, do_handshake_on_connect=False
            )
            watch.connected = connected
            connected.do_handshake()
        connection = http.client.HTTPConnection(host, port)
        connection.sock = connected
        target = quote(parts.path or "/", safe=_IN_PATHS)
        if parts.query:
            target += "?" + quote(parts.query, safe=f"{_IN_PATHS}?[]")
        connection.request(request.method, target, request.body, _headers(request, parts))
        answer = connection.getresponse()
        body = answer.read(HOOK_ANSWER_BYTES_MAX)
        if watch.has_cut:
            raise TimeoutError  # a truncated answer may look like a whole one
        return HttpAnswer(answer.status, answer.reason, _cut_headers(answer), body)
    finally:
        watch.end()
        connected.close()


class _Watch:
    """Ends a connection at a time, which a server cannot extend by a byte now and then."""

    def __init__(self, connected: socket.socket, until_s: float) -> None:
        self.connected = connected
        self.has_cut = False
        self._timer = threading.Timer(max(0.0, until_s - time.monotonic()), self._cut)
        self._timer.daemon = True
        self._timer.start()

    def _cut(self) -> None:
        self.has_cut = True
        with suppress(OSError):
            # Not the TLS socket's own method: another thread reads from that socket.
            socket.socket.shutdown(self.connected, socket.SHUT_RDWR)

    def end(self) -> None:
        self._timer.cancel()


def _headers(request: HttpRequest, parts: SplitResult) -> dict[str, bytes]:
    kept: dict[str, bytes] = {}
    for name, value in request.headers:
        if not _HEADER_NAME.fullmatch(name):
            raise HookFailedError(f"invalid header field name {name!r}")
        if _CONTROL.search(value):  # the value may hold a secret
            raise HookFailedError(f"invalid header field value for {name!r}")
        if name.lower() not in _OWN_HEADERS:
            kept[name] = value.encode()
    if not any(name.lower() == "user-agent" for name in kept):
        kept["User-Agent"] = b"graveler-hooks"
    # A server that keeps the connection open gains nothing.
    return {**kept, "Host": parts.netloc.encode(), "Connection": b"close"}


def _cut_headers(answer: http.client.HTTPResponse) -> list[tuple[str, str]]:
    kept, left = [], _HEADERS_BYTES_MAX
    for name, value in answer.getheaders():
        left -= len(name) + len(value)
        if left < 0:
            break
        kept.append((name, value))
    return kept


def _connected(addresses: Sequence[str], port: int, until_s: float) -> socket.socket:
    """Return a connection to the first address that answers."""
    failure: OSError = OSError("it has no address")
    for address in addresses:
        left_s = until_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        try:
            return socket.create_connection((address, port), left_s)
        except OSError as error:
            failure = error
    raise failure


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()
