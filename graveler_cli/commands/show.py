"""`graveler show`: a commit in detail."""

import typer

from graveler_cli.arguments import RefArgument
from graveler_cli.commits import MetaRangeOption, show_commits
from graveler_cli.grammar import Command, CommandGroup
from graveler_cli.schemas import Commit
from graveler_cli.session import session_of

app = typer.Typer(cls=CommandGroup, help="Show a commit in detail.")


@app.callback()
def _group() -> None:
    """Show a commit in detail."""  # with a callback, Typer keeps the name of the only command


@app.command("commit", cls=Command)
def commit(
    context: typer.Context, uri: RefArgument, *, show_meta_range_id: MetaRangeOption = False
) -> None:
    """Show a commit: its author, date, parents, message and metadata."""
    session = session_of(context)
    ref = session.ref(uri)
    found = session.server.ask(
        "GET",
        "/repositories/{repository}/commits/{ref}",
        {"repository": ref.repository, "ref": ref.ref},
        Commit,
    )
    show_commits([found], session.output, show_meta_range_id=show_meta_range_id)
