"""`graveler refs-restore`: bring back branches, tags and commits that were dumped."""

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from cli.arguments import RepositoryArgument
from cli.dumps import PollIntervalOption, Refs, Started, Status, TimeoutOption, done, patience
from cli.errors import CommandError
from cli.output import progress
from cli.session import session_of

_RESTORE = "/repositories/{repository}/restore"
_STANDARD_INPUT = "-"


def command(
    context: typer.Context,
    uri: RepositoryArgument,
    *,
    manifest: Annotated[
        str,
        typer.Option(
            "--manifest",
            help="The file that `refs-dump` printed; - is standard input.",
            show_default=False,
        ),
    ],
    poll_interval: PollIntervalOption = "3s",
    timeout: TimeoutOption = "1h",
) -> None:
    """Restore dumped refs into a bare repository, whose storage namespace has the dump's files.

    `repo create-bare` creates one. After a failure, delete the repository, create it again and
    repeat.
    """
    session = session_of(context)
    repository = session.repository(uri)
    how = patience(poll_interval, timeout)
    session.output.line(f"Repository: {repository}")
    refs = _read(manifest)
    names = {"repository": repository.repository}
    task = session.server.ask("POST", _RESTORE, names, Started, refs)
    query = {"task_id": task.id}
    with progress("Restoring refs"):
        found = done(
            "refs restore",
            lambda: session.server.ask("GET", _RESTORE, names, Status, query=query),
            how,
        )
    paint = session.output.paint
    session.output.item(
        found, lambda _: ["", paint("All references restored successfully!", "green")]
    )


def _read(manifest: str) -> Refs:
    """Return the refs of a manifest.

    Raises:
        CommandError: it cannot be read, or is no manifest.
    """
    try:
        from_input = manifest == _STANDARD_INPUT
        content = sys.stdin.read() if from_input else Path(manifest).read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise CommandError(f"cannot read the manifest {manifest}: {reason}") from error
    try:
        return msgspec.json.decode(content, type=Refs)
    except msgspec.DecodeError as error:
        raise CommandError(
            f"{manifest} is no manifest of `refs-dump`: {error}; write the file that it printed"
        ) from error
