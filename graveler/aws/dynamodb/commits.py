"""Commits in DynamoDB: by ID, by prefix of the ID, and in generation order."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from graveler.aws.dynamodb.models import COMMIT, COMMITS_BY_GENERATION, CommitItem, partition_of
from graveler.aws.dynamodb.records import Records
from graveler.aws.dynamodb.tables import Raw, Request, key
from graveler.aws.errors import ConditionFailedError
from graveler.model import Commit, CommitID, Repository

_COMMIT = msgspec.json.Decoder(Commit)


def commit_item(repository: Repository, commit: Commit) -> CommitItem:
    """Return the item that stores the commit."""
    return CommitItem(
        partition_of(repository),
        COMMIT + commit.id,
        generation=commit.generation,
        commit=msgspec.json.encode(commit).decode(),
    )


def _commit_of(raw: Raw) -> Commit:
    # Not through the model, which is slow: a log reads a thousand commits at once.
    return _COMMIT.decode(raw["commit"]["S"])


class CommitRecords(Records):
    """The part of RefStore that stores commits."""

    __slots__ = ()

    def create_commit(self, repository: Repository, commit: Commit) -> Commit:
        absent = CommitItem.sort.does_not_exist()
        put = self.tables.put(commit_item(repository, commit), absent)
        try:
            self.tables.dynamodb.call("PutItem", put)
        except ConditionFailedError:
            # It existed before, or an earlier attempt stored it and its answer was lost.
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
        return {commit.id: commit for commit in map(_commit_of, raws)}

    def commit_ids_with_prefix(self, repository: Repository, prefix: str) -> tuple[CommitID, ...]:
        request = self.tables.query(partition_of(repository), COMMIT + prefix, limit=2)
        request["ProjectionExpression"] = "#s"
        raws = next(self.tables.pages(request))
        return tuple(raw["sort"]["S"].removeprefix(COMMIT) for raw in raws)

    def commits_below(
        self, repository: Repository, generation: int, amount: int
    ) -> tuple[Commit, ...]:
        request: Request = {
            "TableName": self.tables.refs,
            "IndexName": COMMITS_BY_GENERATION,
            "KeyConditionExpression": "#p = :p AND #g <= :g",
            "ExpressionAttributeNames": {"#p": "partition", "#g": "generation", "#c": "commit"},
            "ExpressionAttributeValues": {
                ":p": {"S": partition_of(repository)},
                ":g": {"N": str(generation)},
            },
            "ProjectionExpression": "#c",
            "ScanIndexForward": False,
            "Limit": amount,
        }
        commits: list[Commit] = []
        for raws in self.tables.pages(request):
            commits += [_commit_of(raw) for raw in raws]
            if len(commits) >= amount:
                break
        return tuple(commits[:amount])

    def restore_commits(self, repository: Repository, commits: Sequence[Commit]) -> None:
        items = (commit_item(repository, commit).serialize() for commit in commits)
        self.tables.write_batch(
            self.tables.refs, [{"PutRequest": {"Item": item}} for item in items]
        )

    def every_commit(self, repository: Repository) -> Iterator[Commit]:
        request = self.tables.query(partition_of(repository), COMMIT)
        request["ProjectionExpression"] = "#c"
        request["ExpressionAttributeNames"]["#c"] = "commit"
        for raws in self.tables.pages(request):
            yield from map(_commit_of, raws)
