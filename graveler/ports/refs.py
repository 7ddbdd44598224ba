"""The ports to a repository's refs: small records, changed by compare-and-swap."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from graveler.model import (
    Branch,
    Change,
    Commit,
    CommitID,
    Event,
    Page,
    Repository,
    StagingToken,
    Tag,
)
from graveler.model.hooks import Run
from graveler.model.pulls import PullRequestMerge
from graveler.model.tasks import Task, TaskEnd, TaskStart
from graveler.ports.places import PlaceStore
from graveler.ports.pulls import PullRequestStore
from graveler.ports.recorded_uploads import UploadStore


class RepositoryStore(Protocol):
    """Repositories by name."""

    def repository(self, name: str) -> Repository | None:
        """Return the live repository of that name."""

    def repositories(self, prefix: str, after: str, amount: int) -> Page[Repository]:
        """Return live repositories by name in byte order."""

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
        """Replace the repository's record and store the event, if the record is still old.

        Raises:
            StaleVersionError: another writer changed the record.
        """

    def delete_repository(self, repository: Repository, event: Event) -> None:
        """Delete the repository with its branches and tags; the rest is deleted in the background.

        Raises:
            NotFoundError: it is already deleted.
        """

    def repository_metadata(self, repository: Repository) -> Mapping[str, str]:
        """Return the repository's free-form metadata."""

    def update_repository_metadata(
        self, repository: Repository, put: Mapping[str, str], remove: Sequence[str]
    ) -> None:
        """Set some keys of the metadata and remove others, atomically."""


class BranchStore(Protocol):
    """Branches of a repository: their heads and staging tokens."""

    def branch(self, repository: Repository, name: str) -> Branch | None:
        """Return the branch at its current version."""

    def repository_and_branch(
        self, repository: Repository, name: str
    ) -> tuple[Repository | None, Branch | None]:
        """Return, in one request, the record under the repository's name and the uid's branch."""

    def branches(
        self, repository: Repository, prefix: str, after: str, amount: int, *, show_hidden: bool
    ) -> Page[Branch]:
        """Return branches by name in byte order."""

    def create_branch(
        self, repository: Repository, branch: Branch, event: Event, starts: TaskStart | None = None
    ) -> None:
        """Store a new branch, and the task that it starts.

        Raises:
            AlreadyExistsError: a branch or a tag has the name.
        """

    def seal_token(self, repository: Repository, branch: Branch, new_token: StagingToken) -> Branch:
        """Seal the branch's staging token and replace it by new_token; return the new branch.

        Raises:
            StaleVersionError: the branch has another staging token.
            NotFoundError: the branch was deleted.
        """

    def bump_version(self, repository: Repository, name: str, token: StagingToken) -> Branch | None:
        """Raise the branch's version if token is one of its tokens, sealed or not.

        A move in progress then fails with StaleVersionError and scans the token again.

        Returns:
            The branch at its new version, None if it does not have the token.
        """

    def count_edit(self, repository: Repository, name: str, token: StagingToken) -> Branch | None:
        """Count one more of the branch's `edits` if token is its staging token.

        A move of the head that must find nothing staged then fails with StaleVersionError.

        Returns:
            The branch as it is then, None if it does not have the token, or not for staging.
        """

    def offer_token(self, token: StagingToken, drop_after_ns: int) -> str:
        """Register, to be dropped after that time, a token that no branch has; return the offer."""

    def replace_sealed(
        self,
        repository: Repository,
        old: Branch,
        *,
        replaced: Sequence[StagingToken],
        token: StagingToken,
        offer: str,
        drop_after_ns: int,
    ) -> None:
        """Put the offered token in the place of some of the branch's sealed tokens.

        replaced (at most SEALED_REPLACED_MAX) follow one another in old's sealed tokens. One
        transaction takes back the offer, raises the version, and registers the replaced tokens to
        be dropped after drop_after_ns.

        Raises:
            StaleVersionError: the version differs from old's, the branch was deleted, or the
                offered token is being dropped.
        """

    def move_branch(
        self,
        repository: Repository,
        old: Branch,
        *,
        commit: Commit | None,
        commit_id: CommitID,
        applied_tokens: Sequence[StagingToken],
        new_staging_token: StagingToken | None,
        event: Event | None,
        drop_after_ns: int,
        restored: Sequence[Change] = (),
        is_clean: bool = False,
        ends: TaskEnd | None = None,
        merges: PullRequestMerge | None = None,
        starts: TaskStart | None = None,
    ) -> None:
        """Move the branch's head in one transaction, which finishes a commit, merge or reset.

        The transaction stores the commit, if one is given (an equal one may exist), and the event.
        It sets the head to commit_id and raises the version. It removes applied_tokens, the oldest
        of old's sealed tokens, newest first. A reset gives new_staging_token, which replaces the
        staging token. Every removed token is registered to be dropped after drop_after_ns.
        restored (at most RESTORED_MAX changes) replace entries that are marked as restored.
        ends is the end of the task whose effect this is. merges is the pull request that it merges.
        starts is the start of a task that follows.

        Raises:
            StaleVersionError: the version differs from old's. With new_staging_token or restored:
                the staging token differs. With is_clean: the edits differ. With restored: an
                entry to replace is not marked as restored. With merges: another writer changed
                the pull request.
            StaleTaskError: another writer changed the task that this ends.
            NotFoundError: the branch was deleted.
        """


class TagStore(Protocol):
    """Tags of a repository."""

    def tag(self, repository: Repository, name: str) -> Tag | None:
        """Return the tag of that name."""

    def tags(self, repository: Repository, prefix: str, after: str, amount: int) -> Page[Tag]:
        """Return tags by name in byte order."""

    def create_tag(
        self, repository: Repository, tag: Tag, event: Event, starts: TaskStart | None = None
    ) -> None:
        """Store a new tag, and the task that it starts.

        Raises:
            AlreadyExistsError: a tag or a branch has the name.
        """

    def delete_tag(
        self, repository: Repository, tag: Tag, event: Event, starts: TaskStart | None = None
    ) -> None:
        """Delete the tag, and store the task that this starts.

        Raises:
            StaleVersionError: it was deleted, or names another commit.
        """


class CommitStore(Protocol):
    """Commits of a repository, which never change."""

    def create_commit(self, repository: Repository, commit: Commit) -> Commit:
        """Store the commit unless its ID exists; return the stored commit."""

    def commits(self, repository: Repository, ids: Sequence[CommitID]) -> Mapping[CommitID, Commit]:
        """Return the existing ones of the commits, by ID."""

    def commit_ids_with_prefix(self, repository: Repository, prefix: str) -> tuple[CommitID, ...]:
        """Return at most two commit IDs with the prefix: enough to see whether it is ambiguous."""

    def commits_below(
        self, repository: Repository, generation: int, amount: int
    ) -> tuple[Commit, ...]:
        """Return up to amount commits of that generation or lower, highest first.

        The read is eventually consistent: it may miss recent commits.
        """

    def every_commit(self, repository: Repository) -> Iterator[Commit]:
        """Return every commit that exists when the iteration begins, by ID, fetched page by page.

        The pages are no snapshot. Commits made meanwhile may or may not be returned, and a child
        may be returned without its parent.
        """


class TaskStore(Protocol):
    """Tasks of a repository; each expires a week after its last change."""

    def task(self, repository: Repository, task_id: str) -> Task | None:
        """Return the task at its current state."""

    def joinable_task(self, repository: Repository, digest: str) -> Task | None:
        """Return the last task that was created with the digest."""

    def tasks(
        self,
        repository: Repository,
        after: str,
        amount: int,
        is_wanted: Callable[[Task], bool] | None = None,
    ) -> Page[Task]:
        """Return the wanted tasks, newest first; after is a task's ID.

        A page may be short, and others may follow.
        """

    def create_task(
        self, repository: Repository, task: Task, joinable: Task | None, event: Event
    ) -> None:
        """Store a new task and the event, in one transaction.

        joinable is the last task with the digest, as it was read.

        Raises:
            StaleVersionError: another task with the digest was created since.
        """

    def replace_task(
        self, repository: Repository, old: Task, new: Task, event: Event | None = None
    ) -> Task:
        """Replace old by new, and store the event in the same transaction.

        Returns:
            new as it is stored, with the next version.

        Raises:
            StaleVersionError: another writer changed the task.
        """


class ClaimStore(Protocol):
    """Addresses of a repository that no garbage collection may delete for some time.

    `graveler.retention.claims` says why.
    """

    def claim_addresses(
        self, repository: Repository, addresses: Sequence[str], expires_s: int
    ) -> None:
        """Store a claim of the addresses, until that time in Unix seconds or later."""

    def claimed_addresses(self, repository: Repository) -> Iterator[str]:
        """Return the addresses of all claims that were stored when the iteration began."""


class OutboxStore(Protocol):
    """The events of a repository, each stored in the transaction of its change, for a week."""

    def events_since(self, repository: Repository, since_s: int) -> Iterator[Event]:
        """Return the stored events whose IDs begin with that time, in Unix seconds, or a later one.

        Those that are stored when the iteration begins are returned, by ID; later ones may be.
        """


class HookRunStore(Protocol):
    """Finished runs of hooks; each expires after HOOK_RUN_LIFE_S."""

    def hook_run(self, repository: Repository, run_id: str) -> Run | None:
        """Return the run."""

    def put_hook_run(self, repository: Repository, run: Run) -> None:
        """Store the run, or replace it."""

    def hook_runs(
        self, repository: Repository, after: str, amount: int, *, branch: str, commit_id: str
    ) -> Page[Run]:
        """Return runs, newest first: of a branch, of a commit, or all if both are "".

        after is a run's ID.
        """


class RestoreStore(Protocol):
    """Stores the refs of a dump.

    No event describes a single ref. Each call may fail with some refs stored; a repeated restore
    stores all of them again. Names are stored only while the repository exists and is bare with
    the same `restoring`.
    """

    def restore_commits(self, repository: Repository, commits: Sequence[Commit]) -> None:
        """Store the commits; the existing ones are equal."""

    def restore_branches(self, repository: Repository, branches: Sequence[Branch]) -> None:
        """Store the branches that do not exist.

        Raises:
            StaleVersionError: the restore has ended, or the repository was deleted.
        """

    def restore_tags(self, repository: Repository, tags: Sequence[Tag]) -> None:
        """Store the tags that do not exist; raises as restore_branches."""


class RefStore(
    RepositoryStore,
    BranchStore,
    TagStore,
    CommitStore,
    TaskStore,
    PlaceStore,
    PullRequestStore,
    ClaimStore,
    OutboxStore,
    HookRunStore,
    RestoreStore,
    UploadStore,
    Protocol,
):
    """Everything that the engine asks of the store of refs."""
