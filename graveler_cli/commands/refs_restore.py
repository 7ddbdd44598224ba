"""`graveler refs-restore`: restore dumped branches, tags and commits."""

from pathlib import Path

import click
import msgspec

from graveler_cli.arguments import content_of, repository_argument
from graveler_cli.dumps import (
    DumpStatus,
    RefsDump,
    completed,
    poll_interval_option,
    polling_of,
    timeout_option,
)
from graveler_cli.errors import CommandError
from graveler_cli.grammar import FILE, Command, option
from graveler_cli.output import progress
from graveler_cli.schemas import TaskCreation
from graveler_cli.session import CommandSession

_RESTORE = "/repositories/{repository}/restore"


@click.command(cls=Command)
@repository_argument("uri")
@option(
    "--manifest",
    type=FILE,
    required=True,
    help="The file that `refs-dump` printed; - is standard input.",
)
@poll_interval_option
@timeout_option
def command(
    session: CommandSession, uri: str, *, manifest: Path, poll_interval: str, timeout: str
) -> None:
    """Restore the refs of a dump in the storage namespace of a bare repository.

    `repo create-bare` creates one. After a failure, delete the repository, create it again and
    repeat.
    """
    repository = session.repository(uri)
    polling = polling_of(poll_interval, timeout)
    session.output.line(f"Repository: {repository}")
    refs = _read(manifest)
    names = {"repository": repository.repository}
    task = session.server.ask("POST", _RESTORE, names, TaskCreation, refs)
    query = {"task_id": task.id}
    with progress("Restoring refs"):
        found = completed(
            "refs restore",
            lambda: session.server.ask("GET", _RESTORE, names, DumpStatus, query=query),
            polling,
        )
    paint = session.output.paint
    session.output.item(
        found, lambda _: ["", paint("All references restored successfully!", "green")]
    )


def _read(manifest: Path) -> RefsDump:
    """Return the refs of a manifest.

    Raises:
        CommandError: it cannot be read, or is not a manifest.
    """
    content = content_of(manifest)
    try:
        return msgspec.json.decode(content, type=RefsDump)
    except msgspec.DecodeError as error:
        raise CommandError(
            f"{manifest} is not a manifest of `refs-dump`: {error}; name the file that it printed"
        ) from error
