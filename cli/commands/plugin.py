"""`graveler plugin`: commands that other programs do."""

import typer

from cli import plugins
from cli.grammar import Command, Group
from cli.session import session_of

app = typer.Typer(
    cls=Group,
    help="Show plugins: an executable graveler-NAME or lakectl-NAME in PATH is a command NAME.",
)


@app.command("list", cls=Command)
def list_(context: typer.Context) -> None:
    """List the plugins in PATH."""
    out = session_of(context).output
    found = plugins.every()
    out.line("Available plugins:" if found else "No plugins found in your PATH.")
    out.items(found, lambda plugin: [f"  {plugin.name}"])
