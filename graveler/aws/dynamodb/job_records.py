"""The leases and events of jobs in DynamoDB."""

from graveler.aws.dynamodb.heartbeats import HeartbeatStore
from graveler.aws.dynamodb.models import LEASE, LeaseItem, partition_of
from graveler.aws.dynamodb.outbox import outbox_item
from graveler.aws.dynamodb.records import RefsRecords
from graveler.aws.dynamodb.tables import key
from graveler.aws.errors import ConditionFailedError
from graveler.model import Event, Repository


class DynamoJobStore(RefsRecords):
    """`graveler.ports.jobs.JobStore` over the refs table."""

    __slots__ = ()

    def take_lease(
        self, repository: Repository, kind: str, holder: str, *, now_ns: int, until_ns: int
    ) -> bool:
        item = LeaseItem(partition_of(repository), LEASE + kind, holder=holder, until_ns=until_ns)
        # The holder's own lease is renewed, or an earlier attempt took it and its answer was lost.
        is_free = LeaseItem.sort.does_not_exist() | (LeaseItem.until_ns <= now_ns)
        condition = is_free | (LeaseItem.holder == holder)
        try:
            self.tables.dynamodb.call("PutItem", self.tables.put(item, condition))
        except ConditionFailedError:
            return False
        return True

    def has_lease(self, repository: Repository, kind: str, holder: str) -> bool:
        found = self.tables.get(partition_of(repository), LEASE + kind)
        return found is not None and found["holder"]["S"] == holder

    def lease_holder(self, repository: Repository, kind: str, now_ns: int) -> str:
        found = self.tables.get(partition_of(repository), LEASE + kind)
        if found is None or int(found["until_ns"]["N"]) <= now_ns:
            return ""
        return str(found["holder"]["S"])

    def end_lease(self, repository: Repository, kind: str, holder: str) -> None:
        item_key = key(partition_of(repository), LEASE + kind)
        delete = self.tables.delete(item_key, LeaseItem.holder == holder)
        try:
            self.tables.dynamodb.call("DeleteItem", delete)
        except ConditionFailedError:
            return  # an earlier attempt ended it, or another job holds it now

    def put_event(self, repository: Repository, event: Event) -> None:
        # The event's ID is unique, so a repeated put stores the same item again.
        self.tables.dynamodb.call("PutItem", self.tables.put(outbox_item(repository, event)))

    def note_collection(self, series: str, now_ns: int) -> None:
        HeartbeatStore(self.tables).note_collection(series, now_ns)
