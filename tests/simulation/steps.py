"""Effects of single transactions: the steps of copies and moves of prefixes, and completed uploads.

A step counts as done when its whole transaction is visible, for others see its parts before.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

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
    """A call of stage_step: the ID of its operation, if it is of one, and when it began."""

    op: int | None
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
        self._landed: dict[int | None, list[Callable[[], None]]] = {}

    def send(self, op: int | None, *call: object) -> None:
        """Note a call of stage_step that begins."""
        self._sent.append(SentStep(op, self._simulation.scheduler.tick(), *call))  # type: ignore[arg-type]

    def has_stored(self, task: Task) -> None:
        """Note that the record of a task is visible; a step may have stored it."""
        for step in self._sent:
            if replace(step.new, version=step.old.version + 1) == task:
                # A read of another operation may be what makes it visible.
                self._land(step.op, partial(write_down_step, self._simulation, *step[1:-1]))
                return

    def has_completed(self, upload: Upload) -> None:
        """Note that the record of a completed upload is visible."""
        place = self._simulation.choices.place
        self._land(place and place[0], partial(write_down_effect, self._simulation, upload))

    def _land(self, op: int | None, write_down: Callable[[], None]) -> None:
        if self._simulation.choices.place is None:  # no client's request is seen in parts
            write_down()
        else:
            self._landed.setdefault(op, []).append(write_down)

    def has_ended(self, place: Place) -> None:
        """Note that all of a request is visible."""
        for write_down in self._landed.pop(place[0], ()):
            write_down()
