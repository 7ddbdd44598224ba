"""The records of the domain, all frozen. Keys and stored values are bytes; names are str."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Generic, NewType, TypeVar

from msgspec import Struct

T = TypeVar("T")

# IDs are texts. Each kind has its own type, so that mypy refuses one in place of another.
RepositoryUID = NewType("RepositoryUID", str)
CommitID = NewType("CommitID", str)
MetaRangeID = NewType("MetaRangeID", str)
RangeID = NewType("RangeID", str)
StagingToken = NewType("StagingToken", str)

NO_COMMIT = CommitID("")
NO_TOKEN = StagingToken("")
# The metarange of a repository's first commit: without objects, and without a file.
EMPTY_METARANGE = MetaRangeID("")


class AddressType(IntEnum):
    """The form of an entry's physical address. The numbers are stored: do not change them."""

    BY_PREFIX_DEPRECATED = 0
    RELATIVE = 1  # a key under the repository's storage namespace
    FULL = 2  # a complete URI, of an imported object


# A frozen dataclass takes fifteen times as long to make, and pages have a thousand entries.
class Entry(Struct, frozen=True, gc=False):
    """An object's metadata: the target of a path, and the answer to a stat."""

    address: str
    address_type: AddressType
    size_bytes: int
    checksum: str
    last_modified_ns: int
    content_type: str = ""
    metadata: Mapping[str, str] = {}


class ProtectionRule(Struct, frozen=True):
    """Branches whose name matches the glob refuse the blocked actions.

    lakeFS's rule is the pattern alone, and its clients write back what they read. A missing field
    blocks. So a client that drops a field may refuse more, and never less.

    required_approvals: the approvals that a pull request needs to be merged there. If it is not 0,
        only pull requests are merged.
    """

    pattern: str
    block_staging_write: bool = True
    block_commit: bool = True
    required_approvals: int = 0


class Repository(Struct, frozen=True):
    """A logical namespace of objects, branches, commits and tags.

    uid distinguishes repositories that had one name at different times. All other records of the
    repository are stored under it.
    """

    name: str
    uid: RepositoryUID
    storage_namespace: str  # an object-store URI without a trailing slash
    default_branch: str
    creation_date: int  # Unix seconds
    read_only: bool = False
    protection_rules: tuple[ProtectionRule, ...] = ()
    # Of a bare repository, which waits for a dump of refs. "" until a restore begins, then the name
    # of the dump. None if the repository is not bare.
    restoring: str | None = None

    @property
    def is_bare(self) -> bool:
        """Whether its refs have not been restored yet."""
        return self.restoring is not None


class Branch(Struct, frozen=True):
    """A movable name for a commit, with staging tokens over it.

    version is raised by each change that moves the head or removes tokens. Sealing a token does not
    raise it. So a commit in its last step does not lose to writers that seal.
    edits counts staged changes that depend on what readers saw under this head. A merge that began
    before such a change must not finish after it.
    clean_moves counts moves of the head that had to find nothing staged. Of a writer that decided
    before such a move and was missed by it, the change is decided again.
    restored_token is the staging token under which changes were last restored, "" if none were.
    uid distinguishes branches that had one name at different times. It is "" for all branches that
    versions without identities made.
    """

    name: str
    commit_id: CommitID
    staging_token: StagingToken
    sealed_tokens: tuple[StagingToken, ...] = ()  # newest first
    version: int = 0
    hidden: bool = False
    edits: int = 0
    clean_moves: int = 0
    restored_token: StagingToken = NO_TOKEN
    uid: str = ""

    @property
    def has_restored(self) -> bool:
        """Whether changes were restored under the branch's staging token."""
        return self.restored_token == self.staging_token

    @property
    def tokens(self) -> tuple[StagingToken, ...]:
        """All staging tokens, newest first: the order in which readers try them."""
        return (self.staging_token, *self.sealed_tokens)


class Tag(Struct, frozen=True):
    """An immutable name for a commit."""

    name: str
    commit_id: CommitID


class Commit(Struct, frozen=True):
    """An immutable snapshot: a metarange, parents, and a message.

    The ID is a digest of the other fields but generation and version
    (`graveler.identity.commit_id`).
    """

    id: CommitID
    committer: str
    message: str
    metarange_id: MetaRangeID
    creation_date: int  # Unix seconds
    parents: tuple[CommitID, ...]
    metadata: Mapping[str, str] = {}
    generation: int = 1
    version: int = 1


class Requirement(Struct, frozen=True):
    """What a write requires of the object that readers see at its path; by default nothing.

    is_absent: there is none, as `If-None-Match: *` demands.
    is_present: there is one, as `If-Match: *` demands.
    checksums: there is one with one of these checksums, as `If-Match` with entity tags demands.
    """

    is_absent: bool = False
    is_present: bool = False
    checksums: frozenset[str] | None = None


NO_REQUIREMENT = Requirement()


class Event(Struct, frozen=True):
    """A fact to publish, stored in the same transaction as the change that it describes.

    kind is a code such as `commit_created`; codes are only added.
    """

    id: str
    kind: str
    repository: str
    time_ns: int
    detail: Mapping[str, object] = {}


class Page(Struct, Generic[T], frozen=True):
    """One page of a listing; next_after is exclusive, and "" if there are no more pages."""

    results: tuple[T, ...]
    next_after: str = ""

    @property
    def has_more(self) -> bool:
        return self.next_after != ""


class RangeHeader(Struct, frozen=True):
    """A range as its metarange describes it: ID and key interval, without the records."""

    id: RangeID
    min_key: bytes
    max_key: bytes
    count: int
    size_bytes: int


# A stored value is lakeFS's `Value` encoding (`graveler.entries`): identity, then data.
# A record is what SSTables hold; a change is what staging holds, None marking a tombstone.
Record = tuple[bytes, bytes]
Change = tuple[bytes, bytes | None]
