"""Iceberg tables: appends to one and to two at a moment, while branches are committed and merged.

A snapshot has the ID of the operation that adds it. So the judge sees in a table's snapshots which
appends took effect: each that was acknowledged, none that was refused, and all in one chain.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from graveler.engine import Engine
from graveler.errors import ConflictError, ContentionError, NotFoundError
from graveler.iceberg.metadata import MAIN, current_snapshot_id
from graveler.operations.tables import commits, tables
from graveler.operations.tables.commits import TableChange
from tests.simulation.schedule import Op
from tests.simulation.worlds import REPO, TABLE_NAMES, TABLES_NAMESPACE
from tests.support.worlds.iceberg_tables import add, set_ref, snapshot

if TYPE_CHECKING:
    from tests.simulation.actor import Actor
    from tests.simulation.machine import Simulation

# A client of Iceberg loads the table and appends again so often.
_TRIES = 3


def _snapshots(engine: Engine, branch: str, table: str) -> list[int]:
    """Return the IDs of the table's snapshots, from the current one back to the first."""
    metadata = tables.load(engine, REPO, branch, TABLES_NAMESPACE, table).metadata
    parents = {
        each["snapshot-id"]: each.get("parent-snapshot-id") for each in metadata["snapshots"]
    }
    found: list[int] = []
    at = current_snapshot_id(metadata)
    while at is not None:
        found.append(at)
        at = parents[at]
    assert len(found) == len(parents), f"snapshots of {table} are in no chain: {parents}"
    return found


class Appends:
    """The appends of a schedule: by branch and table, what was told of each."""

    def __init__(self, simulation: "Simulation") -> None:
        self._simulation = simulation
        self._told: dict[tuple[str, str, int], str] = {}

    def began(self, branch: str, names: Sequence[str], number: int) -> None:
        self._tell(branch, names, number, "nothing")

    def was_done(self, branch: str, names: Sequence[str], number: int) -> None:
        self._tell(branch, names, number, "done")

    def was_refused(self, branch: str, names: Sequence[str], number: int) -> None:
        self._tell(branch, names, number, "refused")

    def _tell(self, branch: str, names: Sequence[str], number: int, told: str) -> None:
        self._told.update(dict.fromkeys([(branch, name, number) for name in names], told))

    def saw_one_of_two(self, numbers: Iterable[int]) -> None:
        """Check snapshots that a reader saw in one table, and later not in the other one.

        What nobody confirms may be seen and lost, if parts of a transaction are visible apart.
        """
        torn = self._simulation.choices.torn
        missing = [number for number in numbers if (number - 1) // _TRIES not in torn]
        if missing:
            self._problem(f"a reader saw {missing} in one table, and not in the other one")

    def _problem(self, text: str) -> None:
        self._simulation.problem("table", text)

    def judge(self) -> None:
        """Each append is there or is not, as its client was told, and has its event."""
        reader, found = self._simulation.reader, {}
        for branch in ("main", "dev"):
            for name in TABLE_NAMES:
                found[branch, name] = set(_snapshots(reader, branch, name))
        for (branch, name, number), told in self._told.items():
            if told == "done" and number not in found[branch, name]:
                self._problem(f"{branch} has lost snapshot {number} of {name}")
            if told == "refused" and number in found[branch, name]:
                self._problem(f"{branch} has snapshot {number} of {name}, which was refused")
        events = Counter(
            (
                str(event.detail["branch"]),
                str(each["table"]).rpartition(".")[2],
                each["snapshot_id"],
            )
            for event in self._simulation.outbox
            if event.kind == "table_committed"
            for each in event.detail["tables"]  # type: ignore[attr-defined]
        )
        for (branch, name, number), told in self._told.items():
            amount = events[branch, name, str(number)]
            if told != "nothing" and amount != (told == "done"):
                self._problem(f"{amount} events of snapshot {number} of {name} on {branch}: {told}")


def _append(actor: "Actor", op: Op, names: Sequence[str]) -> None:
    """Append to the tables at one moment, again if others were faster."""
    appends = actor.watcher(Appends)
    for attempt in range(_TRIES):
        number = op.id * _TRIES + attempt + 1
        changes = [_change(actor.engine, op.branch, name, number) for name in names]
        appends.began(op.branch, names, number)
        try:
            commits.commit_tables(actor.engine, REPO, op.branch, changes)
        except (ConflictError, ContentionError):  # the catalogue answers 409 to both
            appends.was_refused(op.branch, names, number)
            continue
        except NotFoundError:
            appends.was_refused(op.branch, names, number)
            raise
        appends.was_done(op.branch, names, number)
        return


def _change(engine: Engine, branch: str, table: str, number: int) -> TableChange:
    found = tables.load(engine, REPO, branch, TABLES_NAMESPACE, table)
    parent = current_snapshot_id(found.metadata)
    sequence_number = found.metadata["last-sequence-number"] + 1
    added = snapshot(number, parent, found.location, sequence_number=sequence_number)
    requirement = {"type": "assert-ref-snapshot-id", "ref": MAIN, "snapshot-id": parent}
    return TableChange(TABLES_NAMESPACE, table, [requirement], [add(added), set_ref(number)])


def append(actor: "Actor", op: Op) -> None:
    _append(actor, op, TABLE_NAMES[:1])


def append_to_both(actor: "Actor", op: Op) -> None:
    _append(actor, op, TABLE_NAMES)


def read_tables(actor: "Actor", op: Op) -> None:
    """Of the appends to both tables, the second read sees whatever the first one saw."""
    first, second = TABLE_NAMES
    seen = set(_snapshots(actor.engine, op.branch, second))
    missing = seen - set(_snapshots(actor.engine, op.branch, first))
    actor.watcher(Appends).saw_one_of_two(missing)


TABLE_ACTIONS: Mapping[str, Callable[["Actor", Op], None]] = {
    each.__name__: each for each in (append, append_to_both, read_tables)
}
