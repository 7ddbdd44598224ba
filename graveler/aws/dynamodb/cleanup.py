"""Drops unused staging tokens and deleted repositories in the background.

The transaction that makes work registers it with its due time. A sweep removes work from the
register only when it is done, so the next sweep continues a stopped one. Doing a piece twice does
no harm. The register has several partitions, and a thread sweeps each, one piece after the other.
So a large piece delays only those behind it. A piece that fails is registered again for an hour
later, so it does not block the others.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain

from msgspec import Struct

from graveler.aws.dynamodb.branches import branch_of
from graveler.aws.dynamodb.exports import listed_key
from graveler.aws.dynamodb.models import (
    BRANCH,
    CLEANUP_PARTITIONS,
    ENDING,
    EXPORT,
    CleanupItem,
    RepositoryItem,
)
from graveler.aws.dynamodb.records import cleanup_item
from graveler.aws.dynamodb.stored_tokens import tokens_of
from graveler.aws.dynamodb.tables import Raw, Request, Tables, key
from graveler.aws.errors import ConditionFailedError
from graveler.model import StagingToken
from graveler.ports import StagingStore
from graveler.threads import ContextThreads
from graveler.times import NS_PER_S

# The delay of a failed piece.
POSTPONED_NS = 60 * 60 * NS_PER_S


class Cleanup(Struct, frozen=True):
    """Due work: staging tokens, or the partition of a deleted repository ("" if none).

    key: of its item.
    is_offer: a branch may still take the token.
    """

    key: Raw
    tokens: tuple[StagingToken, ...]
    repository: str
    is_offer: bool = False


class SweepResult(Struct, frozen=True):
    """The result of a sweep: the number of pieces done, and the errors of the others."""

    done: int
    failures: tuple[Exception, ...] = ()


class CleanupStore:
    """The register of work, by due time."""

    def __init__(self, tables: Tables, staging: StagingStore) -> None:
        self._tables = tables
        self._staging = staging

    def due(self, now_ns: int, partitions: Sequence[str] = CLEANUP_PARTITIONS) -> Iterator[Cleanup]:
        """Yield due work of the partitions, one after the other, earliest first in each."""
        for partition in partitions:
            request: Request = {
                "TableName": self._tables.refs,
                "KeyConditionExpression": "#p = :p AND #s < :now",
                "ExpressionAttributeNames": {"#p": "partition", "#s": "sort"},
                "ExpressionAttributeValues": {
                    ":p": {"S": partition},
                    ":now": {"S": f"{now_ns:020d}"},
                },
                "ConsistentRead": True,
            }
            yield from map(_cleanup_of, chain.from_iterable(self._tables.pages(request)))

    def done(self, cleanup: Cleanup) -> None:
        """Remove the work from the register."""
        self._tables.dynamodb.call("DeleteItem", self._tables.delete(cleanup.key))

    def sweep(self, now_ns: int, has_time: Callable[[], bool] = lambda: True) -> SweepResult:
        """Do all due work, and postpone pieces that fail; leave the rest if has_time() is False."""

        def sweep_partition(partition: str) -> SweepResult:
            done, failures = 0, []
            for cleanup in self.due(now_ns, [partition]):
                try:
                    if not has_time() or not self._do(cleanup, has_time):
                        break
                    done += 1
                except Exception as error:  # noqa: BLE001 - one failure must not stop the others
                    self._postpone(cleanup, now_ns + POSTPONED_NS)
                    failures.append(error)
            return SweepResult(done, tuple(failures))

        with ContextThreads(len(CLEANUP_PARTITIONS)) as pool:
            results = list(pool.map(sweep_partition, CLEANUP_PARTITIONS))
        failures = chain.from_iterable(result.failures for result in results)
        return SweepResult(sum(result.done for result in results), tuple(failures))

    def _end_offer(self, offer: Cleanup) -> bool:
        """End the offer, so no branch can take the token; return False if a branch has taken it."""
        actions, is_there = [CleanupItem.is_offer.remove()], CleanupItem.sort.exists()
        end = self._tables.update(offer.key, actions, is_there)
        try:
            self._tables.dynamodb.call("UpdateItem", end)
        except ConditionFailedError:
            return False
        return True

    def _do(self, cleanup: Cleanup, has_time: Callable[[], bool]) -> bool:
        """Do the work, and remove it from the register; return False if the time was too short."""
        if cleanup.is_offer and not self._end_offer(cleanup):
            return True
        for token in cleanup.tokens:
            if not self._staging.drop(token, has_time):
                return False
        if cleanup.repository and not self._drop_repository(cleanup.repository, has_time):
            return False
        self.done(cleanup)
        return True

    def _postpone(self, cleanup: Cleanup, due_ns: int) -> None:
        """Register the work for later, and only then remove it: at worst, it is done twice."""
        if cleanup.is_offer:
            return  # a branch may still take the token, so no other item may name it
        later = cleanup_item(due_ns, cleanup.tokens, repository=cleanup.repository)
        put = {"PutRequest": {"Item": later.serialize()}}
        self._tables.write_batch(self._tables.refs, [put])
        self.done(cleanup)

    def _drop_repository(self, partition: str, has_time: Callable[[], bool]) -> bool:
        """Drop the repository's staged changes, then its records; return False as `_do`.

        Branches are deleted after their tokens, so that a stopped sweep finds those again.
        """
        request = self._tables.query(partition, BRANCH)
        for raws in self._tables.pages(request):
            for raw in raws:
                for token in branch_of(raw).tokens:
                    if not self._staging.drop(token, has_time):
                        return False
        request = self._tables.query(partition, "")
        request["ProjectionExpression"] = "#p, #s"
        request["ExpressionAttributeNames"] = {"#p": "partition", "#s": "sort"}
        for raws in self._tables.pages(request):
            sorts = [raw["sort"]["S"] for raw in raws]
            exported = [sort.removeprefix(EXPORT) for sort in sorts if sort.startswith(EXPORT)]
            # Delete the listing item before its export, so that a stopped sweep finds both again.
            for keys in ([listed_key(partition, branch) for branch in exported], raws):
                self._tables.write_batch(
                    self._tables.refs, [{"DeleteRequest": {"Key": each}} for each in keys]
                )
        # This item exists if the deletion stopped half way, and the name is still free.
        _, name, uid = partition.split("#")
        delete = self._tables.delete(key(ENDING, name), RepositoryItem.uid == uid)
        with suppress(ConditionFailedError):
            self._tables.dynamodb.call("DeleteItem", delete)
        return True


def _cleanup_of(raw: Raw) -> Cleanup:
    tokens = tuple(tokens_of(raw["tokens"])) if "tokens" in raw else ()
    repository = raw["repository"]["S"] if "repository" in raw else ""
    item_key = {"partition": raw["partition"], "sort": raw["sort"]}
    return Cleanup(item_key, tokens, repository, "is_offer" in raw)
