"""The history of an object."""

from typing import Literal

from msgspec import Struct

from graveler.http.schemas.commits import CommitRow, commit_row
from graveler.operations.object_history import ObjectChange


class ObjectChangeRow(Struct, frozen=True):
    """A commit that changed an object; size and checksum of a removed object are the last ones."""

    type: Literal["added", "changed", "removed"]
    size_bytes: int
    checksum: str
    commit: CommitRow


def object_change_row(change: ObjectChange) -> ObjectChangeRow:
    shown = change.right or change.left
    assert shown is not None
    entry = shown.entry
    return ObjectChangeRow(change.kind, entry.size_bytes, entry.checksum, commit_row(change.commit))
