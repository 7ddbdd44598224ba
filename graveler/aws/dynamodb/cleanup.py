"""Drops unused staging tokens and deleted repositories in the background.

The transaction that makes work registers it with its due time. A sweep removes work from the
register only when it is done, so the next sweep continues a stopped one. Doing a piece twice does
no harm. Pieces are done side by side, so a large one delays only the end of its sweep. A piece that
fails is registered again for an hour later, so it does not block the others.
"""

from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
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
from graveler.aws.dynamodb.stored_tokens import tokens_of
from graveler.aws.dynamodb.tables import Raw, Request, Tables, key
from graveler.aws.errors import ConditionFailedError
from graveler.model import StagingToken
from graveler.ports import StagingStore
from graveler.threads import ContextThreads
from graveler.times import NS_PER_S

# Pieces wait for the store most of the time, and each has a partition of its own. More would need
# more processor than the function has.
_PIECES_AT_ONCE = 4

# The delay of a failed piece.
POSTPONED_NS = 60 * 60 * NS_PER_S


@dataclass(frozen=True, slots=True)
class Cleanup:
    """Due work: staging tokens, or the partition of a deleted repository ("" if none).

    is_offer: a branch may still take the token.
    """

    id: str
    tokens: tuple[StagingToken, ...]
    repository: str
    is_offer: bool = False


@dataclass(frozen=True, slots=True)
class SweepResult:
    """The result of a sweep: the number of pieces done, and the errors of the others."""

    done: int
    failures: tuple[Exception, ...] = ()

    @property
    def total(self) -> int:
        """The number of pieces tried."""
        return self.done + len(self.failures)


class CleanupStore:
    """The register of work, by due time."""

    def __init__(self, tables: Tables, staging: StagingStore) -> None:
        self._tables = tables
        self._staging = staging

    def due(self, now_ns: int, amount: int) -> tuple[Cleanup, ...]:
        """Return up to amount pieces of due work, earliest first."""
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
        raws = chain.from_iterable(self._tables.pages(request))
        return tuple(map(_cleanup_of, islice(raws, amount)))

    def done(self, cleanup: Cleanup) -> None:
        """Remove the work from the register."""
        self._tables.dynamodb.call("DeleteItem", self._tables.delete(key(CLEANUPS, cleanup.id)))

    def sweep(self, now_ns: int, amount: int) -> SweepResult:
        """Try up to amount pieces of due work, and postpone those that fail.

        A result with fewer pieces means that no more are due.
        """

        def attempt(cleanup: Cleanup) -> Exception | None:
            try:
                self._do(cleanup)
            except Exception as error:  # noqa: BLE001 - one failure must not stop the others
                self._postpone(cleanup, now_ns + POSTPONED_NS)
                return error
            return None

        cleanups = self.due(now_ns, amount)
        with ContextThreads(_PIECES_AT_ONCE) as pool:
            failures = tuple(error for error in pool.map(attempt, cleanups) if error)
        return SweepResult(len(cleanups) - len(failures), failures)

    def _end_offer(self, offer: Cleanup) -> bool:
        """End the offer, so no branch can take the token; return False if a branch has taken it."""
        actions, is_there = [CleanupItem.is_offer.remove()], CleanupItem.sort.exists()
        end = self._tables.update(key(CLEANUPS, offer.id), actions, is_there)
        try:
            self._tables.dynamodb.call("UpdateItem", end)
        except ConditionFailedError:
            return False
        return True

    def _do(self, cleanup: Cleanup) -> None:
        if cleanup.is_offer and not self._end_offer(cleanup):
            return
        for token in cleanup.tokens:
            self._staging.drop(token)
        if cleanup.repository:
            self._drop_repository(cleanup.repository)
        self.done(cleanup)

    def _postpone(self, cleanup: Cleanup, due_ns: int) -> None:
        """Register the work for later, and only then remove it: at worst, it is done twice."""
        if cleanup.is_offer:
            return  # a branch may still take the token, so no other item may name it
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

        Branches are deleted after their tokens, so that a stopped sweep finds those again.
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


def _cleanup_of(raw: Raw) -> Cleanup:
    tokens = tuple(tokens_of(raw["tokens"])) if "tokens" in raw else ()
    repository = raw["repository"]["S"] if "repository" in raw else ""
    return Cleanup(raw["sort"]["S"], tokens, repository, "is_offer" in raw)
