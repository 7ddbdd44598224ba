"""What the steps of copies and moves of prefixes did: each is one transaction, with its task's record.

A step counts as done when its whole transaction is visible, for others see its parts before.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from graveler.model import Branch, Repository
from graveler.model.tasks import Task
from graveler.ports import StagedChange
from tests.simulation.schedule import Place
from tests.simulation.tasks import Step
from tests.simulation.worlds import stored_value
from tests.support.checks.linearizability import Operation

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
        self._landed: dict[Place | None, list[SentStep]] = {}

    def send(self, *call: object) -> None:
        """Note a call of stage_step that begins."""
        self._sent.append(SentStep(self._simulation.scheduler.tick(), *call))  # type: ignore[arg-type]

    def has_stored(self, task: Task) -> None:
        """Note that the record of a task is visible; a step may have stored it."""
        for step in self._sent:
            if replace(step.new, version=step.old.version + 1) == task:
                place = self._simulation.choices.place
                self._landed.setdefault(place, []).append(step)
                if place is None:
                    self.has_ended(None)
                return

    def has_ended(self, place: Place | None) -> None:
        """Note that all of a request is visible."""
        for step in self._landed.pop(place, ()):
            _write_down(self._simulation, step)


def _write_down(simulation: "Simulation", step: SentStep) -> None:
    old, ledger = step.old, simulation.ledger
    moment = simulation.scheduler.tick()
    source = old.request["source"] if old.request["is_branch"] else ""
    steps = (each.moment for each in ledger.steps if each.task_id == old.id)
    since = max(ledger.taken.get(old.id, 0), *steps, 0)
    ledger.steps.append(Step(old.id, moment, step.branch.name, source, since))
    for change in step.changes:
        value = stored_value(step.repository, change.value)
        kind, key = "tombstone" if value is None else "write", (step.branch.name, change.path)
        simulation.history.append(
            Operation("task", kind, step.began, moment, "ok", value, key=key, label=old.id)
        )
