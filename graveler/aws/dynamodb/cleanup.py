"""Drops in the background what nobody reads any more: staging tokens and deleted repositories.

Work is registered with its due time by the transaction that makes it, and taken off only when it
is done: a sweep that stops is picked up by the next, and doing a piece twice does no harm. A piece
that fails is registered again for an hour later, so that it holds up no other.
"""

from contextlib import suppress
from dataclasses import dataclass
from uuid import uuid4

from graveler.aws.dynamodb.branches import branch_of
from graveler.aws.dynamodb.exports import listed_key
from graveler.aws.dynamodb.models import (
    BRANCH,
    CLEANUPS,
    ENDING,
    EXPORT,
    CleanupItem,
    RepositoryItem,
)
from graveler.aws.dynamodb.tables import Raw, Request, Tables, key
from graveler.aws.errors import ConditionFailedError
from graveler.ports import StagingStore
from graveler.times import NS_PER_S

# A piece that failed comes again so much later.
POSTPONED_NS = 60 * 60 * NS_PER_S


@dataclass(frozen=True, slots=True)
class Cleanup:
    """Due work: staging tokens, or the partition of a deleted repository ("" if none)."""

    id: str
    tokens: tuple[str, ...]
    repository: str


@dataclass(frozen=True, slots=True)
class Swept:
    """What became of due work: how many pieces are done, and why the others are not."""

    done: int
    failures: tuple[Exception, ...] = ()

    @property
    def total(self) -> int:
        """How many pieces were tried."""
        return self.done + len(self.failures)


class CleanupStore:
    """The registered work, in the order in which it becomes due."""

    def __init__(self, tables: Tables, staging: StagingStore) -> None:
        self._tables = tables
        self._staging = staging

    def due(self, now_ns: int, amount: int) -> tuple[Cleanup, ...]:
        """The first pieces of work whose time has come."""
        request: Request = {
            "TableName": self._tables.refs,
            "KeyConditionExpression": "#p = :p AND #s < :now",
            "ExpressionAttributeNames": {"#p": "partition", "#s": "sort"},
            "ExpressionAttributeValues": {
                ":p": {"S": CLEANUPS},
                ":now": {"S": f"{now_ns:020d}"},
            },
            "ConsistentRead": True,
            "Limit": amount,
        }
        return tuple(_cleanup_of(raw) for raw in next(self._tables.pages(request)))

    def done(self, cleanup: Cleanup) -> None:
        """Take the work off the register."""
        self._tables.dynamodb.call("DeleteItem", self._tables.delete(key(CLEANUPS, cleanup.id)))

    def sweep(self, now_ns: int, amount: int) -> Swept:
        """Try up to amount pieces of due work; fewer than amount when there are no more.

        A piece that fails is postponed, and the others are done.
        """
        cleanups = self.due(now_ns, amount)
        failures: list[Exception] = []
        for cleanup in cleanups:
            try:
                self._do(cleanup)
            except Exception as error:  # noqa: BLE001 - whatever one has, it stops no other
                self._postpone(cleanup, now_ns + POSTPONED_NS)
                failures.append(error)
        return Swept(len(cleanups) - len(failures), tuple(failures))

    def _do(self, cleanup: Cleanup) -> None:
        for token in cleanup.tokens:
            self._staging.drop(token)
        if cleanup.repository:
            self._drop_repository(cleanup.repository)
        self.done(cleanup)

    def _postpone(self, cleanup: Cleanup, due_ns: int) -> None:
        """Register the work for later, and only then take it off: at worst, it is done twice."""
        later = CleanupItem(
            CLEANUPS,
            f"{due_ns:020d}#{uuid4()}",
            tokens=list(cleanup.tokens) or None,
            repository=cleanup.repository or None,
        )
        put = {"PutRequest": {"Item": later.serialize()}}
        self._tables.write_batch(self._tables.refs, [put])
        self.done(cleanup)

    def _drop_repository(self, partition: str) -> None:
        """Drop the repository's staged changes, then its records.

        A branch goes after its tokens, so that a stopped sweep finds those again.
        """
        request = self._tables.query(partition, BRANCH)
        for raws in self._tables.pages(request):
            for raw in raws:
                for token in branch_of(raw).tokens:
                    self._staging.drop(token)
        request = self._tables.query(partition, "")
        request["ProjectionExpression"] = "#p, #s"
        request["ExpressionAttributeNames"] = {"#p": "partition", "#s": "sort"}
        for raws in self._tables.pages(request):
            sorts = [raw["sort"]["S"] for raw in raws]
            exported = [sort.removeprefix(EXPORT) for sort in sorts if sort.startswith(EXPORT)]
            # What lists an export goes before it, so that a stopped sweep finds it again.
            for keys in ([listed_key(partition, branch) for branch in exported], raws):
                self._tables.write_batch(
                    self._tables.refs, [{"DeleteRequest": {"Key": each}} for each in keys]
                )
        # It is there if the deletion was cut short and nobody has taken the name since.
        _, name, uid = partition.split("#")
        delete = self._tables.delete(key(ENDING, name), RepositoryItem.uid == uid)
        with suppress(ConditionFailedError):
            self._tables.dynamodb.call("DeleteItem", delete)


def _cleanup_of(raw: Raw) -> Cleanup:
    item = CleanupItem.from_raw_data(dict(raw))
    return Cleanup(item.sort, tuple(item.tokens or ()), item.repository or "")
