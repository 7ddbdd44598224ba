"""Commit graphs to test with, and a ref store that counts what it is asked."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from graveler.cache import BoundedCache
from graveler.identity import make_commit
from graveler.model import (
    EMPTY_METARANGE,
    Branch,
    Commit,
    CommitID,
    Event,
    Repository,
    RepositoryUID,
    StagingToken,
    Tag,
)
from graveler.refs.history import CommitCache, History
from tests.support.fakes.memory import MemoryRefStore

VECTORS = Path(__file__).parents[2] / "golden" / "vectors"
REPOSITORY = Repository("lake", RepositoryUID("uid-1"), "s3://bucket/lake", "main", 1_600_000_000)
EVENT = Event("e", "test", "lake", 0)


@cache
def vectors(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text())


def commit_of_vector(vector: Mapping[str, Any]) -> Commit:
    fields = vector["commit"]
    return Commit(
        id=vector["id"],
        committer=fields["committer"],
        message=fields["message"],
        metarange_id=fields["meta_range_id"],
        creation_date=fields["creation_date"]["seconds"],
        parents=tuple(fields["parents"] or ()),
        metadata=fields["metadata"] or {},
        generation=fields["generation"],
        version=fields["version"],
    )


def child_of(*parents: Commit, message: str = "", date: int | None = None) -> Commit:
    """A commit on top of these, later than all of them unless the date says otherwise."""
    latest = max((parent.creation_date for parent in parents), default=1_600_000_000)
    return make_commit(
        committer="c",
        message=message,
        metarange_id=EMPTY_METARANGE,
        creation_date=latest + 1 if date is None else date,
        metadata={},
        parents=[parent.id for parent in parents],
        generation=1 + max((parent.generation for parent in parents), default=0),
    )


def chain(length: int, message: str = "", root: Commit | None = None) -> list[Commit]:
    """Commits of one parent each, oldest first."""
    commits = [child_of(*([root] if root else []), message=message)]
    while len(commits) < length:
        commits.append(child_of(commits[-1], message=message))
    return commits


class CountingRefs(MemoryRefStore):
    """Notes each request; hides commits from the index, as an eventually consistent one may."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[str] = []
        self.unindexed: set[CommitID] = set()

    def add(
        self,
        commits: Iterable[Commit],
        branches: Mapping[str, CommitID] | None = None,
        tags: Mapping[str, CommitID] | None = None,
    ) -> None:
        """Put records as they are, also those that no operation would make."""
        records = self.records_of(REPOSITORY)
        records.commits.update({commit.id: commit for commit in commits})
        for name, commit_id in (branches or {}).items():
            records.branches[name] = Branch(name, commit_id, StagingToken(f"st-{name}"))
        for name, commit_id in (tags or {}).items():
            records.tags[name] = Tag(name, commit_id)

    def history(self, cache: CommitCache | None = None) -> History:
        return History(self, REPOSITORY, BoundedCache(2**25) if cache is None else cache)

    def branch(self, repository: Repository, name: str) -> Branch | None:
        self.requests.append("branch")
        return super().branch(repository, name)

    def tag(self, repository: Repository, name: str) -> Tag | None:
        self.requests.append("tag")
        return super().tag(repository, name)

    def commits(self, repository: Repository, ids: Sequence[CommitID]) -> Mapping[CommitID, Commit]:
        self.requests.append("commits")
        return super().commits(repository, ids)

    def commit_ids_with_prefix(self, repository: Repository, prefix: str) -> tuple[CommitID, ...]:
        self.requests.append("prefix")
        return super().commit_ids_with_prefix(repository, prefix)

    def commits_below(
        self, repository: Repository, generation: int, amount: int
    ) -> tuple[Commit, ...]:
        self.requests.append("page")
        page = super().commits_below(repository, generation, amount)
        return tuple(commit for commit in page if commit.id not in self.unindexed)


def refs_of_vectors(
    commits: Sequence[Mapping[str, Any]],
) -> tuple[CountingRefs, Callable[[str], CommitID]]:
    """The store that holds these commits, and their IDs by the names that the vectors use."""
    refs = CountingRefs()
    refs.add(map(commit_of_vector, commits))
    ids = {vector["name"]: vector["id"] for vector in commits}
    return refs, ids.__getitem__
