"""Merges of tables that both sides changed: one of the sides may have changed no rows.

A table is one object, whose entry names its metadata file. If both sides of a merge changed it, the
entries conflict. But if one side only compacted the table, the other side has all rows. So that
side wins, and the compaction can be repeated.
"""

from collections.abc import Mapping

from graveler.branches.changes import MergedSource, opened_base
from graveler.committed.metarange import MetaRange
from graveler.diff.three_way import Meeting, source_changes
from graveler.diff.virtual_base import changes_since
from graveler.layout import TABLES_PREFIX
from graveler.open_repository import OpenRepository
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
    changes = changes_since(base, source, TABLES_PREFIX, prefix_end(TABLES_PREFIX))
    conflicts = [
        each
        for each in source_changes(changes, destination)
        if each.meeting is Meeting.CONFLICT and each.change.key.decode() not in merged.resolutions
    ]
    if not conflicts:
        return {}
    # Few merges have such conflicts, and a start does not wait for Iceberg's modules.
    from graveler.operations.tables.conflicts import winner  # noqa: PLC0415

    winners = {each.change.key.decode(): winner(repo, each, merged.strategy) for each in conflicts}
    return {path: found for path, found in winners.items() if found}
