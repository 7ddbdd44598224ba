"""`graveler plugin`: commands that other programs implement."""

import typer

from graveler_cli import plugins
from graveler_cli.grammar import Command, CommandGroup
from graveler_cli.session import session_of

app = typer.Typer(
    cls=CommandGroup,
    help="Show plugins: executables graveler-NAME or lakectl-NAME in PATH.",
)


@app.command("list", cls=Command)
def list_(context: typer.Context) -> None:
    """List the plugins in PATH."""
    out = session_of(context).output
    found = plugins.every()
    if not found:
        out.warn("No plugins found in your PATH.")
        return
    out.line("Available plugins:")
    out.items(found, lambda plugin: [f"  {plugin.name}"])
