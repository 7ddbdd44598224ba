"""Shared by the stores in the refs table: pages, and transactions with a proof.

Theory of operation. A failed condition or a lost answer does not show whether an earlier attempt
succeeded. So every transaction puts one item with a unique key, its proof. Mostly this is the
outbox item of the event, whose ID is unique. The proof exists if and only if an attempt of this
transaction succeeded.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import uuid4

from graveler.aws.dynamodb.models import (
    CLEANUPS,
    REPOSITORIES,
    CleanupItem,
    RefsItem,
    RepositoryItem,
)
from graveler.aws.dynamodb.tables import Raw, Request, Tables, key
from graveler.aws.errors import ConditionFailedError, TransactionCancelledError
from graveler.errors import StaleVersionError, UnknownOutcomeError
from graveler.model import Page, Repository, StagingToken

T = TypeVar("T")

# A transaction has at most 100 writes, and one of them checks the repository.
_NAMES_AT_ONCE = 99


@dataclass(frozen=True, slots=True)
class RefsRecords:
    """Access to the refs table."""

    tables: Tables

    def _page(
        self,
        partition: str,
        kind: str,
        prefix: str,
        after: str,
        amount: int,
        record_of: Callable[[Raw], T | None],
    ) -> Page[T]:
        """Return a page of a kind's records by name; record_of returns None to omit a record."""
        request = self._query_after(partition, kind, prefix, after, amount + 1)
        if request is None:
            return Page(())
        results: list[T] = []
        last_name = ""
        for raws in self.tables.pages(request):
            for raw in raws:
                record = record_of(raw)
                if record is None:
                    continue
                if len(results) == amount:
                    return Page(tuple(results), last_name)
                results.append(record)
                last_name = raw["sort"]["S"].removeprefix(kind)
        return Page(tuple(results))

    def _query_after(
        self, partition: str, kind: str, prefix: str, after: str, limit: int
    ) -> Request | None:
        """Return the query for a kind's records by name, behind `after`; None if there are none."""
        request = self.tables.query(partition, kind + prefix, limit=limit)
        if after and after >= prefix:
            if not after.startswith(prefix):
                return None  # `after` is greater than all names with this prefix
            request["ExclusiveStartKey"] = key(partition, kind + after)
        return request

    def _put_once(self, put: Request) -> bool:
        """Put an item with a unique attribute `write`; return False if the condition failed.

        Raises:
            UnknownOutcomeError: the answer was lost, and the item is not stored.
        """
        item: Raw = put["Item"]
        try:
            self.tables.dynamodb.call(
                "PutItem", {**put, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
            )
        except ConditionFailedError as error:
            return _is_same_write(error.item, item)
        except UnknownOutcomeError:
            stored = self.tables.get(item["partition"]["S"], item["sort"]["S"])
            if not _is_same_write(stored, item):
                raise
        return True

    def _transact(self, writes: Sequence[Raw], proof: RefsItem) -> bool:
        """Do the writes and put the proof, all or nothing; return False if a condition failed.

        Raises:
            UnknownOutcomeError: the answer was lost, and the proof does not exist yet.
        """
        try:
            self.tables.transact([*writes, {"Put": self.tables.put(proof)}])
        except TransactionCancelledError:
            return self._exists(proof)
        except UnknownOutcomeError:
            if not self._exists(proof):
                raise
        return True

    def _restore_absent(self, repository: Repository, items: Sequence[RefsItem]) -> None:
        """Put the items that do not exist yet, while this restore's claim holds.

        Transactions run one after the other, because those that check the same item conflict.

        Raises:
            StaleVersionError: the restore has ended, or the repository was deleted.
        """
        absent = RefsItem.sort.does_not_exist()
        puts = [{"Put": self.tables.put(item, absent)} for item in items]
        for start in range(0, len(puts), _NAMES_AT_ONCE):
            self._put_while_claimed(repository, puts[start : start + _NAMES_AT_ONCE])

    def _put_while_claimed(self, repository: Repository, puts: Sequence[Raw]) -> None:
        is_claimed = (RepositoryItem.uid == repository.uid) & (
            RepositoryItem.restoring == repository.restoring
        )
        check = self.tables.check(key(REPOSITORIES, repository.name), is_claimed)
        while puts:
            try:
                self.tables.transact([{"ConditionCheck": check}, *puts])
            except TransactionCancelledError as error:
                ended, *existed = error.failed
                if ended:
                    raise StaleVersionError(
                        f"the restore of repository {repository.name} ended"
                    ) from error
                # Existing items stay: they are older, or an earlier attempt put them.
                puts = [put for put, exists in zip(puts, existed, strict=True) if not exists]
            else:
                return

    def _exists(self, item: RefsItem) -> bool:
        return self.tables.get(item.partition, item.sort) is not None


def _is_same_write(raw: Raw | None, item: Raw) -> bool:
    return raw is not None and bool(raw["write"] == item["write"])


def cleanup_item(
    drop_after_ns: int,
    tokens: Sequence[StagingToken] = (),
    *,
    repository: str = "",
    is_offer: bool | None = None,
) -> CleanupItem:
    """Return a new item that registers staging tokens to be dropped after that time.

    repository: the partition of one to be dropped; "" if none.
    """
    sort = f"{drop_after_ns:020d}#{uuid4()}"
    return CleanupItem(
        cleanup_partition(sort),
        sort,
        tokens=list(tokens) or None,
        repository=repository or None,
        is_offer=is_offer,
    )


def cleanup_partition(sort: str) -> str:
    """Return the partition of a registered cleanup."""
    return f"{CLEANUPS}#{sort[-1]}"
