"""What copies and moves of prefixes do in a schedule, and what has to hold of them.

Each step of such a task is a transaction that copies, and for moves one that deletes the source. An
object is deleted as readers of the source see it at that moment, and must be what was copied. So no
write is lost that came after the task had read the source. If a step is made again, a commit may
have missed the first time.
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
from tests.support.checks.linearizability import UNKNOWN, Operation
from tests.support.worlds.path_model import Key

if TYPE_CHECKING:
    from tests.simulation.machine import Simulation

TRANSFERS = (TaskKind.COPY_PREFIX, TaskKind.MOVE_PREFIX)
_WRITES = ("write", "write_if_absent")
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
    since = max(ledger.taken.get((old.id, old.runner), 0), *steps, 0)
    source = asked.source if asked.is_branch else ""
    ledger.steps.append(Step(old.id, began, moment, branch.name, source, since))
    writes = _WRITES[asked.request.if_exists is not IfExists.OVERWRITE]
    for change in changes:
        made: list[tuple[str, Key, float, str | None]]
        if change.value is None:
            value = ledger.copied.get((old.id, change.path))
            made = [("take", (branch.name, change.path), began, None)]
        else:
            value, path = stored_value(repository, change.value), _source_path(asked, change.path)
            own = ledger.copied.get((old.id, path), value)
            ledger.copied[old.id, path] = value
            made = [(writes, (branch.name, change.path), began, own and own.address)]
            if asked.is_branch:
                made.append(("read", (asked.source, path), since, None))
            elif value != simulation.value_in(repository, CommitID(asked.source), path):
                simulation.problem("transfer", f"{old.id} copied {value}, which {path!r} was not")
        _doubt(simulation, old, {(kind, key) for kind, key, _, _ in made if kind != "read"})
        simulation.history += [
            Operation("task", kind, begin, moment, "ok", value, UNKNOWN, key, old.id, required)
            for kind, key, begin, required in made
        ]


def _doubt(simulation: "Simulation", task: Task, effects: set[tuple[str, Key]]) -> None:
    """A commit may have missed the effects that the task's transactions had so far."""
    simulation.history = [
        replace(each, outcome="unknown", returned=inf, may_vanish=True)
        if each.label == task.id and (each.kind, each.key) in effects
        else each
        for each in simulation.history
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
    if task.saved.get("until") and task.state is not TaskState.COMPLETED:
        effects = [each for each in simulation.history if each.label == task.id]
        last = max((each.returned for each in effects if each.returned < inf), default=0)
        kinds = {(each.kind, each.key) for each in effects if each.returned == last}
        _doubt(simulation, task, {each for each in kinds if each[0] != "read"})
    if task.state is not TaskState.COMPLETED:
        return
    asked = _asked(task)
    written = {
        each.key[1]
        for each in simulation.history
        if (each.client, each.label) == ("task", task.id) and each.kind in _WRITES
    }
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


def _sources(simulation: "Simulation", asked: ResolvedRequest) -> Iterator[bytes]:
    prefix = asked.request.source_prefix.encode()
    return (path for path in simulation.paths if path.startswith(prefix))


def check_seen(simulation: "Simulation", repository: Repository) -> None:
    """Whatever a reader sees has its data, if nobody named data by hand or by old commits."""
    old = simulation.start.commits
    if any(op.kind in _NAMES_OLD_DATA or op.text in old for op in simulation.operations):
        return
    deleted = {op.branch for op in simulation.operations if op.kind == "delete_branch"}
    if simulation.start.expires and any(
        op.kind == "create_branch" and op.text in deleted for op in simulation.operations
    ):
        return  # of a branch that was deleted before the answer (ADR 34)
    there = simulation.world.objects.contents()
    for name, branch in simulation.world.refs.records_of(repository).branches.items():
        for address in simulation.named.of_branch(repository, branch):
            if address not in there and address != DESCRIBED:
                simulation.problem("collected", f"{address} is gone, which branch {name} names")
