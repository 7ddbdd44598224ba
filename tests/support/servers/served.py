"""Handlers of processes that tests start, and the program that starts these processes."""

import os
import sys
import time
from pathlib import Path

from graveler_gateway.server.http import processes
from graveler_gateway.server.http.connection import Limits
from graveler_gateway.server.http.exchange import Exchange
from graveler_gateway.server.http.server import Handler

FOLDER = "SERVED_FOLDER"


def handler() -> tuple[Handler, Limits]:
    """Return a handler that answers with the number of its process."""
    return _serve, Limits()


def nothing() -> tuple[Handler, Limits]:
    """Fail, as a process that cannot connect to its stores does.

    Raises:
        ValueError: always.
    """
    raise ValueError("there are no stores")


def brief() -> tuple[Handler, Limits]:
    """Return a handler once; processes that are started later fail.

    Raises:
        FileExistsError: another process did it.
    """
    (Path(os.environ[FOLDER]) / "began").touch(exist_ok=False)
    return handler()


def late() -> tuple[Handler, Limits]:
    """Return a handler; in all processes but the first one, when a file allows it."""
    folder = Path(os.environ[FOLDER])
    try:
        (folder / "began").touch(exist_ok=False)
    except FileExistsError:
        (folder / "second").touch()
        while not (folder / "goes-on").exists():
            time.sleep(0.01)
    return handler()


def _serve(exchange: Exchange) -> None:
    path = exchange.head.raw_path
    if path == "/wait":  # until a file says that it may go on
        folder = Path(os.environ[FOLDER])
        (folder / "waits").touch()
        while not (folder / "goes-on").exists():
            time.sleep(0.01)
    elif path == "/hang":
        (Path(os.environ[FOLDER]) / "waits").touch()
        time.sleep(3600)
    exchange.answer(200, (), str(os.getpid()).encode())


if __name__ == "__main__":
    target, port, workers, stop_s = sys.argv[1:]
    try:
        code = processes.serve(
            f"tests.support.servers.served:{target}",
            "127.0.0.1",
            int(port),
            workers=int(workers),
            stop_s=float(stop_s),
        )
    except OSError as error:
        sys.exit(str(error))
    sys.exit(code)
