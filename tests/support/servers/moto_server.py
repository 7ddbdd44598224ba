"""Moto's AWS behind a port, empty at its start."""

from collections.abc import Iterator
from contextlib import contextmanager

import requests
from moto.server import ThreadedMotoServer


@contextmanager
def empty_moto() -> Iterator[str]:
    """Yield the endpoint of a server that holds nothing yet."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    try:
        # All servers of a process share what they hold, and other tests may have left tables.
        requests.post(f"{endpoint}/moto-api/reset", timeout=10).raise_for_status()
        yield endpoint
    finally:
        server.stop()
