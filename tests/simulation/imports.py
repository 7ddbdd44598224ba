"""Imports in schedules: tasks whose commits replace what is at their destinations."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from graveler.imports.request import ImportRequest, ImportSource, SourceType
from graveler.model import CommitID, Repository
from graveler.model.tasks import Task
from graveler.operations import imports
from tests.simulation.schedule import Op
from tests.simulation.worlds import IMPORTED, IMPORTED_NAMES, REPO
from tests.support.checks.linearizability import Value

if TYPE_CHECKING:
    from tests.simulation.actor import Actor
    from tests.simulation.machine import Simulation


def start_import(actor: "Actor", op: Op) -> None:
    """Import everything over the whole branch, or one object to one path."""
    source = ImportSource(SourceType.PREFIX, IMPORTED, "")
    if actor.choose("source", 2):
        name = actor.choose("name", len(IMPORTED_NAMES))
        uri = f"{IMPORTED}{IMPORTED_NAMES[name]}"
        source = ImportSource(SourceType.OBJECT, uri, op.path.decode())
    request = ImportRequest((source,), "somebody", f"#{op.id}")
    actor.was_given(imports.start_import(actor.engine, REPO, op.branch, request))


def check_import(simulation: "Simulation", repository: Repository, task: Task) -> None:
    """The commit has the source's objects at the destination, and its parent's elsewhere."""
    commit_id = CommitID(task.result.get("commit_id", ""))
    if not commit_id:
        return
    parent = simulation.world.refs.records_of(repository).commits[commit_id].parents[0]
    (source,) = msgspec.convert(task.request, ImportRequest).sources
    expected = {
        path: simulation.value_in(repository, parent, path) for path in simulation.paths
    } | dict(_imported(simulation, source))
    for path, value in expected.items():
        found = simulation.value_in(repository, commit_id, path)
        if found != value:
            text = f"task {task.id} made {found} of {path!r}, not {value}"
            simulation.problem("import", text)


def _imported(
    simulation: "Simulation", source: ImportSource
) -> Iterator[tuple[bytes, Value | None]]:
    if source.is_object:
        yield source.path_prefix, Value(source.uri)
        return
    for path in simulation.paths:
        name = path.decode()
        yield path, Value(f"{IMPORTED}{name}") if name in IMPORTED_NAMES else None
