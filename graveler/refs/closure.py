"""Sets of commits that know which parents they lack.

A scan of commits is no snapshot: it can return a commit that was made meanwhile without its parent,
which was made meanwhile too. A reader that needs whole histories watches the scan and then fetches
the missing parents by ID.
"""

from collections.abc import Iterable, Iterator

from graveler.model import Commit


class CommitSet:
    """The IDs of some commits and the parents that are missing; some 100 bytes for each commit."""

    def __init__(self) -> None:
        self._known: set[bytes] = set()
        self._missing: dict[bytes, bytes] = {}  # parents, each with a child

    def __contains__(self, commit_id: str) -> bool:
        return bytes.fromhex(commit_id) in self._known

    def __len__(self) -> int:
        return len(self._known)

    @property
    def missing(self) -> dict[str, str]:
        """The parents that are not in the set, each with a commit of the set that has it."""
        return {parent.hex(): child.hex() for parent, child in self._missing.items()}

    def add(self, commit: Commit) -> None:
        """Put the commit into the set."""
        digest = bytes.fromhex(commit.id)
        self._known.add(digest)
        self._missing.pop(digest, None)
        for parent_id in commit.parents:
            parent = bytes.fromhex(parent_id)
            if parent not in self._known:
                self._missing.setdefault(parent, digest)

    def watch(self, commits: Iterable[Commit]) -> Iterator[Commit]:
        """Pass the commits on; each is in the set when it is returned."""
        for commit in commits:
            self.add(commit)
            yield commit
