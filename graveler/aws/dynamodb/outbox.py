"""The outbox in DynamoDB, read as the record of what changed."""

from collections.abc import Iterator

from graveler.addresses import first_xid
from graveler.aws.dynamodb.models import OUTBOX, partition_of
from graveler.aws.dynamodb.records import Records, event_of
from graveler.aws.dynamodb.tables import key
from graveler.model import Event, Repository


class OutboxRecords(Records):
    """`graveler.ports.OutboxStore` over the refs table."""

    __slots__ = ()

    def events_since(self, repository: Repository, since_s: int) -> Iterator[Event]:
        partition = partition_of(repository)
        request = self.tables.query(partition, OUTBOX)
        request["ExclusiveStartKey"] = key(partition, OUTBOX + first_xid(since_s))
        for raws in self.tables.pages(request):
            yield from filter(None, map(event_of, raws))
