"""The outbox in DynamoDB: events stored in the transactions of the changes that they describe."""

from collections.abc import Iterator

import msgspec

from graveler.addresses import first_xid
from graveler.aws.dynamodb.models import OUTBOX, OutboxItem, partition_of
from graveler.aws.dynamodb.records import RefsRecords
from graveler.aws.dynamodb.tables import Raw, key
from graveler.model import Event, Repository
from graveler.times import NS_PER_S

# The stream keeps records for a day. The item stays longer, so that operators can examine it.
_OUTBOX_LIFE_S = 7 * 24 * 60 * 60

_EVENT = msgspec.json.Decoder(Event)


def outbox_item(repository: Repository, event: Event) -> OutboxItem:
    """Return the outbox item of the event, whose ID is in the key."""
    return OutboxItem(
        partition_of(repository),
        OUTBOX + event.id,
        event=msgspec.json.encode(event).decode(),
        expires_at=event.time_ns // NS_PER_S + _OUTBOX_LIFE_S,
    )


def event_of(raw: Raw) -> Event | None:
    """Return the event in the raw item; None if it is not an outbox item.

    Raises:
        KeyError, msgspec.MsgspecError: the item has another form.
    """
    if not raw["sort"]["S"].startswith(OUTBOX):
        return None
    return _EVENT.decode(raw["event"]["S"])


class OutboxRecords(RefsRecords):
    """`graveler.ports.OutboxStore` over the refs table."""

    __slots__ = ()

    def events_since(self, repository: Repository, since_s: int) -> Iterator[Event]:
        partition = partition_of(repository)
        request = self.tables.query(partition, OUTBOX)
        request["ExclusiveStartKey"] = key(partition, OUTBOX + first_xid(since_s))
        for raws in self.tables.pages(request):
            yield from filter(None, map(event_of, raws))
