"""Changes of branches: creation, reset, revert, cherry-pick."""

from typing import Annotated, Literal

from msgspec import Meta, Struct


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
