"""What repositories, branches, tags and commits have in common: pages, and writes with an event.

Whose write was it? Every transaction puts one item under a name that nobody else uses, its proof:
mostly the outbox item of the event, whose ID is unique. If a condition fails, or no answer comes,
the proof tells: it exists if and only if this very transaction happened, by an earlier attempt
whose answer was lost.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar
from uuid import uuid4

import msgspec

from graveler.aws.dynamodb.models import (
    CLEANUPS,
    OUTBOX,
    CleanupItem,
    OutboxItem,
    RefsItem,
    partition_of,
)
from graveler.aws.dynamodb.tables import Raw, Tables, key
from graveler.aws.errors import ConditionFailedError, TransactionCancelledError
from graveler.errors import UnknownOutcomeError
from graveler.model import Event, Page, Repository
from graveler.threads import ContextThreads
from graveler.times import NS_PER_S

T = TypeVar("T")

# The stream keeps records for a day; the item stays longer so that a person can look.
_OUTBOX_LIFE_S = 7 * 24 * 60 * 60

_PUTS_AT_ONCE = 8

_EVENT = msgspec.json.Decoder(Event)


@dataclass(frozen=True, slots=True)
class Records:
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
        """The page of records of a kind by name; those of which record_of makes None are hidden."""
        lowest = kind + prefix
        request = self.tables.query(partition, lowest, limit=amount + 1)
        if after and after >= prefix:
            if not after.startswith(prefix):
                return Page(())  # the page begins behind everything with this prefix
            request["ExclusiveStartKey"] = key(partition, kind + after)
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

    def _transact(self, writes: Sequence[Raw], proof: RefsItem) -> bool:
        """Do the writes and put the proof; False when a condition of the writes did not hold.

        Raises:
            UnknownOutcomeError: the answer was lost, and there is no proof so far.
        """
        try:
            self.tables.transact([*writes, {"Put": self.tables.put(proof)}])
        except TransactionCancelledError:
            return self._exists(proof)
        except UnknownOutcomeError:
            if not self._exists(proof):
                raise
        return True

    def _put_absent(self, items: Sequence[RefsItem]) -> None:
        """Put those of the items that do not exist, several at a time."""
        absent = RefsItem.sort.does_not_exist()
        puts = [self.tables.put(item, absent) for item in items]
        with ContextThreads(_PUTS_AT_ONCE) as pool:
            for _ in pool.map(self._try_put, puts):
                pass

    def _try_put(self, put: Raw) -> None:
        # Whether it was there before or landed by an earlier attempt is all the same.
        with suppress(ConditionFailedError):
            self.tables.dynamodb.call("PutItem", put)

    def _exists(self, item: RefsItem) -> bool:
        return self.tables.get(item.partition, item.sort) is not None


def outbox_item(repository: Repository, event: Event) -> OutboxItem:
    """The item that reports the event: one per event, whoever writes it."""
    return OutboxItem(
        partition_of(repository),
        OUTBOX + event.id,
        event=msgspec.json.encode(event).decode(),
        expires_at=event.time_ns // NS_PER_S + _OUTBOX_LIFE_S,
    )


def event_of(raw: Raw) -> Event | None:
    """The event that the raw item reports; None if it is no outbox item."""
    if not raw["sort"]["S"].startswith(OUTBOX):
        return None
    return _EVENT.decode(raw["event"]["S"])


def cleanup_item(drop_after_ns: int, tokens: Sequence[str]) -> CleanupItem:
    """A new item that registers staging tokens to be dropped after that time."""
    return CleanupItem(CLEANUPS, f"{drop_after_ns:020d}#{uuid4()}", tokens=list(tokens))
