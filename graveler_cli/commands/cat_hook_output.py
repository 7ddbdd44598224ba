"""`graveler cat-hook-output`: the output of a hook."""

import click

from graveler_cli.arguments import repository_argument
from graveler_cli.commands.actions import hook_output, run_argument
from graveler_cli.grammar import Command
from graveler_cli.session import CommandSession


@click.command(cls=Command)
@repository_argument("uri")
@run_argument("run_id")
@click.argument("hook_run_id", help="The run of the hook.")
def command(session: CommandSession, uri: str, run_id: str, hook_run_id: str) -> None:
    """Show the output of a hook; `actions runs describe` shows it with the run."""
    repository = session.repository(uri)
    session.output.line(f"Repository: {repository}")
    names = {"repository": repository.repository, "run": run_id}
    text = hook_output(session, names, hook_run_id)
    session.output.item({"output": text}, lambda each: [each["output"]])
