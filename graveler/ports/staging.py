"""Staged changes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from graveler.model import Branch, Change, Repository


@dataclass(frozen=True, slots=True)
class Staged:
    """What one staging token says of one path: a stored value, or None for a tombstone."""

    value: bytes | None


class StagingStore(Protocol):
    """Staged changes: per staging token, paths in byte order with a value or a tombstone.

    A token is open until it is closed, and never opens again. Its content is final when it is
    closed and the branch has another staging token.
    """

    def get(self, token: str, path: bytes) -> Staged | None:
        """What the token says of the path; None if nothing."""

    def get_with_branch(
        self, repository: Repository, branch: str, token: str, path: bytes
    ) -> tuple[Branch | None, Staged | None]:
        """The branch as it stands, and what token says of the path; one request, not atomic."""

    def stage(self, token: str, changes: Sequence[Change]) -> Sequence[Change]:
        """Stage changes of distinct paths while the token is open; return those it refused.

        Each change takes effect once, even if a lost answer makes the adapter send it again. They
        are not atomic together: a token that closes meanwhile refuses some and holds the others.

        Raises:
            UnknownOutcomeError: nobody can tell which of the changes took effect, or will.
        """

    def stage_if(
        self,
        repository: Repository,
        branch: Branch,
        path: bytes,
        value: bytes,
        expected: Staged | None,
    ) -> None:
        """Stage a value under the branch's token, and count the edit, if the branch is unchanged.

        Unchanged means: it has the same staging token, head and version; whether the token is
        closed does not matter. The token must still say what is expected of the path.

        Raises:
            StaleVersionError: the branch or the path changed.
        """

    def restore(self, repository: Repository, branch: Branch, changes: Sequence[Change]) -> Branch:
        """Stage what the branch's head says of distinct paths, if the branch is unchanged.

        The entries are marked as restored. The branch's version is raised and its restored_token
        set, so that a move of the head does not miss them. Many changes take several transactions.

        Returns:
            The branch as it is now.

        Raises:
            StaleVersionError: the branch changed; some of the changes may be staged.
        """

    def restored_paths(self, token: str) -> Iterator[bytes]:
        """The paths of the token's restored entries, in order, fetched page by page."""

    def close(self, token: str) -> None:
        """Have every later `stage` of the token refused; closing twice is fine."""

    def scan(
        self, token: str, start: bytes, end: bytes | None
    ) -> Iterator[tuple[bytes, bytes | None]]:
        """The token's changes with start <= path < end, by path, fetched page by page."""

    def scan_with_branch(
        self, repository: Repository, branch: str, token: str, start: bytes, end: bytes | None
    ) -> tuple[Branch | None, Iterator[tuple[bytes, bytes | None]]]:
        """The branch and the token's first page, fetched at the same time: one round trip."""

    def drop(self, token: str) -> None:
        """Delete everything that the token holds."""
