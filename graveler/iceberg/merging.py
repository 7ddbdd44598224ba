"""Merges of a table that two branches changed since they parted."""

from graveler.iceberg.metadata import MAIN, current_snapshot_id
from graveler.iceberg.shapes import Document

# What a snapshot brings with itself. All else of two metadata must be equal.
_OF_SNAPSHOTS = frozenset(
    {
        "snapshots",
        "snapshot-log",
        "metadata-log",
        "last-updated-ms",
        "last-sequence-number",
        "next-row-id",
        "current-snapshot-id",
        "refs",
    }
)


def has_equal_rows(base: Document, later: Document) -> bool:
    """Whether the later metadata of a table have the rows, and all else, of the base.

    They may have further snapshots, each a `replace`: it wrote the same rows to other files, as a
    compaction does (https://iceberg.apache.org/spec/#optional-snapshot-fields).
    """
    known = {each["snapshot-id"]: each for each in base["snapshots"]}
    found = {each["snapshot-id"]: each for each in later["snapshots"]}
    if any(found.get(number) != each for number, each in known.items()):
        return False  # snapshots were removed
    if _without(base) != _without(later) or _other_refs(base) != _other_refs(later):
        return False
    current, until = current_snapshot_id(later), current_snapshot_id(base)
    while current != until:
        snapshot = found.get(-1 if current is None else current)
        if snapshot is None or snapshot.get("summary", {}).get("operation") != "replace":
            return False
        found.pop(snapshot["snapshot-id"])
        current = snapshot.get("parent-snapshot-id")
    return found.keys() <= known.keys()


def _without(metadata: Document) -> Document:
    return {name: value for name, value in metadata.items() if name not in _OF_SNAPSHOTS}


def _other_refs(metadata: Document) -> Document:
    return {name: ref for name, ref in metadata["refs"].items() if name != MAIN}
