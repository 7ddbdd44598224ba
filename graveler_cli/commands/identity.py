"""`graveler identity`: the user of the credentials."""

from collections.abc import Iterator

import typer

from graveler_cli.output import CommandOutput, local_time
from graveler_cli.schemas import CurrentUser, User
from graveler_cli.session import session_of


def command(context: typer.Context) -> None:
    """Show the user of the configured credentials."""
    session = session_of(context)
    found = session.server.ask("GET", "/user", {}, CurrentUser)
    session.output.item(found.user, lambda user: _lines(user, session.output))


def _lines(user: User, output: CommandOutput) -> Iterator[str]:
    yield f"User ID:          {output.paint(user.id, 'yellow')}"
    yield f"Email:            {output.paint(user.email, 'blue') if user.email else ''}"
    yield f"Creation Date:    {local_time(user.creation_date)}"
