"""What clients do while branches, data and clocks come and go."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from graveler.addresses import physical_uri
from graveler.entries import value_entry
from graveler.export.record import ExportRequest
from graveler.operations import branches, dumps, links, objects, tags, writes
from graveler.operations.exports.advance import advance
from graveler.retention.candidates import MINIMUM_AGE_S
from tests.simulation.schedule import Op
from tests.simulation.worlds import COPIED_TAG, COPY, NAMESPACE, REPO
from tests.support.checks.linearizability import Value
from tests.support.fakes.memory_collection import MemoryCollection
from tests.support.faults.counting import Port

if TYPE_CHECKING:
    from tests.simulation.actor import Actor

_DAY_S = 24 * 60 * 60
# By how much a clock is set, and how much time passes then: mostly longer than a lease lasts, and so
# much that the clock shows about what it showed before.
_STEPS_S = ((-130, 135), (-130, 135), (-200, 202), (-600, 610), (-300, 130), (-60, 65), (120, 200))
_INVOCATIONS = 3
# How many steps others make between two reads of a look.
_DAWDLES = (0, 0, 0, 20, 40)
# All waits of a schedule together are much shorter than dropped tokens are kept.
_WAITS_S = (2, 30, 600)


class _Collection(MemoryCollection):
    """A collection that is watched: what lives since before a look stays."""

    def __init__(self, actor: "Actor") -> None:
        super().__init__(actor.engine, actor.read_file, REPO, MINIMUM_AGE_S)
        self._actor = actor
        self.between = self._dawdle

    def _dawdle(self) -> None:
        """Let others make some steps between two reads."""
        self._actor.host.wait(_DAWDLES[self._actor.choose("dawdle", len(_DAWDLES))])

    def look(self) -> None:
        self._actor.looks()
        super().look()


def collect_old(actor: "Actor", op: Op) -> None:
    """Collect: mark, and delete days later; or all that is old is marked, and one look decides."""
    collection = _Collection(actor)
    collection.list_candidates()
    if actor.choose("marks", 4):
        collection.marked = set(collection.candidates)
    else:
        collection.look_at_staged()
        collection.look_at_commits()
        collection.mark()
        actor.host.sleep(actor.choose("days", 3) * _DAY_S)
    collection.sweep()


def sleep(actor: "Actor", op: Op) -> None:
    actor.host.sleep((1 + actor.choose("days", 3)) * _DAY_S)


def await_look(actor: "Actor", op: Op) -> None:
    actor.host.await_look()


def await_awaiting(actor: "Actor", op: Op) -> None:
    """Let others go on until one waits for a look."""
    actor.host.await_other(lambda host: host.awaits_look)


def wait(actor: "Actor", op: Op) -> None:
    """Let some time pass for all, whatever they are doing."""
    actor.host.pass_time(_WAITS_S[actor.choose("wait", len(_WAITS_S))])


def stage_known(actor: "Actor", op: Op) -> Value:
    """Stage by hand the address that another path names."""
    found = objects.stat(actor.engine, REPO, op.branch, op.text.encode())
    actor.will_stage(found.physical_address)
    made = links.stage(
        actor.engine,
        REPO,
        op.branch,
        op.path,
        links.StoredData(
            physical_address=found.physical_address,
            checksum=found.entry.checksum,
            size_bytes=found.entry.size_bytes,
        ),
    )
    return Value(made.physical_address)


def copy_name(actor: "Actor", op: Op) -> Value:
    """Let the path name the data that a branch has at some path of the schedule."""

    def noting(
        name: str, call: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        if name == "staging.stage":
            entry = value_entry(args[1][0][1])
            actor.will_stage(physical_uri(NAMESPACE, entry))
        return call(*args, **options)

    staging: Any = Port(actor.engine.staging, "staging", noting)
    made = writes.copy(
        replace(actor.engine, staging=staging),
        REPO,
        op.branch,
        op.path,
        source_ref=op.text,
        source_path=actor.paths[actor.choose("source", len(actor.paths))],
        shallow=True,
    )
    return Value(made.physical_address)


def start_restore(actor: "Actor", op: Op) -> None:
    assert actor.dump is not None
    actor.was_given(dumps.start_restore(actor.engine, COPY, actor.dump, "somebody"))


def delete_restored_branch(actor: "Actor", op: Op) -> None:
    branches.delete(actor.engine, COPY, "dev")


def delete_restored_tag(actor: "Actor", op: Op) -> None:
    tags.delete(actor.engine, COPY, COPIED_TAG)


def run_export(actor: "Actor", op: Op) -> None:
    """What a function does for some messages."""
    for number in range(_INVOCATIONS):
        actor.host.begins_export()
        advance(
            actor.engine,
            ExportRequest(REPO, op.branch),
            runner=f"runner {op.id} {number}",
            time_left_s=lambda: 900.0,
        )


def step_clock(actor: "Actor", op: Op) -> None:
    """Set the clock of a runner forward or back, and let time pass."""
    step_s, wait_s = _STEPS_S[actor.choose("step", len(_STEPS_S))]
    actor.host.step_clock_of_runner(step_s, 60 * actor.choose("stall", 4))
    actor.host.pass_time(wait_s)
