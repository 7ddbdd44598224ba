"""`graveler identity`: the user of the credentials."""

from collections.abc import Iterator

import click

from graveler_cli.grammar import Command
from graveler_cli.output import CommandOutput, local_time
from graveler_cli.schemas import CurrentUser, User
from graveler_cli.session import CommandSession


@click.command(cls=Command)
def command(session: CommandSession) -> None:
    """Show the user of the configured credentials."""
    found = session.server.ask("GET", "/user", {}, CurrentUser)
    session.output.item(found.user, lambda user: _lines(user, session.output))


def _lines(user: User, output: CommandOutput) -> Iterator[str]:
    yield f"User ID:          {output.paint(user.id, 'yellow')}"
    yield f"Email:            {output.paint(user.email, 'blue') if user.email else ''}"
    yield f"Creation Date:    {local_time(user.creation_date)}"
