"""Queues on a clock that the test moves, and a handler that the test scripts."""

from pathlib import Path
from typing import Any

import pytest

from graveler_embedded.queues import Queue, Queues

QUEUES = (
    Queue(name="work", visibility_timeout_s=60, receives_max=3, dead_letters="dead"),
    Queue(name="dead"),
)


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now_s = 1_000_000.0

    def __call__(self) -> float:
        return self.now_s

    def advance(self, seconds: float) -> None:
        self.now_s += seconds


class World:
    """Queues, their clock, and what a restart does."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "queues.sqlite"
        self.clock = Clock()
        self.queues = Queues(self.path, QUEUES, self.clock)

    def restart(self) -> None:
        """Go on with what the file has, as after `kill -9`."""
        self.queues = Queues(self.path, QUEUES, self.clock)

    def bodies(self, queue: str = "work") -> list[str]:
        """What can be received now."""
        return [message.body for message in self.queues.receive(queue, messages_max=10)]


class Handler:
    """A handler that answers, or raises, what it is told to, and remembers its events."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.answer: Any = None

    def __call__(self, event: Any, _context: Any) -> Any:
        self.events.append(event)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(event) if callable(self.answer) else self.answer

    @property
    def bodies(self) -> list[str]:
        """The messages of all events."""
        return [record["body"] for event in self.events for record in event["Records"]]


@pytest.fixture
def handler() -> Handler:
    """A handler that is done with everything."""
    return Handler()


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Empty queues."""
    return World(tmp_path)
