"""Commits in DynamoDB: by ID, by prefix of the ID, and in generation order."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice

import msgspec

from graveler.aws.dynamodb.commit_pages import commit_of, commits_below, commits_by_id
from graveler.aws.dynamodb.models import COMMIT, CommitItem, partition_of
from graveler.aws.dynamodb.records import RefsRecords
from graveler.aws.dynamodb.tables import key
from graveler.aws.errors import ConditionFailedError
from graveler.model import Commit, CommitID, Repository


def commit_item(repository: Repository, commit: Commit) -> CommitItem:
    """Return the item that stores the commit."""
    return CommitItem(
        partition_of(repository),
        COMMIT + commit.id,
        generation=commit.generation,
        commit=msgspec.json.encode(commit).decode(),
    )


class CommitRecords(RefsRecords):
    """The part of RefStore that stores commits."""

    __slots__ = ()

    def create_commit(self, repository: Repository, commit: Commit) -> Commit:
        absent = CommitItem.sort.does_not_exist()
        put = self.tables.put(commit_item(repository, commit), absent)
        try:
            self.tables.dynamodb.call("PutItem", put)
        except ConditionFailedError:
            # The commit existed before, or an earlier attempt stored it and its answer was lost.
            return self.commits(repository, [commit.id])[commit.id]
        return commit

    def commits(self, repository: Repository, ids: Sequence[CommitID]) -> Mapping[CommitID, Commit]:
        partition = partition_of(repository)
        if len(ids) == 1:
            raw = self.tables.get(partition, COMMIT + ids[0])
            raws = [] if raw is None else [raw]
        else:
            keys = [key(partition, COMMIT + commit_id) for commit_id in dict.fromkeys(ids)]
            raws = self.tables.get_batch(self.tables.refs, keys)
        return {commit.id: commit for commit in map(commit_of, raws)}

    def commit_ids_with_prefix(self, repository: Repository, prefix: str) -> tuple[CommitID, ...]:
        request = self.tables.query(partition_of(repository), COMMIT + prefix, limit=2)
        request["ProjectionExpression"] = "#s"
        raws = islice(chain.from_iterable(self.tables.pages(request)), 2)
        return tuple(raw["sort"]["S"].removeprefix(COMMIT) for raw in raws)

    def commits_below(
        self, repository: Repository, generation: int, amount: int
    ) -> tuple[Commit, ...]:
        return tuple(commits_below(self.tables, partition_of(repository), generation, amount))

    def restore_commits(self, repository: Repository, commits: Sequence[Commit]) -> None:
        items = (commit_item(repository, commit).serialize() for commit in commits)
        self.tables.write_batch(
            self.tables.refs, [{"PutRequest": {"Item": item}} for item in items]
        )

    def every_commit(self, repository: Repository) -> Iterator[Commit]:
        return commits_by_id(self.tables, partition_of(repository))
