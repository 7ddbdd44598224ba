"""Updates of snapshots, of the refs that name them, and of their statistics."""

from collections.abc import Callable

from graveler.errors import ConflictError, InvalidInputError
from graveler.iceberg.draft import Draft
from graveler.iceberg.metadata import MAIN
from graveler.iceberg.shapes import (
    Document,
    PartitionStatisticsFile,
    SnapshotRef,
    TableSnapshot,
    checked,
    field,
    stored,
)


def add_snapshot(draft: Draft, update: Document) -> None:
    """Add a snapshot, which no ref names yet.

    Raises:
        ConflictError: its sequence number or first row ID is stale, because of another commit.
    """
    snapshot = field(update, "snapshot", TableSnapshot)
    snapshot_id = snapshot.snapshot_id
    if any(each["snapshot-id"] == snapshot_id for each in draft.fields["snapshots"]):
        raise InvalidInputError(f"snapshot {snapshot_id} exists already")
    if draft.version > 1:
        last = draft.fields["last-sequence-number"]
        if snapshot.sequence_number <= last and snapshot.parent_snapshot_id is not None:
            raise ConflictError(
                f"snapshot {snapshot_id} has sequence-number {snapshot.sequence_number}, but the "
                f"table's last is {last}: load the table and commit again"
            )
        draft.fields["last-sequence-number"] = max(last, snapshot.sequence_number)
    if draft.version > 2:
        _assign_rows(draft, snapshot)
    draft.fields["snapshots"] = [*draft.fields["snapshots"], stored(update["snapshot"])]
    draft.added_snapshots[snapshot_id] = snapshot.timestamp_ms


def _assign_rows(draft: Draft, snapshot: TableSnapshot) -> None:
    first, added, following = (
        snapshot.first_row_id,
        snapshot.added_rows,
        draft.fields["next-row-id"],
    )
    if first is None or added is None:
        raise InvalidInputError(f"snapshot {snapshot.snapshot_id} lacks first-row-id or added-rows")
    if first < following:
        raise ConflictError(
            f"snapshot {snapshot.snapshot_id} has first-row-id {first}, but the table's "
            f"next-row-id is {following}: load the table and commit again"
        )
    draft.fields["next-row-id"] = first + added


def set_ref(draft: Draft, update: Document) -> None:
    """Make a branch or tag name a snapshot; the branch main names the current one."""
    name = field(update, "ref-name", str)
    ref = checked(update, SnapshotRef, "the ref")
    new = stored(update, action=None, ref_name=None)
    if draft.fields["refs"].get(name) == new:
        return
    if all(each["snapshot-id"] != ref.snapshot_id for each in draft.fields["snapshots"]):
        raise InvalidInputError(f"ref {name!r} names unknown snapshot {ref.snapshot_id}")
    draft.fields["refs"] = {**draft.fields["refs"], name: new}
    if name == MAIN:
        draft.fields["current-snapshot-id"] = ref.snapshot_id
        draft.new_mains.append(ref.snapshot_id)


def remove_ref(draft: Draft, update: Document) -> None:
    """Remove a branch or tag, if it exists; without main, the table has no current snapshot."""
    _remove_refs(draft, {field(update, "ref-name", str)} & draft.fields["refs"].keys())


def remove_snapshots(draft: Draft, update: Document) -> None:
    """Remove those of the snapshots that exist, with their refs and statistics."""
    removed = set(field(update, "snapshot-ids", list[int]))
    for name in ("snapshots", "statistics", "partition-statistics"):
        draft.replace(name, without=lambda each: each["snapshot-id"] in removed)
    refs = draft.fields["refs"].items()
    _remove_refs(draft, {name for name, ref in refs if ref["snapshot-id"] in removed})


def _remove_refs(draft: Draft, names: set[str]) -> None:
    if names:
        refs = draft.fields["refs"].items()
        draft.fields["refs"] = {name: ref for name, ref in refs if name not in names}
    if MAIN in names:
        draft.fields["current-snapshot-id"] = None


def setting(name: str, kind: type[PartitionStatisticsFile]) -> Callable[[Draft, Document], None]:
    """Return the update that sets the file of a snapshot in a list of statistics files."""

    def update_list(draft: Draft, update: Document) -> None:
        snapshot_id = field(update, name, kind).snapshot_id
        new = stored(update[name])
        draft.replace(name, without=lambda each: each["snapshot-id"] == snapshot_id, new=new)

    return update_list


def removing(name: str) -> Callable[[Draft, Document], None]:
    """Return the update that removes the file of a snapshot from a list of statistics files."""

    def update_list(draft: Draft, update: Document) -> None:
        snapshot_id = field(update, "snapshot-id", int)
        draft.replace(name, without=lambda each: each["snapshot-id"] == snapshot_id)

    return update_list
