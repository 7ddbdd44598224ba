"""What the engine asks of the world. Adapters live in `graveler.aws`; memory fakes in the tests.

Every state change of a ref is one conditional write or one transaction. All reads here are
strongly consistent unless a method says otherwise. Every adapter translates its vendor's errors:
StaleVersionError and AlreadyExistsError for failed conditions (after reading back whether the
failed write was its own, landed by an earlier attempt), ThrottledError for throttling that
outlasts its retries, UnknownOutcomeError when nobody can tell.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from graveler.model import Branch, Commit, Event, Page, Repository, Tag, Task


class Clock(Protocol):
    """Tells the time."""

    def now_ns(self) -> int:
        """Nanoseconds since the Unix epoch."""

    def sleep(self, seconds: float) -> None:
        """Return when so much time has passed."""


class Names(Protocol):
    """Makes names that nobody else makes."""

    def new_uid(self) -> str:
        """An xid: 20 characters, 12 bytes that begin with the time (`graveler.addresses`)."""

    def new_staging_token(self, repository: Repository, branch: str) -> str:
        """Text `<repository>-<branch>:<uuid4>`."""


@dataclass(frozen=True, slots=True)
class Staged:
    """What one staging token says of one path: a stored value, or None for a tombstone."""

    value: bytes | None


class TaskStore(Protocol):
    """Tasks of a repository; they are forgotten a week after their last update."""

    def task(self, repository: Repository, task_id: str) -> Task | None:
        """The task as it stands."""

    def put_task(self, repository: Repository, task: Task) -> None:
        """Store a new task, or how far one is: only who works on it writes it."""


class RefStore(TaskStore, Protocol):
    """Repositories, branches, tags and commits: small records, changed by compare-and-swap."""

    # Repositories

    def repository(self, name: str) -> Repository | None:
        """The live repository of that name."""

    def repositories(self, prefix: str, after: str, amount: int) -> Page[Repository]:
        """Live repositories by name in byte order."""

    def create_repository(
        self, repository: Repository, branch: Branch, commit: Commit, event: Event
    ) -> None:
        """Store the repository with its default branch and first commit, all or nothing.

        Raises:
            AlreadyExistsError: the name is taken.
        """

    def update_repository(self, old: Repository, new: Repository) -> None:
        """Replace a repository's record, if it is still what was read.

        Raises:
            StaleVersionError: somebody changed it.
        """

    def delete_repository(self, repository: Repository, event: Event) -> None:
        """Delete the repository with its branches and tags; the rest goes in the background.

        Raises:
            NotFoundError: it is gone already.
        """

    def repository_metadata(self, repository: Repository) -> Mapping[str, str]:
        """The repository's free-form metadata."""

    def update_repository_metadata(
        self, repository: Repository, put: Mapping[str, str], remove: Sequence[str]
    ) -> None:
        """Set and drop single keys of the metadata, atomically."""

    # Branches

    def branch(self, repository: Repository, name: str) -> Branch | None:
        """The branch as it stands."""

    def repository_and_branch(
        self, repository: Repository, name: str
    ) -> tuple[Repository | None, Branch | None]:
        """The repository of that name as it stands, the branch of the given uid; one request."""

    def branches(
        self, repository: Repository, prefix: str, after: str, amount: int, *, show_hidden: bool
    ) -> Page[Branch]:
        """Branches by name in byte order."""

    def create_branch(self, repository: Repository, branch: Branch, event: Event) -> None:
        """Store a new branch.

        Raises:
            AlreadyExistsError: the name is taken, by a branch or a tag.
        """

    def seal_token(self, repository: Repository, branch: Branch, new_token: str) -> Branch:
        """Seal the branch's staging token, put a new one in its place; the branch as it is now.

        Raises:
            StaleVersionError: the branch has another staging token by now.
            NotFoundError: the branch is gone.
        """

    def move_branch(
        self,
        repository: Repository,
        old: Branch,
        *,
        commit: Commit | None,
        commit_id: str,
        applied_tokens: Sequence[str],
        new_staging_token: str | None,
        event: Event | None,
        drop_after_ns: int,
    ) -> None:
        """The one finishing transaction: commit, head, tokens and event change together or not.

        Puts commit (when given; an equal one may exist), sets the head to commit_id, takes
        applied_tokens (the oldest of old's sealed tokens, newest first) off the branch, replaces
        the staging token when a new one is given (a reset), adds one to the version, puts the
        event in the outbox and registers every token taken off to be dropped after that time.

        Raises:
            StaleVersionError: the version, or with new_staging_token the staging token, is not
                old's any more.
            NotFoundError: the branch is gone.
        """

    def delete_branch(
        self, repository: Repository, branch: Branch, event: Event, drop_after_ns: int
    ) -> None:
        """Delete the branch and register its tokens to be dropped after that time.

        Raises:
            StaleVersionError: the branch changed since it was read.
        """

    # Tags

    def tag(self, repository: Repository, name: str) -> Tag | None:
        """The tag."""

    def tags(self, repository: Repository, prefix: str, after: str, amount: int) -> Page[Tag]:
        """Tags by name in byte order."""

    def create_tag(self, repository: Repository, tag: Tag, event: Event) -> None:
        """Store a new tag.

        Raises:
            AlreadyExistsError: the name is taken, by a tag or a branch.
        """

    def delete_tag(self, repository: Repository, tag: Tag, event: Event) -> None:
        """Delete the tag.

        Raises:
            StaleVersionError: it is gone, or names another commit by now.
        """

    # Commits

    def commits(self, repository: Repository, ids: Sequence[str]) -> Mapping[str, Commit]:
        """Those of the commits that exist, by ID."""

    def commit_ids_with_prefix(self, repository: Repository, prefix: str) -> tuple[str, ...]:
        """At most two commit IDs that start with prefix: enough to tell unique from ambiguous."""

    def commits_below(
        self, repository: Repository, generation: int, amount: int
    ) -> tuple[Commit, ...]:
        """Up to amount commits of that generation or lower, highest first; may lag behind."""

    def every_commit(self, repository: Repository) -> Iterator[Commit]:
        """Every commit that exists when the iteration begins, by ID, fetched page by page."""


class StagingStore(Protocol):
    """Staged changes: per staging token, paths in byte order with a value or a tombstone."""

    def get(self, token: str, path: bytes) -> Staged | None:
        """What the token says of the path; None if nothing."""

    def get_with_branch(
        self, repository: Repository, branch: str, token: str, path: bytes
    ) -> tuple[Branch | None, Staged | None]:
        """The branch as it stands, and what token says of the path; one request, not atomic."""

    def put(self, token: str, path: bytes, value: bytes | None) -> None:
        """Stage a value, or a tombstone."""

    def put_many(self, token: str, changes: Sequence[tuple[bytes, bytes | None]]) -> None:
        """Stage changes of distinct paths, in no particular order."""

    def put_if(self, token: str, path: bytes, value: bytes, expected: Staged | None) -> bool:
        """Stage value if the token still says expected (None: nothing) of the path; else False.

        Finding value itself already there counts as done: an earlier attempt landed.
        """

    def scan(
        self, token: str, start: bytes, end: bytes | None
    ) -> Iterator[tuple[bytes, bytes | None]]:
        """The token's changes with start <= path < end, by path, fetched page by page."""

    def scan_with_branch(
        self, repository: Repository, branch: str, token: str, start: bytes, end: bytes | None
    ) -> tuple[Branch | None, Iterator[tuple[bytes, bytes | None]]]:
        """The branch and the token's first page, fetched at the same time: one round trip."""

    def drop(self, token: str) -> None:
        """Forget everything that the token holds."""


class CommittedFiles(Protocol):
    """Immutable files named by the ID of their content, under a storage namespace.

    Reading a file that does not exist raises CorruptDataError: only committed data name files.
    """

    def read_tail(self, namespace: str, file_id: str, length: int) -> tuple[bytes, int]:
        """The last length bytes (all of a shorter file), and the size of the file."""

    def read(self, namespace: str, file_id: str, offset: int, length: int) -> bytes:
        """Exactly length bytes from offset."""

    def read_all(self, namespace: str, file_id: str) -> bytes:
        """The whole file."""

    def write(self, namespace: str, file_id: str, content: bytes) -> bool:
        """Store the file unless one of that ID exists, which is as good.

        Returns:
            Whether these bytes were stored; one that exists may have others for the same records.
        """


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """What the object store knows of an object."""

    size_bytes: int
    checksum: str  # the ETag without quotes
    last_modified_ns: int
    content_type: str


@dataclass(frozen=True, slots=True)
class ObjectDescription:
    """What the object store shall say of an object beside its content."""

    content_type: str
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class UploadedPart:
    """One finished part of a multipart upload."""

    number: int
    checksum: str


@dataclass(frozen=True, slots=True)
class ListedObject:
    """An object as a listing shows it."""

    uri: str
    size_bytes: int
    last_modified_ns: int


@dataclass(frozen=True, slots=True)
class UnfinishedUpload:
    """A multipart upload that was neither completed nor given up."""

    uri: str
    upload_id: str
    initiated_ns: int


class ObjectStore(Protocol):
    """Object data, addressed by URI (`s3://bucket/key`)."""

    def put(
        self, uri: str, content: bytes, content_type: str, *, if_absent: bool = False
    ) -> ObjectInfo:
        """Store content.

        Raises:
            PreconditionFailedError: if_absent, and it exists.
            InvalidInputError: the bucket does not exist or refuses us.
        """

    def get(self, uri: str, byte_range: tuple[int, int] | None = None) -> bytes:
        """The content, or its bytes from first to last inclusive.

        Raises:
            GoneError: there is no such object any more.
        """

    def head(self, uri: str) -> ObjectInfo | None:
        """What is known of the object; None if it does not exist."""

    def copy(
        self,
        source_uri: str,
        target_uri: str,
        size_bytes: int,
        description: ObjectDescription | None = None,
        before_request: Callable[[], None] | None = None,
    ) -> ObjectInfo:
        """Copy inside the store, in parts where one request cannot carry it.

        The target gets the description, or the source's own. before_request is called before
        every request that writes, and stops the copy by raising.

        Raises:
            GoneError: there is no such source.
        """

    def delete(self, uri: str) -> None:
        """Delete the object; a missing one is fine."""

    def delete_many(self, uris: Sequence[str]) -> Mapping[str, str]:
        """Delete objects of one bucket, missing ones too; those that stayed, with the reason."""

    def list_objects(self, prefix_uri: str) -> Iterator[ListedObject]:
        """Every object whose URI begins with prefix_uri, by key, fetched page by page."""

    def list_folder(self, folder_uri: str) -> Iterator[ListedObject | str]:
        """What lies directly in the folder: objects, and folders as URIs that end in a slash."""

    def list_uploads(self, prefix_uri: str) -> Iterator[UnfinishedUpload]:
        """Every unfinished upload to a URI that begins with prefix_uri, fetched page by page."""

    def presign_get(self, uri: str, expires_s: int, file_name: str) -> str:
        """A URL that reads the object and offers it under that file name."""

    def presign_put(self, uri: str, expires_s: int) -> str:
        """A URL that accepts the content by PUT."""

    def create_upload(self, uri: str, content_type: str) -> str:
        """Begin a multipart upload; its ID."""

    def presign_part(self, uri: str, upload_id: str, part_number: int, expires_s: int) -> str:
        """A URL that accepts one part by PUT."""

    def copy_part(
        self,
        uri: str,
        upload_id: str,
        part_number: int,
        source_uri: str,
        byte_range: tuple[int, int] | None,
    ) -> str:
        """Copy a part from an object; the part's checksum."""

    def upload_part(self, uri: str, upload_id: str, part_number: int, content: bytes) -> str:
        """Store one part, of at least 5 MiB unless it is the last; the part's checksum."""

    def complete_upload(
        self, uri: str, upload_id: str, parts: Sequence[UploadedPart]
    ) -> ObjectInfo:
        """Finish the upload.

        Raises:
            InvalidInputError: the parts are not those that were uploaded.
            NotFoundError: there is no such upload.
        """

    def abort_upload(self, uri: str, upload_id: str) -> None:
        """Give the upload up.

        Raises:
            NotFoundError: there is no such upload.
        """
