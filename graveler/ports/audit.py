"""The port to the audit records of a deployment."""

from collections.abc import Iterator
from typing import Protocol

from graveler.model.audit import AuditRecord


class AuditStore(Protocol):
    """Audit records, which a deployment keeps for AUDIT_LIFE_S."""

    def keep_audit(self, record: AuditRecord) -> None:
        """Store the record, or replace it by its later form."""

    def audit_of_month(self, month: str, before: str) -> Iterator[AuditRecord]:
        """Yield a month's records, newest first; before is the ID after the first one, "" for all.

        month: as 2026-11, in UTC.
        """
