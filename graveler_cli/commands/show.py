"""`graveler show`: a commit in detail."""

from graveler_cli.arguments import ref_argument
from graveler_cli.commits import meta_range_option, show_commits
from graveler_cli.grammar import CommandGroup
from graveler_cli.schemas import Commit
from graveler_cli.session import CommandSession

app = CommandGroup(help="Show a commit in detail.")


@app.command("commit")
@ref_argument("uri")
@meta_range_option
def commit(session: CommandSession, uri: str, *, show_meta_range_id: bool) -> None:
    """Show a commit: its author, date, parents, message and metadata."""
    ref = session.ref(uri)
    found = session.server.ask(
        "GET",
        "/repositories/{repository}/commits/{ref}",
        {"repository": ref.repository, "ref": ref.ref},
        Commit,
    )
    show_commits([found], session.output, show_meta_range_id=show_meta_range_id)
