"""The port to staged changes."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum
from typing import Final, Literal, NamedTuple, Protocol

from msgspec import Struct

from graveler.errors import GravelerError
from graveler.model import Branch, Change, Event, Repository, StagingToken
from graveler.model.recorded_uploads import Upload
from graveler.model.tasks import Task
from graveler.model.tokens import Spread

# A transaction has at most 100 items: these, a branch, and a task with what belongs to it.
CHANGES_TOGETHER_MAX = 96


class Unconditional(Enum):
    """The type of UNCONDITIONAL."""

    UNCONDITIONAL = "unconditional"


# In place of an expected change: whatever the path holds, the change takes effect.
UNCONDITIONAL: Final[Literal[Unconditional.UNCONDITIONAL]] = Unconditional.UNCONDITIONAL


class Staged(Struct, frozen=True):
    """A staged change of one path: a stored value, or None for a tombstone."""

    value: bytes | None


class StagedChange(Struct, frozen=True):
    """A change to stage, and the change of the path that it replaces; None if there is none."""

    path: bytes
    value: bytes | None
    replaces: Staged | None


class ChangesPage(NamedTuple):
    """Some of a token's changes, by path; without has_more, there are none behind them."""

    changes: Sequence[Change]
    has_more: bool


class StageOutcome(NamedTuple):
    """What became of changes that are not staged; all others are.

    refused: the token is closed.
    failed: by path. With UnknownOutcomeError, a change may be staged, or may still be.
    """

    refused: Sequence[Change] = ()
    failed: Mapping[bytes, GravelerError] = {}


class StagingStore(Protocol):
    """Staged changes: each staging token holds paths in byte order, with a value or a tombstone.

    A token is open until it is closed, and is never opened again. Its content is final once it is
    closed and the branch has another staging token.
    """

    def get(self, token: StagingToken, path: bytes) -> Staged | None:
        """Return the token's change of the path; None if it has none."""

    def newest(self, tokens: Sequence[StagingToken], path: bytes) -> Staged | None:
        """Return the change of the path under the first of the tokens that has one.

        A hundred tokens are one request. The reads are not atomic.
        """

    def newest_each(
        self, tokens: Sequence[StagingToken], paths: Sequence[bytes]
    ) -> Mapping[bytes, Staged]:
        """Return what `newest` returns, for each of the paths that has a change.

        A hundred pairs of token and path are one request.
        """

    def get_with_branch(
        self, repository: Repository, branch: str, token: StagingToken, path: bytes
    ) -> tuple[Branch | None, Staged | None]:
        """Return the current branch and the token's change of the path: one request, not atomic."""

    def get_with_repository(
        self, repository: Repository, branch: str, token: StagingToken, path: bytes
    ) -> tuple[Repository | None, Branch | None, Staged | None]:
        """Return what `get_with_branch` does, and the record under the repository's name."""

    def stage(self, token: StagingToken, changes: Sequence[Change]) -> StageOutcome:
        """Stage changes of distinct paths while the token is open; return what became of them.

        Each change takes effect once, even if the adapter sends it again after a lost response.
        Together they are not atomic: if the token closes meanwhile, it refuses some of them and
        holds the others. After one has failed, those that were not sent yet fail as well.
        """

    def fill(self, token: StagingToken, changes: Sequence[Change]) -> None:
        """Put changes of distinct paths under a token that no branch has.

        Raises:
            GravelerError: some of the changes may have been put, or may still be.
        """

    def stage_if(
        self,
        repository: Repository,
        branch: Branch,
        changes: Sequence[StagedChange],
        event: Event | None = None,
    ) -> None:
        """Stage changes of distinct paths and count an edit, all at one moment, if nothing changed.

        The branch must have the same staging token, head and version; its token may be closed. Each
        path must have the change that is replaced. There are 1 to CHANGES_TOGETHER_MAX changes. An
        event goes to the outbox at the same moment.

        Raises:
            StaleVersionError: the branch or a path changed.
        """

    def stage_upload(
        self,
        repository: Repository,
        branch: Branch,
        value: bytes,
        expected: Staged | Unconditional | None,
        completed: Upload,
    ) -> None:
        """Stage the value at the upload's path, and replace the open upload by the completed one.

        Both are one transaction. With UNCONDITIONAL, the branch's staging token must be open, as
        in `stage`. Otherwise the conditions are those of `stage_if`, and it counts as an edit.

        Raises:
            StaleVersionError: the token is closed, or the branch or the path changed.
            UploadNotFoundError: the upload does not exist any more, or was completed otherwise.
            UnknownOutcomeError: the transaction may still take effect.
        """

    def stage_step(
        self,
        repository: Repository,
        branch: Branch,
        changes: Sequence[StagedChange],
        old: Task,
        new: Task,
    ) -> Task:
        """Stage changes of distinct paths and replace the task, in one transaction.

        It counts as one edit. The conditions are those of `stage_if`, for each change, and those of
        `replace_task`. There are at most CHANGES_TOGETHER_MAX changes, of 3 MB.

        Returns:
            new as it is stored, with the next version.

        Raises:
            StaleVersionError: the branch or a path changed.
            StaleTaskError: another writer changed the task, or an earlier attempt did.
        """

    def restore(
        self,
        repository: Repository,
        branch: Branch,
        changes: Sequence[Change],
        again: Collection[bytes] = (),
    ) -> Branch:
        """Stage the head's records of distinct paths, if the branch is unchanged.

        again has paths whose staged entries must still be restored ones.

        The entries are marked as restored. The branch's version is raised and its restored_token
        set, so that a move of the head does not miss them. Many changes take several transactions.

        Returns:
            The branch at its new version.

        Raises:
            StaleVersionError: the branch or such an entry changed; some changes may be staged.
        """

    def restored_paths(self, token: StagingToken) -> Iterator[bytes]:
        """Return the paths of the token's restored entries, in order, fetched page by page."""

    def close(self, token: StagingToken) -> None:
        """Make the token refuse every later `stage`; closing twice is harmless."""

    def next_spread(self, token: StagingToken) -> Spread:
        """Return the spread that suits the next token, by what this one took: a guess."""

    def scan(
        self, token: StagingToken, start: bytes, end: bytes | None
    ) -> Iterator[tuple[bytes, bytes | None]]:
        """Return the token's changes with start <= path < end, by path, fetched page by page."""

    def scan_paths(self, token: StagingToken, start: bytes, end: bytes | None) -> Iterator[bytes]:
        """Return the paths of the changes that `scan` returns, with less to transfer."""

    def scan_pages(
        self, token: StagingToken, start: bytes, end: bytes | None, amount: int
    ) -> Iterator[ChangesPage]:
        """Return the pages of a scan: at first one of about amount changes, then larger ones.

        A page is fetched when it is asked for, and may be empty.
        """

    def scan_pages_with_branch(
        self,
        repository: Repository,
        branch: str,
        token: StagingToken,
        start: bytes,
        end: bytes | None,
        amount: int,
    ) -> tuple[Branch | None, Iterator[ChangesPage]]:
        """Return the branch and the pages, the first of which is fetched in the same round trip."""

    def drop(self, token: StagingToken, has_time: Callable[[], bool] = ...) -> bool:
        """Delete all changes of the token; return False if has_time() was False before the end."""
