"""Dumps of refs, and restores."""

from msgspec import Struct

from graveler.dump.files import RefsDump
from graveler.model import MetaRangeID


class RefsDumpBody(Struct, frozen=True, kw_only=True):
    commits_meta_range_id: MetaRangeID
    tags_meta_range_id: MetaRangeID
    branches_meta_range_id: MetaRangeID


class RefsRestore(RefsDumpBody, frozen=True, kw_only=True):
    force: bool = False


class TaskStatus(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The status of a dump or a restore; refs are set after a successful dump only."""

    id: str
    done: bool
    update_time: str
    error: str = ""
    refs: RefsDumpBody | None = None


def dump_body(dumped: RefsDump) -> RefsDumpBody:
    return RefsDumpBody(
        commits_meta_range_id=dumped.commits_id,
        tags_meta_range_id=dumped.tags_id,
        branches_meta_range_id=dumped.branches_id,
    )


def dump_of(body: RefsDumpBody) -> RefsDump:
    """Return the dump that a body names."""
    return RefsDump(
        commits_id=body.commits_meta_range_id,
        branches_id=body.branches_meta_range_id,
        tags_id=body.tags_meta_range_id,
    )
