"""The nouns of the system as frozen records. Keys and stored values are bytes; names are str."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Generic, TypeVar

T = TypeVar("T")


class AddressType(IntEnum):
    """How an entry's physical address is written. Stored: do not change the numbers."""

    BY_PREFIX_DEPRECATED = 0
    RELATIVE = 1  # a key under the repository's storage namespace
    FULL = 2  # a whole URI, of an imported object


@dataclass(frozen=True, slots=True)
class Entry:
    """An object's metadata: what the path points to, and what a stat answers."""

    address: str
    address_type: AddressType
    size_bytes: int
    checksum: str
    last_modified_ns: int
    content_type: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProtectionRule:
    """Branches whose name matches the glob refuse the blocked actions."""

    pattern: str
    block_staging_write: bool = True
    block_commit: bool = True


@dataclass(frozen=True, slots=True)
class Repository:
    """A logical namespace of objects, branches, commits and tags.

    uid tells two repositories apart that had the same name at different times: every other
    record of the repository lives under it.
    """

    name: str
    uid: str
    storage_namespace: str  # an object-store URI without a trailing slash
    default_branch: str
    creation_date: int  # Unix seconds
    read_only: bool = False
    protection_rules: tuple[ProtectionRule, ...] = ()
    # A bare repository waits for a dump of refs: "" until the restore of one has begun, then its
    # name; None when it is not bare.
    restoring: str | None = None

    @property
    def is_bare(self) -> bool:
        """Whether it is still without the refs that are to be restored into it."""
        return self.restoring is not None


@dataclass(frozen=True, slots=True)
class Branch:
    """A movable name: a commit, and the staging tokens laid over it.

    version counts everything that moves the head or drops tokens; sealing a token only adds, and
    leaves it alone, so that a commit in its last step does not lose against writers that seal.
    edits counts staged changes that depend on what readers saw under this head: a merge that
    began before one of them must not finish after it.
    restored_token is the staging token under which changes were taken back last, "" if none were.
    """

    name: str
    commit_id: str
    staging_token: str
    sealed_tokens: tuple[str, ...] = ()  # newest first
    version: int = 0
    hidden: bool = False
    edits: int = 0
    restored_token: str = ""

    @property
    def has_restored(self) -> bool:
        """Whether changes were taken back under the branch's staging token."""
        return self.restored_token == self.staging_token

    @property
    def tokens(self) -> tuple[str, ...]:
        """Every staging token, newest first: the order in which reads look."""
        return (self.staging_token, *self.sealed_tokens)


@dataclass(frozen=True, slots=True)
class Tag:
    """An immutable name for a commit."""

    name: str
    commit_id: str


@dataclass(frozen=True, slots=True)
class Commit:
    """An immutable snapshot: a metarange, its parents, and why it was made.

    The ID is a digest of the rest, less generation and version (`graveler.identity.commit_id`).
    """

    id: str
    committer: str
    message: str
    metarange_id: str  # "" for the first commit of a repository: no objects, no file
    creation_date: int  # Unix seconds
    parents: tuple[str, ...]
    metadata: Mapping[str, str] = field(default_factory=dict)
    generation: int = 1
    version: int = 1


@dataclass(frozen=True, slots=True)
class Event:
    """A fact to be told to the outside, stored in the same transaction as the change it reports.

    kind is an append-only code such as `commit_created`.
    """

    id: str
    kind: str
    repository: str
    time_ns: int
    detail: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Task:
    """Work that a client started and asks about: done with a result, done with an error, or not.

    The ID begins with letters that say what kind of work it is.
    """

    id: str
    update_time_ns: int
    is_done: bool = False
    result: Mapping[str, str] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a listing; next_after is exclusive and "" when there is no more."""

    results: tuple[T, ...]
    next_after: str = ""

    @property
    def has_more(self) -> bool:
        return self.next_after != ""


@dataclass(frozen=True, slots=True)
class RangeHeader:
    """A range as its metarange describes it: identity and key interval, without its records."""

    id: str
    min_key: bytes
    max_key: bytes
    count: int
    size_bytes: int


# A stored value is lakeFS's `Value` encoding (`graveler.entries`): identity, then data.
# A record is what SSTables hold; a change is what staging holds, None marking a tombstone.
Record = tuple[bytes, bytes]
Change = tuple[bytes, bytes | None]
