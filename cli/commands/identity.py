"""`graveler identity`: the user of the credentials."""

from collections.abc import Iterator

import typer

from cli.output import Output, local_time
from cli.session import session_of
from cli.shapes import CurrentUser, User


def command(context: typer.Context) -> None:
    """Show the user that the configured credentials belong to."""
    session = session_of(context)
    found = session.server.ask("GET", "/user", {}, CurrentUser)
    session.output.item(found.user, lambda user: _lines(user, session.output))


def _lines(user: User, output: Output) -> Iterator[str]:
    yield f"User ID:          {output.paint(user.id, 'yellow')}"
    yield f"Email:            {output.paint(user.email, 'blue') if user.email else ''}"
    yield f"Creation Date:    {local_time(user.creation_date)}"
