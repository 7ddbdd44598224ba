"""Read the audit: its records, newest first."""

from collections.abc import Iterator

from msgspec import Struct

from graveler.addresses import decode_xid
from graveler.branches.request_time import TimeLimit
from graveler.engine import Engine
from graveler.errors import InvalidInputError
from graveler.limits import AUDIT_LIFE_S
from graveler.model import Page
from graveler.model.audit import AuditRecord
from graveler.ports import AccountStore
from graveler.times import NS_PER_S, month_of

_PAGE_S = 5.0
_MONTH_S = 28 * 24 * 60 * 60  # of the shortest one: no step back skips a month


class AuditQuery(Struct, frozen=True):
    """Which records: of a user, an operation and an outcome, "" for all, and between two times.

    The times are in Unix s.
    """

    user: str = ""
    operation: str = ""
    outcome: str = ""
    since_s: int | None = None
    until_s: int | None = None

    def has(self, record: AuditRecord) -> bool:
        """Whether the record is wanted; its time is not looked at."""
        return (
            self.user in ("", record.user)
            and self.operation in ("", record.operation)
            and self.outcome in ("", record.outcome)
        )


def list_page(
    engine: Engine, accounts: AccountStore, query: AuditQuery, after: str, amount: int
) -> Page[AuditRecord]:
    """Return records, newest first. A page may be short or empty, and others may follow.

    after: the ID of the last record of the page before.

    Raises:
        InvalidInputError: after is no ID.
    """
    now_s = engine.now_s()
    oldest_s = max(now_s - AUDIT_LIFE_S, query.since_s or 0)
    newest_s = now_s if query.until_s is None else min(query.until_s, now_s)
    if after:
        newest_s = min(newest_s, _time_s(after))
    limit = TimeLimit(engine, _PAGE_S)
    found: list[AuditRecord] = []
    for record in _records(accounts, newest_s, oldest_s, after):
        time_s = record.time_ns // NS_PER_S
        if time_s < oldest_s:
            break
        if time_s <= newest_s and query.has(record):
            if len(found) == amount:
                return Page(tuple(found), found[-1].id)
            found.append(record)
        if limit.is_over:
            return Page(tuple(found), record.id)
    return Page(tuple(found))


def _records(
    accounts: AccountStore, newest_s: int, oldest_s: int, after: str
) -> Iterator[AuditRecord]:
    """Yield the records of the months between two times, newest first."""
    last, time_s = month_of(oldest_s * NS_PER_S), newest_s
    months = [month_of(newest_s * NS_PER_S)]
    while months[-1] > last:
        time_s -= _MONTH_S
        if (month := month_of(time_s * NS_PER_S)) != months[-1]:
            months.append(month)
    for month in months:
        yield from accounts.audit_of_month(month, after if month == months[0] else "")


def _time_s(after: str) -> int:
    try:
        return int.from_bytes(decode_xid(after)[:4], "big")
    except InvalidInputError as error:
        raise InvalidInputError(f"after is {after[:80]!r}: give the ID of a record") from error
