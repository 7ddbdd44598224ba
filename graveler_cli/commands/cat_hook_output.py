"""`graveler cat-hook-output`: the output of a hook."""

from typing import Annotated

import typer

from graveler_cli.arguments import RepositoryArgument
from graveler_cli.commands.actions import RunArgument, hook_output
from graveler_cli.session import session_of


def command(
    context: typer.Context,
    uri: RepositoryArgument,
    run_id: RunArgument,
    hook_run_id: Annotated[
        str, typer.Argument(metavar="HOOK_RUN_ID", help="The run of the hook.", show_default=False)
    ],
) -> None:
    """Show the output of a hook; `actions runs describe` shows it with the run."""
    session = session_of(context)
    repository = session.repository(uri)
    session.output.line(f"Repository: {repository}")
    names = {"repository": repository.repository, "run": run_id}
    text = hook_output(session, names, hook_run_id)
    session.output.item({"output": text}, lambda each: [each["output"]])
