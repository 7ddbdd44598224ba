"""`graveler refs-dump`: dump a repository's branches, tags and commits."""

from pathlib import Path

import click
import msgspec

from graveler_cli.arguments import repository_argument
from graveler_cli.dumps import (
    DumpStatus,
    RefsDump,
    completed,
    poll_interval_option,
    polling_of,
    timeout_option,
)
from graveler_cli.errors import CommandError
from graveler_cli.grammar import Command, option
from graveler_cli.output import progress
from graveler_cli.schemas import TaskCreation
from graveler_cli.session import CommandSession

_DUMP = "/repositories/{repository}/dump"
_STANDARD_OUTPUT = ("", "-")


@click.command(cls=Command)
@repository_argument("uri")
@option(
    "--output",
    "-o",
    default="",
    help="Write the manifest to this file.",
    show_default="standard output",
)
@poll_interval_option
@timeout_option
def command(
    session: CommandSession, uri: str, *, output: str, poll_interval: str, timeout: str
) -> None:
    """Dump the refs of a repository into its namespace; print the manifest.

    `refs-restore` restores them in a bare repository. `drill` tests whether it can.
    """
    names = {"repository": session.repository(uri).repository}
    polling = polling_of(poll_interval, timeout)
    task = session.server.ask("POST", _DUMP, names, TaskCreation)
    query = {"task_id": task.id}
    with progress("Dumping refs"):
        found = completed(
            "refs dump",
            lambda: session.server.ask("GET", _DUMP, names, DumpStatus, query=query),
            polling,
        )
    if found.refs is None:
        raise CommandError("refs dump failed: the server's answer has no refs")
    if output in _STANDARD_OUTPUT:
        session.output.item(found.refs, lambda refs: [_manifest(refs)])
        return
    session.output.line(f"Writing refs to {output}")
    try:
        Path(output).write_text(_manifest(found.refs) + "\n")
    except OSError as error:
        raise CommandError(
            f"cannot write {output}: {(error.strerror or str(error)).lower()}"
        ) from error


def _manifest(refs: RefsDump) -> str:
    return msgspec.json.format(msgspec.json.encode(refs)).decode()
