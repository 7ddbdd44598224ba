"""Repositories and what they are made of: branches, tags, commits and tasks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from graveler.model import Branch, Change, Commit, Event, Page, Repository, Tag, Task


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
        self, repository: Repository, branch: Branch | None, commit: Commit | None, event: Event
    ) -> None:
        """Store the repository with its default branch and first commit, all or nothing.

        A bare repository has neither.

        Raises:
            AlreadyExistsError: the name is taken.
        """

    def update_repository(
        self, old: Repository, new: Repository, event: Event | None = None
    ) -> None:
        """Replace a repository's record, if it is still what was read; the event with it.

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

    def bump_version(self, repository: Repository, name: str, token: str) -> bool:
        """Add one to the branch's version if the token is among its sealed tokens; else False.

        A move that is in progress then fails with StaleVersionError, and scans the token again.
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
        restored: Sequence[Change] = (),
        is_clean: bool = False,
    ) -> None:
        """The one finishing transaction: commit, head, tokens and event change together or not.

        Puts commit (when given; an equal one may exist), sets the head to commit_id, takes
        applied_tokens (the oldest of old's sealed tokens, newest first) off the branch, replaces
        the staging token when a new one is given (a reset), adds one to the version, puts the
        event in the outbox and registers every token taken off to be dropped after that time.
        Replaces restored entries by restored (at most RESTORED_MAX changes).

        Raises:
            StaleVersionError: the version is not old's any more; or the staging token, with
                new_staging_token or restored; or the edits, with is_clean; or an entry to be
                replaced is not a restored one.
            NotFoundError: the branch is gone.
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

    def create_commit(self, repository: Repository, commit: Commit) -> Commit:
        """Store the commit unless there is one of that ID; return the one that is stored."""

    def commits(self, repository: Repository, ids: Sequence[str]) -> Mapping[str, Commit]:
        """Those of the commits that exist, by ID."""

    def commit_ids_with_prefix(self, repository: Repository, prefix: str) -> tuple[str, ...]:
        """At most two commit IDs that start with prefix: enough to tell unique from ambiguous."""

    def commits_below(
        self, repository: Repository, generation: int, amount: int
    ) -> tuple[Commit, ...]:
        """Up to amount commits of that generation or lower, highest first; may lag behind."""

    def every_commit(self, repository: Repository) -> Iterator[Commit]:
        """Every commit that exists when the iteration begins, by ID, fetched page by page.

        Pages are no snapshot: of the commits made meanwhile, any may be seen or not. A child can
        be seen and its parent not.
        """

    # What a dump of refs brings back: no event tells of single ones, all are written again when
    # the restore is repeated, and some may be there when a call fails.

    def restore_commits(self, repository: Repository, commits: Sequence[Commit]) -> None:
        """Store the commits; those that exist are the same."""

    def restore_branches(self, repository: Repository, branches: Sequence[Branch]) -> None:
        """Store those of the branches that do not exist."""

    def restore_tags(self, repository: Repository, tags: Sequence[Tag]) -> None:
        """Store those of the tags that do not exist."""
