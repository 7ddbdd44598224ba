"""Branches and tags as refs, merges and differences of refs."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from graveler.http.schemas.fields import NonEmpty
from graveler.http.schemas.objects import shown_content_type
from graveler.model import Branch, Entry, Tag
from graveler.operations.merge_bases import Relation
from graveler.times import NS_PER_S


class Ref(Struct, frozen=True):
    id: str
    commit_id: str


def ref_row(named: Branch | Tag) -> Ref:
    return Ref(named.name, named.commit_id)


class Merge(Struct, frozen=True):
    message: str = ""
    metadata: dict[str, str] = {}
    strategy: str = ""
    force: bool = False
    allow_empty: bool = False
    squash_merge: bool = False
    # By path, the side whose object is taken in its conflict.
    resolutions: dict[str, Literal["source-wins", "dest-wins"]] = {}
    source_commit_id: NonEmpty | None = None


class MergeResult(Struct, frozen=True, omit_defaults=True):
    """The commit of a merge; of a conflict, no reference, and what both sides changed."""

    reference: str
    details: str = ""


class MergeBase(Struct, frozen=True, omit_defaults=True):
    """How two refs relate; is_exact is false if the counts ended early."""

    source_commit_id: str
    destination_commit_id: str
    base_commit_id: str
    ahead: int | None = None
    behind: int | None = None
    is_exact: bool | None = None


def merge_base(found: Relation) -> MergeBase:
    commits = found.source_id, found.destination_id, found.base_id
    distance = found.distance
    if distance is None:
        return MergeBase(*commits)
    return MergeBase(*commits, distance.ahead, distance.behind, distance.is_exact)


class RightStats(Struct, frozen=True):
    checksum: str
    mtime: int
    content_type: str
    metadata: Mapping[str, str]


def right_stats(entry: Entry) -> RightStats:
    return RightStats(
        entry.checksum,
        entry.last_modified_ns // NS_PER_S,
        shown_content_type(entry),
        entry.metadata,
    )


class DiffRow(Struct, frozen=True, omit_defaults=True):
    type: str
    path: str
    path_type: str
    size_bytes: int | None = None
    right: RightStats | None = None


class StorageUri(Struct, frozen=True):
    location: str
