"""Copies and moves of prefixes."""

from typing import Literal

from msgspec import Struct


class PrefixMove(Struct, frozen=True):
    src_prefix: str
    if_exists: Literal["fail", "skip", "overwrite"] = "fail"
    force: bool = False


class PrefixCopy(PrefixMove, frozen=True):
    src_ref: str = ""
