"""Audit records in DynamoDB, a partition for each month."""

from collections.abc import Iterator

import msgspec

from graveler.aws.dynamodb.models import AUDIT, AuditItem
from graveler.aws.dynamodb.records import RefsRecords
from graveler.aws.dynamodb.tables import key
from graveler.limits import AUDIT_LIFE_S
from graveler.model.audit import AuditRecord
from graveler.times import NS_PER_S, month_of


class AuditRecords(RefsRecords):
    """`graveler.ports.audit.AuditStore` over the refs table."""

    __slots__ = ()

    def keep_audit(self, record: AuditRecord) -> None:
        item = AuditItem(
            AUDIT + month_of(record.time_ns),
            record.id,
            record=msgspec.json.encode(record).decode(),
            expires_at=record.time_ns // NS_PER_S + AUDIT_LIFE_S,
        )
        self.tables.dynamodb.call("PutItem", self.tables.put(item))

    def audit_of_month(self, month: str, before: str) -> Iterator[AuditRecord]:
        request = self.tables.query(AUDIT + month, "")
        request["ScanIndexForward"] = False
        if before:
            request["ExclusiveStartKey"] = key(AUDIT + month, before)
        for raws in self.tables.pages(request):
            for raw in raws:
                yield msgspec.json.decode(raw["record"]["S"], type=AuditRecord)
