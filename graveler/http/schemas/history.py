"""The history of an object, and the last commits of a listing."""

from typing import Literal

from msgspec import Struct

from graveler.http.schemas.commits import CommitRow, commit_row
from graveler.http.schemas.fields import text_of
from graveler.operations.last_commits import LastCommit
from graveler.operations.object_history import ObjectChange


class ObjectChangeRow(Struct, frozen=True):
    """A commit that changed an object; size and checksum of a removed object are the last ones."""

    type: Literal["added", "changed", "removed"]
    size_bytes: int
    checksum: str
    commit: CommitRow


class LastCommitRow(Struct, frozen=True):
    """An object or a folder, and the last commit that changed it."""

    path: str
    path_type: Literal["object", "common_prefix"]
    commit: CommitRow


def object_change_row(change: ObjectChange) -> ObjectChangeRow:
    shown = change.right or change.left
    assert shown is not None
    entry = shown.entry
    return ObjectChangeRow(change.kind, entry.size_bytes, entry.checksum, commit_row(change.commit))


def last_commit_row(found: LastCommit) -> LastCommitRow:
    return LastCommitRow(
        text_of(found.path),
        "common_prefix" if found.is_folder else "object",
        commit_row(found.commit),
    )
