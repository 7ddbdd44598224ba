"""`graveler import`: add objects to a branch without copying their bytes."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from graveler_cli import completion
from graveler_cli.arguments import pairs_of
from graveler_cli.commits import (
    allow_empty_message_option,
    check_message,
    message_option,
    metadata_option,
)
from graveler_cli.errors import CommandError
from graveler_cli.grammar import Command, flag, option
from graveler_cli.hook_refusals import in_one_line
from graveler_cli.interruptions import interruptible
from graveler_cli.output import CommandOutput, local_time, progress
from graveler_cli.polling import Polling, ended
from graveler_cli.schemas import Commit, Config, TaskCreation
from graveler_cli.session import CommandSession
from graveler_cli.tasks import TaskFailure
from graveler_cli.uris import PathUri

if TYPE_CHECKING:
    from graveler_cli.client import LakeClient

_BRANCH = "/repositories/{repository}/branches/{branch}"
_IMPORT = f"{_BRANCH}/import"

_POLL_INTERVAL_S = 1.0
_NO_PROGRESS_S_MAX = 600.0
_NOT_FOUND = 404


class ImportStatus(Struct, frozen=True):
    """The state of an import."""

    completed: bool
    update_time: datetime
    ingested_objects: int = 0
    metarange_id: str = ""
    commit: Commit | None = None
    error: TaskFailure | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the import is over."""
        return self.completed or self.error is not None


class Import:
    """An import into a branch."""

    def __init__(self, server: "LakeClient", to: PathUri) -> None:
        self._server = server
        self._names = {"repository": to.repository, "branch": to.ref}
        self._to = to

    def check(self, source: str) -> None:
        """Check the source and the branch before the import.

        Raises:
            CommandError: the server cannot read the source, or the branch does not exist.
        """
        from graveler_cli.client import ApiRefusedError  # noqa: PLC0415 - late, like the server

        storage = self._server.ask("GET", "/config", {}, Config).storage_config
        if storage.import_validity_regex and not re.search(storage.import_validity_regex, source):
            raise CommandError(
                f"import source {source!r} doesn't match current configured storage "
                f"{storage.blockstore_type!r}: write it as {storage.import_validity_regex}"
            )
        try:
            self._server.request("GET", _BRANCH, self._names)
        except ApiRefusedError as error:
            if error.status == _NOT_FOUND:
                raise CommandError(f"target branch {self._to.ref!r} does not exist") from error
            raise

    def start(self, source: str, message: str, metadata: dict[str, str]) -> str:
        """Start; return the import's ID."""
        body = {
            "paths": [{"path": source, "destination": self._to.path, "type": "common_prefix"}],
            "commit": {"message": message, **({"metadata": metadata} if metadata else {})},
        }
        return self._server.ask("POST", _IMPORT, self._names, TaskCreation, body).id

    def status(self, import_id: str) -> ImportStatus:
        """Return the current state."""
        return self._server.ask("GET", _IMPORT, self._names, ImportStatus, query={"id": import_id})

    def cancel(self, import_id: str) -> None:
        """Cancel: the branch stays as it was."""
        self._server.ask("DELETE", _IMPORT, self._names, str, query={"id": import_id})


@click.command(cls=Command)
@option(
    "--from",
    "source",
    required=True,
    help="The objects, as s3://BUCKET/PREFIX/, outside of storage namespaces.",
)
@option(
    "--to",
    required=True,
    help="The destination: lakefs://REPO/BRANCH/PATH",
    shell_complete=completion.paths,
)
@message_option
@allow_empty_message_option(default=True)
@metadata_option
@flag("--no-progress", help="Show no progress.")
@flag("--merge", hidden=True)
def command(
    session: CommandSession,
    *,
    source: str,
    to: str,
    message: str,
    allow_empty_message: bool,
    meta: tuple[str, ...],
    no_progress: bool,
    merge: bool,
) -> None:
    """Import objects into a branch, by a commit; no bytes are copied.

    Ctrl-C cancels the import.
    """
    target = session.path(to)
    if merge:
        session.output.warn("--merge is deprecated: import is done directly into target branch")
    check_message(message, allow_empty=allow_empty_message)
    metadata = pairs_of("--meta", meta)
    work = Import(session.server, target)
    work.check(source)
    with interruptible(lambda _: None) as interruption:
        import_id = work.start(source, message, metadata)
        try:
            with interruption.open(), progress("Importing", hidden=no_progress) as show:
                found = _ended(lambda: work.status(import_id), show)
        except KeyboardInterrupt:
            interruption.begin_cleaning()
            session.output.line()
            session.output.line("Canceling import")
            work.cancel(import_id)
            raise CommandError("import canceled") from None
    if found.error is not None:
        reason = in_one_line(found.error.message, session.server.request, target.repository)
        raise CommandError(f"import failed: {reason}")
    session.output.item(found, lambda each: _lines(each, target.ref, session.output))


def _ended(ask: Callable[[], ImportStatus], show: Callable[[int, int], None]) -> ImportStatus:
    """Wait for the import; return its last status.

    Raises:
        CommandError: it makes no progress.
    """

    def shown() -> ImportStatus:
        found = ask()
        show(found.ingested_objects, 0)
        return found

    return ended("import", shown, Polling(_POLL_INTERVAL_S, _NO_PROGRESS_S_MAX))


def _lines(found: ImportStatus, branch: str, output: CommandOutput) -> Iterator[str]:
    count = output.paint(str(found.ingested_objects), "yellow")
    yield f'Import of {count} object(s) into "{branch}" completed.'
    yield f"MetaRange ID: {output.paint(found.metarange_id, 'yellow')}"
    if commit := found.commit:
        yield f"Commit ID: {output.paint(commit.id, 'yellow')}"
        yield f"Message: {commit.message}"
        yield f"Timestamp: {local_time(commit.creation_date)}"
        yield f"Parents: {', '.join(commit.parents)}"
