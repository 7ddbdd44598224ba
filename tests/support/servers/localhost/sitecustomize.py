"""Names below localhost are loopback (RFC 6761); Python asks a server of names for them."""

import socket
from typing import Any

_resolve = socket.getaddrinfo


def _resolve_below_localhost(host: Any, *more: Any, **named: Any) -> Any:
    name = host.decode() if isinstance(host, bytes) else host
    is_below = isinstance(name, str) and name.endswith(".localhost")
    return _resolve("127.0.0.1" if is_below else host, *more, **named)


socket.getaddrinfo = _resolve_below_localhost
