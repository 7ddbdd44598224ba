"""`graveler refs-restore`: restore dumped branches, tags and commits."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from graveler_cli.arguments import RepositoryArgument, content_of
from graveler_cli.dumps import (
    DumpStatus,
    PollIntervalOption,
    RefsDump,
    TimeoutOption,
    completed,
    polling_of,
)
from graveler_cli.errors import CommandError
from graveler_cli.output import progress
from graveler_cli.schemas import TaskCreation
from graveler_cli.session import session_of

_RESTORE = "/repositories/{repository}/restore"


def command(
    context: typer.Context,
    uri: RepositoryArgument,
    *,
    manifest: Annotated[
        Path,
        typer.Option(
            "--manifest",
            help="The file that `refs-dump` printed; - is standard input.",
            show_default=False,
        ),
    ],
    poll_interval: PollIntervalOption = "3s",
    timeout: TimeoutOption = "1h",
) -> None:
    """Restore the refs of a dump in the storage namespace of a bare repository.

    `repo create-bare` creates one. After a failure, delete the repository, create it again and
    repeat.
    """
    session = session_of(context)
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
