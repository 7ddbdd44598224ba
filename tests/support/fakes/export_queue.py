"""The queue of exports, as the embedded stack has it, on a port of its own."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.bus import EventBus
from local.config import EVENT_BUS, EXPORT_QUEUE
from local.jobs import Jobs
from local.messaging import Services, server
from local.ports import HOST, free_port
from local.queues import Queue, Queues


@pytest.fixture
def queues(tmp_path: Path) -> Iterator[tuple[Queues, str]]:
    """Queues with one for exports, and their URL."""
    made = Queues(tmp_path / "queues.sqlite", (Queue(name=EXPORT_QUEUE),))
    port = free_port()
    endpoint = f"http://{HOST}:{port}"
    bus = EventBus(EVENT_BUS, [], made, tmp_path / "journal")
    with server(Services(bus, made, Jobs(tmp_path / "jobs.log"), endpoint), port) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield made, endpoint
        running.shutdown()
        thread.join()
