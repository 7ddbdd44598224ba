"""Branches, and their changes: creation, reset, revert, cherry-pick."""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

from graveler.http.schemas.commits import CommitRow, commit_row
from graveler.model import Branch, Commit, CommitID


class BranchRow(Struct, frozen=True, omit_defaults=True):
    id: str
    commit_id: str
    commit: CommitRow | None = None


def branch_row(branch: Branch, heads: Mapping[CommitID, Commit] | None) -> BranchRow:
    """Return the row; with its head's commit, if heads has them."""
    commit = None if heads is None else commit_row(heads[branch.commit_id])
    return BranchRow(branch.name, branch.commit_id, commit)


class BranchCreation(Struct, frozen=True):
    name: str
    source: str
    force: bool = False
    hidden: bool = False


class ResetCreation(Struct, frozen=True):
    type: Literal["object", "common_prefix", "reset"]
    path: str = ""
    force: bool = False


class CommitOverrides(Struct, frozen=True):
    message: str = ""
    metadata: dict[str, str] = {}


class RevertCreation(Struct, frozen=True):
    ref: str
    parent_number: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    commit_overrides: CommitOverrides = CommitOverrides()
    force: bool = False
    allow_empty: bool = False


class CherryPickCreation(Struct, frozen=True):
    ref: str
    parent_number: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    commit_overrides: CommitOverrides = CommitOverrides()
    force: bool = False
