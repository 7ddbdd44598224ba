"""`graveler auth audit`: who changed access or settings, or logged in."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice

import click
from msgspec import Struct

from graveler_cli.grammar import Command, option
from graveler_cli.output import local_time
from graveler_cli.session import CommandSession


class AuditRecord(Struct, frozen=True, omit_defaults=True):
    """A request that changed access or settings, or a log-in."""

    id: str
    time: datetime
    user: str
    source_ip: str
    operation: str
    path: str
    request_id: str
    resources: list[str]
    access_key_id: str = ""
    status_code: int = 0

    @property
    def outcome(self) -> str:
        """The status of the answer, and what a failure was of."""
        if not self.status_code:
            return "unknown"
        if self.status_code < 400:
            return str(self.status_code)
        return f"{self.status_code} {'failed log-in' if self.operation == 'login' else 'failed'}"


@click.command(cls=Command)
@option("--amount", default=100, help="How many records to show; 0 is all of them.")
@option("--user", default="", help="Show requests of this user.")
@option("--operation", default="", help="Show requests for this operation, such as deleteUser.")
@option(
    "--outcome",
    type=click.Choice(["succeeded", "failed", "unknown"]),
    help="Show requests that ended so; failed ones were refused, or met an error.",
)
@option("--since", default=None, help="Show records since this time, in ISO 8601.")
@option("--until", default=None, help="Show records until this time.")
def command(session: CommandSession, *, amount: int, **query: str | None) -> None:
    """Show who changed access or settings, or logged in, the newest first."""
    found: Iterator[AuditRecord] = session.server.each("/auth/audit", {}, AuditRecord, query)
    session.output.table(
        ("Time", "User", "From", "Operation", "Outcome", "Resources"),
        islice(found, amount if amount > 0 else None),
        lambda each: (
            local_time(int(each.time.timestamp())),
            each.user or each.access_key_id,
            each.source_ip,
            each.operation,
            each.outcome,
            " ".join(each.resources) or each.path,
        ),
        expendable=("From", "Resources"),
    )
