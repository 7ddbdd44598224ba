"""One process that serves: `python -m …http.worker MODULE:FUNCTION DESCRIPTOR`."""

import contextlib
import errno
import importlib
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from graveler_gateway.server.http.connection import Limits
from graveler_gateway.server.http.processes import CONNECTION, READY
from graveler_gateway.server.http.server import Handler, HttpServer

_DESCRIPTORS_MAX = 65_536


def main(target: str, descriptor: int) -> None:
    """Serve the connections that arrive at the descriptor, until it or this process ends."""
    # The terminal signals the first process as well, and that one says when to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    module, _, function = target.partition(":")
    make: Callable[[], tuple[Handler, Limits]] = getattr(importlib.import_module(module), function)
    handler, limits = make()
    intake = socket.socket(fileno=descriptor)
    descriptors_max = _with_all_descriptors()
    # The other half is for the stores, and for files.
    connections = min(limits.connections, descriptors_max // 2)
    server = HttpServer(
        handler, partial(_next, intake), intake, replace(limits, connections=connections)
    )
    signal.signal(signal.SIGTERM, lambda *_: server.stop())
    with contextlib.suppress(OSError):  # the first process has ended: the server will, too
        intake.send(READY)
    server.run()


def _next(intake: socket.socket) -> socket.socket | None:
    """Return the next connection; None if there will be no more.

    Raises:
        OSError: the connection is lost, because no descriptor is left for it.
    """
    try:
        data, descriptors, _, _ = socket.recv_fds(intake, len(CONNECTION), 1)
    except ConnectionError:
        return None
    if not data:
        return None
    if not descriptors:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    return socket.socket(fileno=descriptors[0])


def _with_all_descriptors() -> int:
    """Raise the limit of open descriptors; return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS_MAX if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS_MAX)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return _DESCRIPTORS_MAX if soft == resource.RLIM_INFINITY else soft
    with contextlib.suppress(ValueError, OSError):  # macOS allows less than it says
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return soft


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
