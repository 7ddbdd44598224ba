"""Commits."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from graveler.http.schemas.fields import Count, UnixTime
from graveler.model import Commit, CommitID, MetaRangeID


class CommitCreation(Struct, frozen=True):
    message: str
    metadata: dict[str, str] = {}
    date: UnixTime | None = None
    allow_empty: bool = False
    force: bool = False


class CommitRecordCreation(Struct, frozen=True):
    commit_id: CommitID
    version: Annotated[int, Meta(ge=0, le=1)]
    committer: str
    message: str
    metarange_id: MetaRangeID
    creation_date: UnixTime
    parents: list[CommitID]
    generation: Count
    metadata: dict[str, str] = {}
    force: bool = False


class CommitRow(Struct, frozen=True):
    id: str
    parents: Sequence[str]
    committer: str
    message: str
    creation_date: int
    meta_range_id: str
    metadata: Mapping[str, str]
    generation: int
    version: int


def commit_row(commit: Commit) -> CommitRow:
    return CommitRow(
        commit.id,
        commit.parents,
        commit.committer,
        commit.message,
        commit.creation_date,
        commit.metarange_id,
        commit.metadata,
        commit.generation,
        commit.version,
    )
