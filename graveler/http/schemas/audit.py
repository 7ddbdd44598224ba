"""The audit."""

from collections.abc import Sequence

from msgspec import Struct

from graveler.model.audit import AuditRecord
from graveler.times import rfc3339


class AuditRow(Struct, frozen=True, omit_defaults=True):
    """A request; without `status_code`, its outcome is not known."""

    id: str
    time: str
    user: str
    source_ip: str
    operation: str
    path: str
    request_id: str
    resources: Sequence[str]
    access_key_id: str | None = None
    status_code: int | None = None


def audit_row(record: AuditRecord) -> AuditRow:
    return AuditRow(
        record.id,
        rfc3339(record.time_ns),
        record.user,
        record.address,
        record.operation,
        record.path,
        record.request_id,
        record.resources,
        record.access_key_id or None,
        record.status or None,
    )
