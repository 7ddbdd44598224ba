"""Check a whole dump before any of it is restored."""

from collections.abc import Iterable

from msgspec import Struct

from graveler.dump.records import NamedCommit
from graveler.errors import InvalidInputError
from graveler.identity import is_id
from graveler.model import Commit, CommitID
from graveler.refs.closure import CommitSet

# Commits are stored in batches of this size, each before the next.
BATCH_COMMITS = 1_000


class CheckedDump(Struct, frozen=True):
    """The number of refs in a dump, and the first commit ID of each batch."""

    commits: int
    branches: int
    tags: int
    first_ids: tuple[CommitID, ...]


def check(
    commits: Iterable[Commit], branches: Iterable[NamedCommit], tags: Iterable[NamedCommit]
) -> CheckedDump:
    """Read a dump once and count it; memory grows by about 250 bytes a commit.

    Raises:
        InvalidInputError: a commit, a branch or a tag names a commit that is not in the dump.
    """
    known = CommitSet()
    first_ids: list[CommitID] = []
    for number, commit in enumerate(commits):
        if number % BATCH_COMMITS == 0:
            first_ids.append(commit.id)
        for parent_id in commit.parents:
            if not is_id(parent_id):
                raise _missing(f"commit {commit.id} has the parent", parent_id)
        known.add(commit)
    for parent_id, child_id in known.missing.items():
        raise _missing(f"commit {child_id} has the parent", parent_id)
    return CheckedDump(
        commits=len(known),
        branches=_count("branch", branches, known),
        tags=_count("tag", tags, known),
        first_ids=tuple(first_ids),
    )


def _count(what: str, refs: Iterable[NamedCommit], known: CommitSet) -> int:
    count = 0
    for ref in refs:
        if not is_id(ref.commit_id) or ref.commit_id not in known:
            raise _missing(f"{what} {ref.name!r} names commit", ref.commit_id)
        count += 1
    return count


def _missing(what: str, commit_id: CommitID) -> InvalidInputError:
    return InvalidInputError(f"the dump is incomplete: {what} {commit_id}, which is not in it")
