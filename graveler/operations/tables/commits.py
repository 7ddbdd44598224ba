"""Commits to tables: requirements are checked, updates applied, and the new metadata staged.

Theory of operation. A commit is a compare-and-swap of the entry that names the metadata file. It
reads the entry and the file, checks the requirements, applies the updates and writes a new file.
Then it stages an entry that names the new file, if nothing has changed since the read. Otherwise it
begins again with the current entry. So updates that require little, such as new properties, apply
to whatever another commit left, and a requirement that no longer holds is a conflict.

A commit to several tables stages all entries in one transaction. Readers see all of it or nothing.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from msgspec import Struct

from graveler.branches.staging import stage_together
from graveler.engine import Engine
from graveler.errors import ConflictError, ForbiddenError, InvalidInputError, NoTableError
from graveler.iceberg.creation import created_by_updates
from graveler.iceberg.places import (
    Namespace,
    is_in_location,
    is_uuid_for,
    new_uuid,
    table_location,
    table_path,
)
from graveler.iceberg.requirements import CREATION, check_requirements
from graveler.iceberg.shapes import Document
from graveler.iceberg.updates import apply_updates
from graveler.open_repository import OpenRepository
from graveler.operations.tables.metadata import (
    KEPT_FILES,
    IcebergTable,
    check_files,
    read_table,
    written,
)
from graveler.operations.tables.places import branch_of_tables, committed_event
from graveler.ports import CHANGES_TOGETHER_MAX
from graveler.times import NS_PER_MS


class TableChange(Struct, frozen=True):
    """The fields of a commit to one table, as Iceberg's REST catalogue has them."""

    namespace: Namespace
    table: str
    requirements: Sequence[Document]
    updates: Sequence[Document]

    @property
    def path(self) -> bytes:
        return table_path(self.namespace, self.table)

    @property
    def creates(self) -> bool:
        """Whether it makes a table that must not exist."""
        return any(each.get("type") == CREATION for each in self.requirements)


def commit_tables(
    engine: Engine, repository: str, ref: str, changes: Sequence[TableChange]
) -> Sequence[IcebergTable]:
    """Commit changes of distinct tables at one moment; return the tables as they are then.

    Raises:
        InvalidInputError: a change is malformed, is of another table's files, or occurs twice.
        NotFoundError: the repository or the ref does not exist.
        NoTableError: a table does not exist, and its change does not make it.
        ForbiddenError: the ref is no branch, the branch is protected, the repository is read-only,
            or a table's files are outside of its namespace, as after a copy of the namespace.
        ConflictError: a requirement does not hold.
        ContentionError: other writers came first in each try.
        UnknownOutcomeError: the changes may have been committed.
    """
    by_path = {change.path: change for change in changes}
    if not 0 < len(by_path) == len(changes) <= CHANGES_TOGETHER_MAX:
        raise InvalidInputError(
            f"a commit changes 1 to {CHANGES_TOGETHER_MAX} tables, each once: this one has "
            f"{len(changes)} changes, of {len(by_path)} tables"
        )
    paths = list(by_path)
    repo, branch, read = branch_of_tables(engine, repository, ref, *paths)
    tables: dict[bytes, IcebergTable] = {}
    # A try that failed because of something else has written the same file already.
    known: dict[tuple[bytes, bytes | None], tuple[IcebergTable, bytes | None]] = {}

    def make(values: Mapping[bytes, bytes | None]) -> Mapping[bytes, bytes | None]:
        made: dict[bytes, bytes | None] = {}
        for path, change in by_path.items():
            found = known.get((path, values[path]))
            if found is None:
                found = known[path, values[path]] = _named(repo, change, values[path])
            tables[path], new = found
            if new is not None:
                made[path] = new
        # Requirements of the other tables must hold at that moment, too: they are staged as they
        # are, and so the store checks that they have not changed.
        return {**values, **made} if made else {}

    single = read if len(paths) == 1 else None
    stage_together(repo, branch, paths, make, single, committed_event(repo, branch))
    return [tables[path] for path in paths]


def _named(
    repo: OpenRepository, change: TableChange, stored: bytes | None
) -> tuple[IcebergTable, bytes | None]:
    """Return what `_changed` does; a refusal names the table."""
    try:
        return _changed(repo, change, stored)
    except (ConflictError, InvalidInputError) as error:
        raise error.within(f"table {'.'.join((*change.namespace, change.table))}") from error


def _changed(
    repo: OpenRepository, change: TableChange, stored: bytes | None
) -> tuple[IcebergTable, bytes | None]:
    """Return the table after the change and its new stored value; None if it does not change."""
    time_ms = repo.engine.clock.now_ns() // NS_PER_MS
    if stored is None:
        if not change.creates:
            raise no_table(change.namespace, change.table)
        check_requirements(change.requirements, None)
        return written(repo, _created(repo, change, time_ms), None)
    base = read_table(repo, change.path, stored)
    namespace = repo.record.storage_namespace
    if not is_in_location(base.location, namespace):
        raise ForbiddenError(
            f"the table's files are in {base.location!r}, outside of the storage namespace "
            f"{namespace!r}: it can only be read; copy its rows to a new table"
        )
    check_requirements(change.requirements, base.metadata)
    metadata = apply_updates(
        base.metadata, change.updates, time_ms=time_ms, previous_file=base.metadata_location
    )
    if metadata is base.metadata:
        return base, None
    if metadata.get("table-uuid") != base.metadata.get("table-uuid"):
        raise InvalidInputError("update assign-uuid: the table has a UUID, which never changes")
    check_files(metadata, base.location)
    return written(repo, metadata, base)


def _created(repo: OpenRepository, change: TableChange, time_ms: int) -> Document:
    assigned = [each.get("uuid") for each in change.updates if each.get("action") == "assign-uuid"]
    uuid = str(assigned[-1]) if assigned else uuid_for(repo, change.path)
    key, owner = repo.engine.signing_key, repo.record.uid
    if not is_uuid_for(uuid, key, owner, change.path):
        raise InvalidInputError(
            f"UUID {uuid!r} was not made for this table: create it with stage-create, "
            "or leave assign-uuid out"
        )
    location = table_location(repo.record.storage_namespace, uuid)
    first = [
        {"action": "set-location", "location": location},
        {"action": "set-properties", "updates": KEPT_FILES},
    ]
    metadata = created_by_updates([*first, *change.updates], uuid=uuid, time_ms=time_ms)
    check_files(metadata, location)
    return metadata


def uuid_for(repo: OpenRepository, path: bytes) -> str:
    """Return a UUID for a new table at the path."""
    digits = sha256(repo.engine.names.new_uid().encode()).hexdigest()
    return new_uuid(repo.engine.signing_key, repo.record.uid, path, digits)


def no_table(namespace: Namespace, table: str) -> NoTableError:
    """Return the error for a table that does not exist."""
    return NoTableError(f"Table does not exist: {'.'.join((*namespace, table))}")
