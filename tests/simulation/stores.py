"""Stands before the ports of a client: each call is a step, and may go wrong as real stores do.

What a method can do is a table by its name. Methods that are in none of the tables write, take
effect whole or not at all, and repeating them changes nothing: transactions, for DynamoDB remembers
their token.
"""

from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

from graveler.errors import GravelerError, ThrottledError, UnknownOutcomeError
from graveler.model import Event, Repository
from graveler.model.tasks import Task
from graveler.operations.exports.lease import ExportStoppedError
from tests.simulation.schedule import Fault, Place
from tests.support.faults.faults import Crash

READS = frozenset(
    [
        "refs.repository",
        "refs.repositories",
        "refs.repository_metadata",
        "refs.branch",
        "refs.branches",
        "refs.events_since",
        "refs.repository_and_branch",
        "refs.tag",
        "refs.tags",
        "refs.commits",
        "refs.commit_ids_with_prefix",
        "refs.commits_below",
        "refs.every_commit",
        "refs.task",
        "refs.tasks",
        "refs.joinable_task",
        "refs.upload",
        "refs.uploads",
        "staging.get",
        "staging.newest",
        "staging.get_with_branch",
        "staging.get_with_repository",
        "staging.scan",
        "staging.scan_paths",
        "staging.scan_pages",
        "staging.scan_pages_with_branch",
        "staging.restored_paths",
        "objects.get",
        "objects.get_stored",
        "objects.head",
        "objects.list_objects",
        "objects.list_folder",
        "objects.list_uploads",
        "objects.list_parts",
        "exports.branch_export",
        "exports.listed_exports",
        "exports.listed_record",
    ]
)
# A lost answer makes the adapter send these again: they take effect twice. Those that ask for a
# condition ask again.
REPEATED = frozenset(
    [
        "staging.close",
        "staging.drop",
        "refs.bump_version",
        "objects.put",
        "objects.copy",
        "objects.delete",
        "objects.delete_many",
        "refs.restore_commits",
        "refs.restore_branches",
        "refs.restore_tags",
        "refs.replace_task",
        "export_queue.send",
        "task_queue.send",
        "slice_function.invoke",
    ]
)
# Adapters that do not know whether a request without an answer took effect say that they failed.
UNSURE = frozenset(["task_queue.send", "slice_function.invoke"])
_READ_FAULTS = ("crash before", "throttled", "pause", "pause")
_WRITE_FAULTS = (
    *("crash before", "crash after", "throttled", "pause", "pause"),
    *("lost, not done", "lost, done", "lost, done late"),
)
# Of a request that takes no time.
_PROMPT_FAULTS = ("crash before", "crash after", "throttled", "lost, not done", "lost, done")
_PAUSES_S = (1, 30, 600, 3600)
# Nobody waits longer for an answer: whoever reads is ended by then.
_READER_PAUSE_S_MAX = 600


class SeededFaults:
    """Faults by chance, written down as they come."""

    def __init__(self, chance: Random, kinds: tuple[str, ...] | None = None) -> None:
        self.found: dict[Place, Fault] = {}
        self._chance = chance
        self._rate = chance.choice((0.0, 0.0, 0.02, 0.06))
        self._kinds = kinds

    def __call__(
        self, place: Place, name: str, *, reads_only: bool, is_prompt: bool
    ) -> Fault | None:
        if not self._rate or self._chance.random() >= self._rate:
            return None
        chance = self._chance
        kinds: tuple[str, ...] = _READ_FAULTS if name in READS else _WRITE_FAULTS
        if is_prompt:
            kinds = _PROMPT_FAULTS
        elif name in REPEATED:
            kinds = (*kinds, "repeated", "repeated")
        fault = Fault(chance.choice(kinds))
        if fault.kind == "pause":
            longest = _READER_PAUSE_S_MAX if reads_only else _PAUSES_S[-1]
            fault = Fault("pause", min(chance.choice(_PAUSES_S), longest))
        self.found[place] = fault
        return fault


class WrittenFaults:
    """The faults that are written down."""

    def __init__(self, faults: dict[Place, Fault]) -> None:
        self.found = faults

    def __call__(self, place: Place, _name: str, **_: bool) -> Fault | None:
        return self.found.get(place)


def repeatable(
    replace_task: Callable[..., Task], task: Callable[[Repository, str], Task | None]
) -> Callable[..., Task]:
    """As replace_task, whose request may be repeated, and then recognizes its own effect.

    One without an event is no transaction: if somebody else has overwritten the effect meanwhile,
    it is not recognized.
    """
    done: Task | None = None

    def replace(repository: Repository, old: Task, new: Task, event: Event | None = None) -> Task:
        nonlocal done
        if done is None or (event is None and task(repository, old.id) != done):
            done = replace_task(repository, old, new, event)
        return done

    return replace


def carry_out(
    fault: Fault,
    call: Callable[[], Any],
    pause: Callable[[], None],
    tick: Callable[[int], None],
    later: Callable[[Callable[[], None]], None],
) -> Any:
    """The call as the fault has it."""
    kind = fault.kind
    if kind == "crash before":
        raise Crash
    if kind == "throttled":
        raise ThrottledError("simulated")
    if kind == "pause":
        pause()
        tick(fault.s)
        return call()
    if kind == "repeated":
        call()
        pause()
        return call()
    if kind == "lost, not done":
        raise UnknownOutcomeError("simulated")
    if kind == "lost, done late":
        later(lambda: _quietly(call))
        raise UnknownOutcomeError("simulated")
    call()
    if kind == "crash after":
        raise Crash
    raise UnknownOutcomeError("simulated")


def _quietly(call: Callable[[], Any]) -> None:
    with suppress(GravelerError, ExportStoppedError):  # nobody is there to be told
        call()
