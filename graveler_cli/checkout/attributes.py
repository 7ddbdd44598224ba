"""The file's attributes in the metadata of its object, in lakectl's form."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

import msgspec

from graveler_cli.checkout.walk import FileEntry, TrackingRules
from graveler_cli.errors import CommandError
from graveler_cli.schemas import ObjectStats
from graveler_cli.transfers.comparing import has_other_content, may_be_newer
from graveler_cli.transfers.files import LocalFile
from graveler_cli.transfers.jobs import CLIENT_MTIME_KEY, SYMLINK_TARGET_KEY

PERMISSIONS_KEY = "::lakefs::posix-permissions"


class Permissions(msgspec.Struct, frozen=True):
    """The owner and the mode of a file, with lakectl's names."""

    user: int = msgspec.field(name="UID")
    group: int = msgspec.field(name="GID")
    mode: int = msgspec.field(name="Mode")


def metadata_of(entry: FileEntry, rules: TrackingRules) -> dict[str, str]:
    """Return the metadata for an object that is uploaded from this entry."""
    metadata = {CLIENT_MTIME_KEY: str(entry.mtime_s)}
    if entry.link is not None:
        metadata[SYMLINK_TARGET_KEY] = entry.link
    elif rules.has_permissions:
        permissions = Permissions(entry.user, entry.group, entry.mode)
        metadata[PERMISSIONS_KEY] = msgspec.json.encode(permissions).decode()
    return metadata


def mtime_s(stats: ObjectStats) -> int:
    """Return the modification time of the file that was uploaded, else the object's."""
    try:
        return int(_metadata(stats).get(CLIENT_MTIME_KEY, stats.mtime))
    except ValueError:
        return stats.mtime


def link_of(stats: ObjectStats) -> str | None:
    """Return where the link that was uploaded points to; None if the object is not a link."""
    return _metadata(stats).get(SYMLINK_TARGET_KEY)


def permissions_of(stats: ObjectStats) -> Permissions | None:
    """Return the permissions of the file that was uploaded; None if unknown."""
    text = _metadata(stats).get(PERMISSIONS_KEY)
    try:
        return msgspec.json.decode(text, type=Permissions) if text else None
    except msgspec.DecodeError:
        return None


def differs(entry: FileEntry, stats: ObjectStats, rules: TrackingRules) -> bool:
    """Return whether an entry differs from the uploaded file, without reading its content."""
    if entry.link is not None:
        return entry.link != link_of(stats)
    if not entry.path.endswith("/") and entry.size_bytes != (stats.size_bytes or 0):
        return True
    if entry.mtime_s != mtime_s(stats):
        return True
    if not rules.has_permissions:
        return False
    # lakectl takes unknown permissions for a difference.
    found = permissions_of(stats) or Permissions(0, 0, 0)
    return (
        entry.mode != found.mode
        or (rules.has_users and entry.user != found.user)
        or (rules.has_groups and entry.group != found.group)
    )


def is_newer(root: Path, entry: FileEntry, stats: ObjectStats) -> bool:
    """Return whether a file of a folder, the root, differs though size and time do not."""
    mtime_ns = entry.mtime_s * 10**9 + entry.fraction_ns
    if entry.link is not None or entry.path.endswith("/") or not may_be_newer(mtime_ns, stats):
        return False
    file = root / entry.path
    try:
        return has_other_content(LocalFile(entry.path, file, file.stat()), stats)
    except (CommandError, OSError):
        return True  # the upload says why it cannot be read


def usual_permissions(*, folder: bool) -> Permissions:
    """Return the permissions of a new file or folder of this process."""
    umask = os.umask(0)
    os.umask(umask)
    kind, mode = (stat.S_IFDIR, 0o777) if folder else (stat.S_IFREG, 0o666)
    return Permissions(os.getuid(), os.getgid(), kind | (mode & ~umask))


def _metadata(stats: ObjectStats) -> Mapping[str, str]:
    return stats.metadata or {}
