"""Copies, moves, restores, deletions and totals of prefixes."""

from typing import Literal

from msgspec import Struct


class PrefixTotal(Struct, frozen=True):
    """The objects and bytes of a prefix, or of its part before next_offset."""

    objects: int
    size_bytes: int
    has_more: bool
    next_offset: str


class PrefixMove(Struct, frozen=True):
    src_prefix: str
    if_exists: Literal["fail", "skip", "overwrite"] = "fail"
    force: bool = False


class PrefixCopy(PrefixMove, frozen=True):
    src_ref: str = ""


class PrefixDeletion(Struct, frozen=True):
    prefix: str
    force: bool = False


class PrefixRestore(PrefixDeletion, frozen=True, kw_only=True):
    ref: str
