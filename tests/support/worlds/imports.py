"""Watches imports, and runs them as tasks."""

from graveler.engine import Engine
from graveler.imports.request import ImportRequest
from graveler.imports.runs import Found
from graveler.operations import imports
from graveler.operations.imports import ImportStatus
from tests.support.fakes.tasks import MemoryTaskQueue, run_all
from tests.support.worlds.lake import REPO


class TaskStoppedError(Exception):
    """What the caller of a test raises to stop the work."""


class Recorder:
    """A watch that remembers what it is told, and stops after some reports."""

    def __init__(self, stop_after: int = 10**9) -> None:
        self.done: list[int] = []
        self.saved: list[Found] = []
        self.left = stop_after

    def report(self, done: int, known: int) -> None:
        assert known == done
        self.done.append(done)
        self.left -= 1
        if self.left < 0:
            raise TaskStoppedError

    def save(self, found: Found) -> None:
        self.saved.append(found)


def imported(engine: Engine, asked: ImportRequest, repository: str = REPO) -> ImportStatus:
    """Import as a task; return its status after the end."""
    task = imports.start_import(engine, repository, "main", asked)
    assert isinstance(engine.task_queue, MemoryTaskQueue)
    run_all(engine.task_queue, engine)
    return imports.status(engine, repository, task.id)
