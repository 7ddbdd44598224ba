"""`graveler fs cp` and `fs mv`: copies within a repository, made by the server."""

from collections.abc import Iterator
from functools import partial
from threading import Lock
from typing import Literal

import click

from graveler_cli.arguments import parallelism_option
from graveler_cli.client import ApiRefusedError, NoDataError, named
from graveler_cli.commands.fs.options import (
    BRANCH_OBJECT,
    OBJECT,
    check,
    names_of,
    options_of,
    recursive_option,
)
from graveler_cli.commands.fs.transferring import folder_of
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.schemas import ObjectStats
from graveler_cli.session import CommandSession
from graveler_cli.uris import SCHEME, PathUri

_BRANCH = "/repositories/{repository}/branches/{branch}"

_source_argument = partial(click.argument, metavar="SOURCE_URI", help="lakefs://REPO/REF/PATH")
_destination_argument = partial(
    click.argument, metavar="DESTINATION_URI", help="lakefs://REPO/BRANCH/PATH"
)


@_source_argument("source")
@_destination_argument("destination")
@recursive_option
@parallelism_option
def cp(
    session: CommandSession,
    source: str,
    destination: str,
    *,
    recursive: bool,
    parallelism: int | None,
) -> None:
    """Copy an object, or all objects below a path, within a repository.

    The server copies, so no data pass through this machine. If possible, the copy shares the data.
    """
    Copies(session, source, destination, word="copy").run(parallelism, recursive=recursive)


@_source_argument("source")
@_destination_argument("destination")
@recursive_option
@parallelism_option
def mv(
    session: CommandSession,
    source: str,
    destination: str,
    *,
    recursive: bool,
    parallelism: int | None,
) -> None:
    """Move an object, or all objects below a path, within a repository.

    A source is deleted after its copy is stored. It must be on a branch.
    """
    Copies(session, source, destination, word="move").run(parallelism, recursive=recursive)


class Copies:
    """Copies, moves or a restore between two paths; word says which."""

    def __init__(
        self,
        session: CommandSession,
        source: str,
        destination: str,
        *,
        word: Literal["copy", "move", "restore"],
    ) -> None:
        self._session = session
        self._is_move = word == "move"
        self._word = word
        self.source = _uri(session, source)
        self.destination = _uri(session, destination)
        if self.source.repository != self.destination.repository:
            raise UsageError(
                f"{self.source} and {self.destination} are in two repositories: use "
                "fs download and fs upload"
            )
        self._shares = True
        self._lock = Lock()
        self._done = 0
        self._failed = 0
        self._without_data = 0

    def run(self, parallelism: int | None, *, recursive: bool) -> None:
        """Copy or move the source.

        Raises:
            CommandError: a copy failed.
        """
        options = options_of(self._session, parallelism, None)
        if self._is_move and self.source.ref != self.destination.ref:
            self._require_branch()
        if not recursive:
            self._copy_one()
            return
        # Imported late, as all that transfers need.
        from graveler_cli.transfers.jobs import TransferTally  # noqa: PLC0415
        from graveler_cli.transfers.workers import TaskThreads  # noqa: PLC0415

        prefix, target = folder_of(self.source.path), folder_of(self.destination.path)
        is_same_ref = self.source.ref == self.destination.ref
        if is_same_ref and target.startswith(prefix):
            raise UsageError(f"{self.destination} is inside of {self.source}: name another path")
        if is_same_ref:
            self._refuse_nested(prefix, target)
        workers = TaskThreads(options.parallelism, options.parallelism)
        skipped = len(prefix)
        workers.each(self._below(prefix), lambda path: self._try(path, target + path[skipped:]))
        if not self._done and not self._failed:
            raise CommandError(f"no objects in path: {self.source}")
        tally = TransferTally(
            uploaded=self._done, failed=self._failed, without_data=self._without_data
        )
        check(self._word, tally)

    def _require_branch(self) -> None:
        """Refuse a source that cannot be deleted, before anything is copied."""
        names = {"repository": self.source.repository, "branch": self.source.ref}
        try:
            self._session.server.request("GET", _BRANCH, names)
        except ApiRefusedError as error:
            if error.status not in {400, 404}:
                raise
            raise CommandError(f"{self.source} is not on a branch: use fs cp") from error

    def _refuse_nested(self, prefix: str, target: str) -> None:
        """Refuse sources that would replace other sources, as a/b/b/x does if a/b/ becomes a/."""
        if prefix.startswith(target):
            nested = prefix + prefix.removeprefix(target)
            if next(self._below(nested), None) is not None:
                raise CommandError(
                    f"objects below {nested} would replace objects below {prefix}: "
                    f"{self._word} it to another path first"
                )

    def _copy_one(self) -> None:
        target = self.destination.path
        if not target or target.endswith("/"):
            target += self.source.path.rpartition("/")[2]
        if self.source.ref == self.destination.ref and self.source.path == target:
            raise UsageError(f"{self.source} is the destination as well: name another path")
        with named(str(self.source)):
            self._copy(self.source.path, target)

    def _below(self, prefix: str) -> Iterator[str]:
        query = {"prefix": prefix, "user_metadata": False, "amount": 1000}
        names = names_of(self.source)
        listing = self._session.server.each(f"{OBJECT}/ls", names, ObjectStats, query)
        return (each.path for each in listing)

    def _try(self, path: str, target: str) -> None:
        try:
            self._copy(path, target)
        except ApiRefusedError as error:
            if error.status == 401:
                raise
            self._fail(path, error)
        except CommandError as error:
            self._fail(path, error)

    def _fail(self, path: str, error: CommandError) -> None:
        with self._lock:
            self._failed += 1
            self._without_data += isinstance(error, NoDataError)
            self._session.output.warn(f"error: {self._word} {path}: {error.format_message()}")

    def _copy(self, path: str, target: str) -> None:
        server = self._session.server
        stored = self._stored(path, target)
        if self._is_move:
            query = {"path": path}
            server.ask("DELETE", BRANCH_OBJECT, names_of(self.source), str, query=query)
        source = PathUri(self.source.repository, self.source.ref, path)
        copied = PathUri(self.destination.repository, self.destination.ref, target)
        with self._lock:
            self._done += 1
            self._session.output.item(stored, lambda _: [f"{self._word}: {source} to {copied}"])

    def _stored(self, path: str, target: str) -> ObjectStats:
        """Have the server copy an object; return the copy."""
        body: dict[str, object] = {"src_path": path, "src_ref": self.source.ref}
        names, query = names_of(self.destination), {"dest_path": target}
        template = f"{BRANCH_OBJECT}/copy"
        if self._shares:
            try:
                shared = {**body, "shallow": True}
                return self._session.server.ask("POST", template, names, ObjectStats, shared, query)
            except ApiRefusedError as error:
                if error.status not in {400, 501}:
                    raise
                # The server cannot share these data. For another reason, it refuses the copy below.
        stored = self._session.server.ask("POST", template, names, ObjectStats, body, query)
        self._shares = False
        return stored


def _uri(session: CommandSession, text: str) -> PathUri:
    if "://" not in text and not session.base_uri:
        raise UsageError(
            f"{text!r} is not a {SCHEME} URI: use fs upload or fs download for local files"
        )
    return session.path(text)
