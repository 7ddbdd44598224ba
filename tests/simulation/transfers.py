"""What copies and moves of prefixes do in a schedule, and what has to hold of them.

Each step of such a task is one transaction. A moved object must be what readers of its source see
at that moment, so no write is lost that came after the task had read the source.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

import msgspec

from graveler.model import Branch, CommitID, Repository
from graveler.model.tasks import Task, TaskKind, TaskState
from graveler.operations.prefixes.requests import IfExists, ResolvedRequest
from graveler.ports import StagedChange
from tests.simulation.tasks import Step
from tests.simulation.worlds import DESCRIBED, stored_value
from tests.support.checks.linearizability import Operation

if TYPE_CHECKING:
    from tests.simulation.machine import Simulation

TRANSFERS = (TaskKind.COPY_PREFIX, TaskKind.MOVE_PREFIX)
_WRITES = ("write", "write_if_absent")
_MAY_BE_LOST = "may have been written"
# These name data that may be gone: by hand, or those of a commit that has expired.
_NAMES_OLD_DATA = frozenset(["stage_known", "revert", "cherry_pick"])


def write_down_step(
    simulation: "Simulation",
    began: float,
    repository: Repository,
    branch: Branch,
    changes: Sequence[StagedChange],
    old: Task,
) -> None:
    """Put a step, all of which took effect since it began, into the history."""
    moment, ledger, asked = simulation.scheduler.tick(), simulation.ledger, _asked(old)
    steps = (step.moment for step in ledger.steps if step.task_id == old.id)
    since = max(ledger.taken.get(old.id, 0), *steps, 0)
    source = asked.source if asked.is_branch else ""
    ledger.steps.append(Step(old.id, moment, branch.name, source, since))
    moves = old.kind is TaskKind.MOVE_PREFIX
    writes = _WRITES[asked.request.if_exists is not IfExists.OVERWRITE]
    for change in changes[:: 1 + moves]:
        value, path = stored_value(repository, change.value), _source_path(asked, change.path)
        made = [(writes, (branch.name, change.path), began)]
        if moves:
            made.append(("take", (branch.name, path), began))
        elif asked.is_branch:
            made.append(("read", (asked.source, path), since))
        elif value != simulation.value_in(repository, CommitID(asked.source), path):
            simulation.problem("transfer", f"{old.id} copied {value}, which {path!r} was not")
        simulation.history += [
            Operation("task", kind, begin, moment, "ok", value, key=key, label=old.id)
            for kind, key, begin in made
        ]


def _asked(task: Task) -> ResolvedRequest:
    return msgspec.convert(task.request, ResolvedRequest)


def _source_path(asked: ResolvedRequest, target: bytes) -> bytes:
    request = asked.request
    return request.source_prefix.encode() + target[len(request.destination_prefix.encode()) :]


def check_transfer(simulation: "Simulation", repository: Repository, task: Task) -> None:
    """Nothing was left behind by a task that has completed, and it counted right.

    At some moment while it ran, an object of the source was absent, or it was copied.
    """
    if task.failure is not None and _MAY_BE_LOST in task.failure.message:
        _doubt_last_step(simulation, task)
    if task.state is not TaskState.COMPLETED:
        return
    asked = _asked(task)
    written = [
        each.key[1]
        for each in simulation.history
        if (each.client, each.label) == ("task", task.id) and each.kind in _WRITES
    ]
    if task.result["copied"] != str(len(written)):
        simulation.problem("transfer", f"task {task.id} copied {written}, and says {task.result}")
    if asked.request.if_exists is IfExists.SKIP:
        return
    kept = () if task.kind is TaskKind.MOVE_PREFIX else {_source_path(asked, p) for p in written}
    invoked = simulation.ledger.origins[task.id][0]
    returned = simulation.ledger.first_news(task.id) or simulation.scheduler.tick()
    for path in _sources(simulation, asked):
        if path in kept:
            continue
        if asked.is_branch:
            key = (asked.source, path)
            simulation.history.append(
                Operation("task", "read", invoked, returned, "ok", None, key=key, label=task.id)
            )
        elif simulation.value_in(repository, CommitID(asked.source), path) is not None:
            simulation.problem("transfer", f"task {task.id} left {path!r} behind")


def _doubt_last_step(simulation: "Simulation", task: Task) -> None:
    """The task has failed because a commit may have missed its last step: each change may be lost."""
    last = max(step.moment for step in simulation.ledger.steps if step.task_id == task.id)
    simulation.history = [
        replace(each, outcome="unknown", returned=inf)
        if (each.client, each.label, each.returned) == ("task", task.id, last)
        else each
        for each in simulation.history
    ]


def _sources(simulation: "Simulation", asked: ResolvedRequest) -> Iterator[bytes]:
    prefix = asked.request.source_prefix.encode()
    return (path for path in simulation.paths if path.startswith(prefix))


def check_seen(simulation: "Simulation", repository: Repository) -> None:
    """Whatever a reader sees has its data, if nobody named data by hand or by old commits."""
    old = simulation.start.commits
    if any(op.kind in _NAMES_OLD_DATA or op.text in old for op in simulation.operations):
        return
    there = simulation.world.objects.contents()
    for name, branch in simulation.world.refs.records_of(repository).branches.items():
        for address in simulation.named.of_branch(repository, branch):
            if address not in there and address != DESCRIBED:
                simulation.problem("collected", f"{address} is gone, which branch {name} names")
