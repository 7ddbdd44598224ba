"""The jobs of transfers, their options, and the tally of a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from graveler_cli.errors import CommandError
from graveler_cli.schemas import ObjectStats
from graveler_cli.transfers.content_types import type_of
from graveler_cli.transfers.files import Links, TargetFolder

# lakectl's metadata about the file that an object was uploaded from.
CLIENT_MTIME_KEY = "::lakefs::client-mtime"
SYMLINK_TARGET_KEY = "::lakefs::symlink-target"

PARALLELISM = 25
PART_BYTES = 8 * 1024 * 1024
PART_BYTES_MIN = 64 * 1024


@dataclass(frozen=True, slots=True)
class TransferOptions:
    """The options of transfers."""

    parallelism: int = PARALLELISM
    # None: presigned URLs where they save time, and the server has them.
    pre_sign: bool | None = None
    part_bytes: int = PART_BYTES  # of downloads; uploads choose by the size of the file
    verifies: bool = True  # whether downloads are compared with the checksums of the objects


@dataclass(frozen=True, slots=True)
class UploadJob:
    """Store a file, or these bytes, as an object."""

    path: str
    source: Path | bytes
    metadata: Mapping[str, str] = field(default_factory=dict)
    given_type: str = ""  # "": by the name

    @property
    def content_type(self) -> str:
        """The MIME type: the given one, or that of the file's name or else of the object's."""
        names = (self.path,) if isinstance(self.source, bytes) else (self.source.name, self.path)
        return self.given_type or type_of(*names)


@dataclass(frozen=True, slots=True)
class DownloadJob:
    """Store an object as a file; an older file or link of the same name is replaced."""

    path: str
    target: Path
    stats: ObjectStats
    mtime_s: int | None = None  # the file's modification time; None: now
    links: Links = field(default_factory=Links)  # how objects that are links are stored
    folder: TargetFolder | None = None  # the folder that must contain the target


@dataclass(frozen=True, slots=True)
class ImpossibleJob:
    """A job that cannot be done; it is counted and reported as a failure."""

    path: str
    error: CommandError


Job = UploadJob | DownloadJob | ImpossibleJob


@dataclass(slots=True)
class TransferTally:
    """Numbers of the jobs that succeeded and failed."""

    uploaded: int = 0
    downloaded: int = 0
    removed: int = 0
    failed: int = 0
    without_data: int = 0  # of those that failed
    impossible: int = 0  # of those that failed, too
    size_bytes: int = 0

    @property
    def done(self) -> int:
        """How many jobs succeeded."""
        return self.uploaded + self.downloaded + self.removed

    @property
    def advice(self) -> str:
        """What to do about the failures."""
        if self.failed == self.without_data:
            return "their data are missing or replaced"
        if self.failed == self.impossible:
            return "no file can have their names"
        return "run the command again"
