"""A conflict of a table: which side of a merge has all of its rows."""

from graveler.diff.three_way import SourceChange
from graveler.errors import GravelerError
from graveler.iceberg.merging import has_equal_rows
from graveler.iceberg.metadata import current_snapshot_id
from graveler.iceberg.places import name_of
from graveler.iceberg.shapes import Document
from graveler.messages import Refusal
from graveler.open_repository import OpenRepository
from graveler.operations.tables.metadata import read_table


def winner(repo: OpenRepository, found: SourceChange, strategy: str) -> str:
    """Return the strategy that keeps all rows; "" leaves the conflict to that of the merge.

    Raises:
        MergeConflictError: there is none, and the merge has no strategy; the details name the table
            and the snapshots.
    """
    sides = _sides(repo, found)
    if sides is None:
        return ""
    at_base, at_source, at_destination = sides
    if has_equal_rows(at_base, at_source):
        return "dest-wins"
    if has_equal_rows(at_base, at_destination):
        return "source-wins"
    if strategy:
        return ""
    raise Refusal.CONFLICT_FOUND.error(
        f"both sides changed table {name_of(found.change.key)}, {found.change.key.decode()!r}: "
        f"snapshot {current_snapshot_id(at_source)} of the source and "
        f"{current_snapshot_id(at_destination)} of the destination"
    )


def _sides(repo: OpenRepository, found: SourceChange) -> tuple[Document, Document, Document] | None:
    """Return the metadata of base, source and destination; None if they are not of one table."""
    path, values = found.change.key, (found.change.left, found.change.right, found.destination)
    if not name_of(path):
        return None
    try:
        base, source, destination = (
            None if value is None else read_table(repo, path, value).metadata for value in values
        )
    except GravelerError:
        return None  # the entries conflict, whatever they name
    if base is None or source is None or destination is None:
        return None
    is_one_table = (
        base.get("table-uuid") == source.get("table-uuid") == destination.get("table-uuid")
    )
    return (base, source, destination) if is_one_table else None
