"""TCP ports of the stack: on the loopback interface, unless two of them are opened."""

import os
import secrets
import socket
import time
from collections.abc import Mapping
from errno import EADDRINUSE
from http.client import HTTPConnection, HTTPException

from graveler_embedded.processes import StartError

HOST = "127.0.0.1"


def open_host(environment: Mapping[str, str] = os.environ) -> str:
    """Return the address on which the API and the raw bucket listen: in a container, all of its.

    Raises:
        StartError: the environment names another one, which no client and no check would reach.
    """
    host = environment.get("GRAVELER_HOST") or HOST
    if host not in (HOST, "0.0.0.0"):  # noqa: S104
        raise StartError(f"GRAVELER_HOST is {host!r}: set it to {HOST} or 0.0.0.0")
    return host


def is_listening(port: int) -> bool:
    """Whether something accepts connections on the port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def is_healthy(port: int) -> bool:
    """Whether the API answers on the port. An API that only listens may still be starting."""
    connection = HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", "/_health")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def free_port() -> int:
    """Return a free port below the range that systems use for outgoing connections.

    While this process lives, no other one gets the same port from here.
    """
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        if is_free(port, patience_s=0) and _reserve(port):
            return port


def _reserve(port: int) -> bool:
    """Hold the UDP port of the number until this process ends; return False if it is held.

    A server binds its port long after the choice. Two stacks that began together chose one port.
    """
    with socket.socket(type=socket.SOCK_DGRAM) as reservation:
        try:
            reservation.bind((HOST, port))
        except OSError:
            return False
        reservation.detach()  # the system closes it with the process
        return True


def is_free(port: int, patience_s: float) -> bool:
    """Whether the port is free, or becomes free within patience_s seconds.

    Raises:
        StartError: this user cannot listen on it.
    """
    deadline = time.monotonic() + patience_s
    while True:
        with socket.socket() as probe:
            # Like servers, ignore an earlier run's connections in TIME_WAIT.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError as error:
                if error.errno != EADDRINUSE:  # such as a port that only root may use
                    raise StartError(f"cannot listen on port {port}: {error.strerror}") from error
                if time.monotonic() > deadline:
                    return False
            else:
                return True
        time.sleep(0.1)
