"""The queue of exports, as the embedded stack has it, on a port of its own."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from graveler_embedded.bus import LocalEventBus
from graveler_embedded.config import EVENT_BUS, EXPORT_QUEUE
from graveler_embedded.glue import LocalGlue
from graveler_embedded.messaging import AwsServices, server
from graveler_embedded.queues import Queue, Queues
from graveler_embedded.tcp_ports import HOST, free_port


@pytest.fixture
def queues(tmp_path: Path) -> Iterator[tuple[Queues, str]]:
    """Queues with one for exports, and their URL."""
    made = Queues(tmp_path / "queues.sqlite", (Queue(name=EXPORT_QUEUE),))
    port = free_port()
    endpoint = f"http://{HOST}:{port}"
    bus = LocalEventBus(EVENT_BUS, [], made, tmp_path / "journal")
    with server(
        AwsServices(bus, made, LocalGlue(tmp_path / "jobs.log"), endpoint), port
    ) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield made, endpoint
        running.shutdown()
        thread.join()
