"""Effects of single transactions: the steps of copies and moves of prefixes, and completed uploads.

A step counts as done when its whole transaction is visible, for others see its parts before.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from graveler.model import Branch, Repository
from graveler.model.recorded_uploads import Upload
from graveler.model.tasks import Task
from graveler.ports import StagedChange
from tests.simulation.schedule import Place
from tests.simulation.transfers import write_down_step
from tests.simulation.uploads import write_down_effect

if TYPE_CHECKING:
    from tests.simulation.machine import Simulation


class SentStep(NamedTuple):
    """A call of stage_step, and when it began."""

    began: int
    repository: Repository
    branch: Branch
    changes: Sequence[StagedChange]
    old: Task
    new: Task


class Steps:
    """The steps of a schedule."""

    def __init__(self, simulation: "Simulation") -> None:
        self._simulation = simulation
        self._sent: list[SentStep] = []
        self._landed: dict[Place | None, list[Callable[[], None]]] = {}

    def send(self, *call: object) -> None:
        """Note a call of stage_step that begins."""
        self._sent.append(SentStep(self._simulation.scheduler.tick(), *call))  # type: ignore[arg-type]

    def has_stored(self, task: Task) -> None:
        """Note that the record of a task is visible; a step may have stored it."""
        for step in self._sent:
            if replace(step.new, version=step.old.version + 1) == task:
                self._land(partial(write_down_step, self._simulation, *step[:-1]))
                return

    def has_completed(self, upload: Upload) -> None:
        """Note that the record of a completed upload is visible."""
        self._land(partial(write_down_effect, self._simulation, upload))

    def _land(self, write_down: Callable[[], None]) -> None:
        place = self._simulation.choices.place
        self._landed.setdefault(place, []).append(write_down)
        if place is None:
            self.has_ended(None)

    def has_ended(self, place: Place | None) -> None:
        """Note that all of a request is visible."""
        for write_down in self._landed.pop(place, ()):
            write_down()
