"""Staged changes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from graveler.model import Branch, Repository


@dataclass(frozen=True, slots=True)
class Staged:
    """What one staging token says of one path: a stored value, or None for a tombstone."""

    value: bytes | None


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
