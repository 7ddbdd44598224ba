"""Merges of tables that both sides changed: one of the sides may have changed no rows.

A table is one object, whose entry names its metadata file. If both sides of a merge changed it, the
entries conflict. But if one side only compacted the table, the other side has all rows. So that
side wins, and the compaction can be repeated.
"""

from collections.abc import Mapping

from graveler.branches.changes import MergedSource, opened_base
from graveler.committed.metarange import MetaRange
from graveler.diff.three_way import Meeting, SourceChange, source_changes
from graveler.diff.virtual_base import changes_since
from graveler.errors import GravelerError
from graveler.iceberg.merging import has_equal_rows
from graveler.iceberg.metadata import current_snapshot_id
from graveler.iceberg.places import name_of
from graveler.iceberg.shapes import Document
from graveler.layout import TABLES_PREFIX
from graveler.messages import Refusal
from graveler.open_repository import OpenRepository
from graveler.operations.tables.metadata import read_table
from graveler.staging.listing import prefix_end


def settled_tables(
    repo: OpenRepository, merged: MergedSource, destination: MetaRange
) -> Mapping[str, str]:
    """Return the strategy for each table in conflict of which one side has all rows, by path.

    Raises:
        MergeConflictError: both sides changed the rows of a table, and the merge has no strategy
            for it; the details name the table and the snapshots.
        CorruptDataError: a file is missing, or is not what was written.
    """
    if destination.id == merged.since:
        return {}  # only the source changed something
    base, source = opened_base(repo, merged.since), repo.metarange(merged.theirs)
    end = prefix_end(TABLES_PREFIX)
    found: dict[str, str] = {}
    for each in source_changes(changes_since(base, source, TABLES_PREFIX, end), destination):
        path = each.change.key.decode()
        name = name_of(each.change.key)
        if each.meeting is not Meeting.CONFLICT or path in merged.resolutions or not name:
            continue
        sides = _sides(repo, each)
        if sides is None:
            continue
        at_base, at_source, at_destination = sides
        if has_equal_rows(at_base, at_source):
            found[path] = "dest-wins"
        elif has_equal_rows(at_base, at_destination):
            found[path] = "source-wins"
        elif not merged.strategy:
            raise Refusal.CONFLICT_FOUND.error(
                f"both sides changed table {name}: snapshot {current_snapshot_id(at_source)} of "
                f"the source and {current_snapshot_id(at_destination)} of the destination"
            )
    return found


def _sides(repo: OpenRepository, found: SourceChange) -> tuple[Document, Document, Document] | None:
    """Return the metadata of base, source and destination; None if they are not of one table."""
    values = [found.change.left, found.change.right, found.destination]
    try:
        read = [
            read_table(repo, found.change.key, value).metadata
            for value in values
            if value is not None
        ]
    except GravelerError:
        return None  # the entries conflict, whatever they name
    if len(read) < len(values) or len({each.get("table-uuid") for each in read}) > 1:
        return None
    return read[0], read[1], read[2]
