"""The repository, the ref and the branch of a request about tables."""

from collections.abc import Mapping
from contextlib import suppress

from graveler.branches.lookup import StagedRead, current_path, in_repository
from graveler.branches.protection import check_can_stage
from graveler.branches.staging import MakeEvent
from graveler.branches.views import object_stat, read_value, view_of_ref
from graveler.engine import Engine
from graveler.errors import ForbiddenError, NotFoundError
from graveler.iceberg.places import SYSTEM, SYSTEM_NAMESPACE, name_of, namespace_folder
from graveler.model import Branch, Event
from graveler.names import is_branch_name
from graveler.open_repository import OpenRepository

_SYSTEM_FOLDER = namespace_folder(SYSTEM_NAMESPACE)


def value_at(
    engine: Engine, repository: str, ref: str, path: bytes
) -> tuple[OpenRepository, bytes | None]:
    """Return the repository, and the stored value at the path; None if the ref has no object there.

    Raises:
        InvalidInputError: a name or the ref is malformed.
        NotFoundError: the repository or the ref does not exist.
    """

    def read(repo: OpenRepository) -> tuple[OpenRepository, bytes | None]:
        return repo, read_value(repo, ref, path)

    return in_repository(engine, repository, read)


def branch_of_tables(
    engine: Engine, repository: str, ref: str, path: bytes, *others: bytes
) -> tuple[OpenRepository, Branch, StagedRead | None]:
    """Return the repository and the branch, if the paths of tables may be changed there.

    Returns:
        As the third, the change that is staged at the first path, as `current_path` returns it.

    Raises:
        InvalidInputError: a name is malformed.
        NotFoundError: the repository or the ref does not exist.
        ForbiddenError: a path is in the namespace `system`, the ref is no branch, the branch is
            protected, or the repository read-only.
    """
    if any(each.startswith(_SYSTEM_FOLDER) for each in (path, *others)):
        raise ForbiddenError(f"namespace {SYSTEM!r} can only be read: take another name")
    if is_branch_name(ref):
        with suppress(NotFoundError):
            repo, branch, read = current_path(engine, repository, ref, path)
            check_can_stage(repo.record, ref, force=False)
            return repo, branch, read
    in_repository(engine, repository, lambda repo: view_of_ref(repo, ref))
    raise ForbiddenError(f"{ref!r} is not a branch: its tables can only be read")


def committed_event(repo: OpenRepository, branch: Branch) -> MakeEvent:
    """Return what makes the event *Table Committed* of new values of tables."""

    def event(changed: Mapping[bytes, bytes | None]) -> Event:
        tables = [_described(repo, path, value) for path, value in changed.items()]
        return repo.event("table_committed", branch=branch.name, tables=tables)

    return event


def _described(repo: OpenRepository, path: bytes, value: bytes | None) -> dict[str, object]:
    """Return a table as an event names it, dropped if there is no value."""
    described: dict[str, object] = {"table": name_of(path), "is_dropped": value is None}
    if value is not None:
        found = object_stat(repo.record, path, value)
        described["metadata_location"] = found.physical_address
        described |= {
            name.removeprefix("iceberg-").replace("-", "_"): text
            for name, text in found.entry.metadata.items()
        }
    return described
