"""Sets of commits that track missing parents.

A scan of commits is not a snapshot. If a parent and a child are made during the scan, it may return
only the child. A reader that needs whole histories collects the scan and then fetches the missing
parents by ID.
"""

from collections.abc import Iterable, Iterator

from graveler.model import Commit, CommitID


class CommitSet:
    """The IDs of some commits and of their missing parents; about 100 bytes a commit."""

    def __init__(self) -> None:
        self._known: set[bytes] = set()
        self._missing: dict[bytes, bytes] = {}  # by parent, one of its children

    def __contains__(self, commit_id: CommitID) -> bool:
        return bytes.fromhex(commit_id) in self._known

    def __len__(self) -> int:
        return len(self._known)

    @property
    def missing(self) -> dict[CommitID, CommitID]:
        """The parents that are not in the set, each with one of its children."""
        missing = self._missing.items()
        return {CommitID(parent.hex()): CommitID(child.hex()) for parent, child in missing}

    def add(self, commit: Commit) -> None:
        """Add the commit to the set."""
        digest = bytes.fromhex(commit.id)
        self._known.add(digest)
        self._missing.pop(digest, None)
        for parent_id in commit.parents:
            parent = bytes.fromhex(parent_id)
            if parent not in self._known:
                self._missing.setdefault(parent, digest)

    def watch(self, commits: Iterable[Commit]) -> Iterator[Commit]:
        """Yield the commits, each after adding it to the set."""
        for commit in commits:
            self.add(commit)
            yield commit
