"""`graveler plugin`: commands that other programs implement."""

from graveler_cli import plugins
from graveler_cli.grammar import CommandGroup
from graveler_cli.session import CommandSession

app = CommandGroup(help="Show plugins: executables graveler-NAME or lakectl-NAME in PATH.")


@app.command("list")
def list_(session: CommandSession) -> None:
    """List the plugins in PATH."""
    out = session.output
    found = plugins.every()
    if not found:
        out.warn("No plugins found in your PATH.")
        return
    out.line("Available plugins:")
    out.items(found, lambda plugin: [f"  {plugin.name}"])
