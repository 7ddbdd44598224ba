"""Sockets that are connected in time."""

import socket
import ssl
from collections.abc import Sequence
from functools import cache

from graveler.aws.exchanges.patience import Patience
from graveler.aws.retries import CONNECT_TIMEOUT_S


@cache
def tls() -> ssl.SSLContext:
    """Return the context that checks certificates and host names.

    There is one, because to make it reads all certificates of the system.
    """
    return ssl.create_default_context()


def connected(
    host: str,
    port: int,
    options: Sequence[tuple[int, int, int | bytes]] = (),
    limit_s: float = CONNECT_TIMEOUT_S,
) -> socket.socket:
    """Return a socket connected to the first address of the host that answers.

    Each address has limit_s, and all of them until the deadline.

    Raises:
        OSError: no address answers in time.
    """
    failure: OSError = OSError(f"{host} has no address")
    for family, kind, protocol, _, address in socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    ):
        try:
            made = socket.socket(family, kind, protocol)
        except OSError as error:  # the machine has no such network, such as IPv6
            failure = error
            continue
        try:
            for option in options:
                made.setsockopt(*option)
            made.settimeout(Patience(limit_s).left_s())
            made.connect(address)
        except OSError as error:
            made.close()
            failure = error
        else:
            return made
    raise failure
