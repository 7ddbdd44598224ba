"""Whether a dump holds together: looked at as a whole, before any of it is restored."""

from collections.abc import Iterable
from dataclasses import dataclass

from graveler.dump.records import NamedCommit
from graveler.errors import InvalidInputError
from graveler.identity import is_id
from graveler.model import Commit

# So many commits are stored before any of the next ones.
BATCH_COMMITS = 1_000


@dataclass(frozen=True, slots=True)
class Checked:
    """How much a dump holds, and of each batch of commits the ID of the first."""

    commits: int
    branches: int
    tags: int
    first_ids: tuple[str, ...]


def check(
    commits: Iterable[Commit], branches: Iterable[NamedCommit], tags: Iterable[NamedCommit]
) -> Checked:
    """Go through a dump once; memory holds the commits' digests, some 250 bytes for each.

    Raises:
        InvalidInputError: a commit that a commit, a branch or a tag names is not there.
    """
    known: set[bytes] = set()
    awaited: dict[bytes, bytes] = {}  # parents that are not seen yet, with a child
    first_ids: list[str] = []
    for number, commit in enumerate(commits):
        if number % BATCH_COMMITS == 0:
            first_ids.append(commit.id)
        digest = bytes.fromhex(commit.id)
        known.add(digest)
        awaited.pop(digest, None)
        for parent_id in commit.parents:
            parent = _digest(parent_id)
            if not parent:
                raise _missing(f"commit {commit.id} has the parent", parent_id)
            if parent not in known:
                awaited.setdefault(parent, digest)
    for parent, child in awaited.items():
        raise _missing(f"commit {child.hex()} has the parent", parent.hex())
    return Checked(
        commits=len(known),
        branches=_count("branch", branches, known),
        tags=_count("tag", tags, known),
        first_ids=tuple(first_ids),
    )


def _count(what: str, refs: Iterable[NamedCommit], known: set[bytes]) -> int:
    count = 0
    for ref in refs:
        if _digest(ref.commit_id) not in known:
            raise _missing(f"{what} {ref.name!r} names commit", ref.commit_id)
        count += 1
    return count


def _digest(commit_id: str) -> bytes:
    """The bytes of an ID; none of a text that is no ID, and that no commit has."""
    return bytes.fromhex(commit_id) if is_id(commit_id) else b""


def _missing(what: str, commit_id: str) -> InvalidInputError:
    return InvalidInputError(f"the dump does not hold together: {what} {commit_id}, not in it")
