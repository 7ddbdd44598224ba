"""`graveler usage`: the server's usage, if it counts requests."""

from msgspec import Struct

from graveler_cli.grammar import CommandGroup
from graveler_cli.session import CommandSession

app = CommandGroup(help="Usage reports of the server.")


class UsageReport(Struct, frozen=True):
    """The requests of a month."""

    year: int
    month: int
    count: int


class InstallationUsageReport(Struct, frozen=True):
    """The reports of an installation."""

    installation_id: str
    reports: list[UsageReport]


@app.command()
def summary(session: CommandSession) -> None:
    """Show the server's usage by month."""
    found = session.server.ask("GET", "/usage-report/summary", {}, InstallationUsageReport)
    out = session.output
    if out.as_json:
        out.json(found)
        return
    out.line(f"Usage report for installation ID: {found.installation_id}")
    out.line()
    out.table(
        ("Year", "Month", "Usage"),
        found.reports,
        lambda each: (each.year, each.month, each.count),
    )
    out.line()
