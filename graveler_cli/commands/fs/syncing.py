"""`graveler fs sync`: make a local folder and a path of a repository equal."""

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from graveler_cli import completion
from graveler_cli.arguments import no_progress_option, parallelism_option, pre_sign_option
from graveler_cli.commands.fs.options import (
    check,
    links_of,
    local_path,
    options_of,
    runner_of,
)
from graveler_cli.commands.fs.transferring import download_of, folder_of, upload_of
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.grammar import flag, option
from graveler_cli.schemas import ObjectStats
from graveler_cli.session import CommandSession
from graveler_cli.uris import SCHEME, PathUri

if TYPE_CHECKING:
    from graveler_cli.transfers.comparing import Pair
    from graveler_cli.transfers.files import LocalFile
    from graveler_cli.transfers.jobs import Job, TransferTally
    from graveler_cli.transfers.runner import TransferRunner

_DELETED_AT_ONCE = 1000


@click.argument(
    "source",
    help="A local folder, or lakefs://REPO/REF/PATH.",
    shell_complete=completion.local_or_stored_paths,
)
@click.argument(
    "destination",
    help="A path of a branch, or a local folder.",
    shell_complete=completion.local_or_stored_paths,
)
@flag("--delete", help="Delete objects or files that the source does not have.")
@flag("--dry-run", help="Show the changes, and make none.")
@option("--exclude", multiple=True, help="Leave out names that match this pattern, as '*.tmp'.")
@option("--include", multiple=True, help="Take names that match this pattern despite --exclude.")
@parallelism_option
@pre_sign_option
@no_progress_option
def sync(
    session: CommandSession,
    source: str,
    destination: str,
    *,
    delete: bool,
    dry_run: bool,
    exclude: tuple[str, ...],
    include: tuple[str, ...],
    parallelism: int | None,
    pre_sign: bool | None,
    no_progress: bool,
) -> None:
    """Copy new and changed files from a local folder to a path, or from a path to a folder.

    Files are compared by size and checksum. Patterns match the name relative to the folder.
    """
    is_upload = destination.startswith(SCHEME)
    if is_upload == source.startswith(SCHEME):
        raise UsageError(
            "name one local folder and one lakefs:// URI; between two paths of a repository use "
            "fs cp --recursive"
        )
    path = session.path(destination if is_upload else source)
    folder = local_path(source if is_upload else destination)
    if is_upload and not folder.is_dir():
        raise CommandError(f"{source} is not a folder")
    if not is_upload and folder.exists() and not folder.is_dir():
        raise CommandError(f"{destination} is not a folder")
    runner = runner_of(
        session, path, options_of(session, parallelism, pre_sign), no_progress=no_progress
    )
    run = _Sync(session, runner, path, folder, _chosen(exclude, include))
    run.source = source
    run.is_dry, run.deletes = dry_run, delete
    check("sync", run.upload() if is_upload else run.download())


class _Sync:
    """One run."""

    is_dry = False
    deletes = False
    source = ""  # as the user wrote it

    def __init__(
        self,
        session: CommandSession,
        runner: "TransferRunner",
        path: PathUri,
        folder: Path,
        is_chosen: Callable[[str], bool],
    ) -> None:
        self._session = session
        self._runner = runner
        self._path = path
        self._prefix = folder_of(path.path)
        self._folder = folder
        self._is_chosen = is_chosen
        self._links = links_of(session)

    def upload(self) -> "TransferTally":
        """Make the path equal to the folder."""
        from graveler_cli.transfers.files import walk  # noqa: PLC0415

        if self.deletes and next(walk(self._folder, self._links), None) is None:
            # The folder may be an unmounted disk, which must not empty the path.
            raise CommandError(
                f"no files in {self.source}: to delete all that is below {self._path}, use fs rm"
            )

        def jobs() -> Iterator["Job"]:
            for name, file, found in self._pairs(presign=False):
                if file is None:
                    if self.is_dry and self._is_extra(name):
                        self._show("delete", name)
                elif self._differs(file, found):
                    if self.is_dry:
                        self._show("upload", name)
                    else:
                        yield upload_of(file, self._prefix, {})

        tally = self._runner.run(jobs(), lambda job, _: self._show("upload", self._name(job)))
        if self.deletes and tally.failed:
            # A failed file may have been renamed: its old object is its only copy.
            self._session.output.warn("warning: nothing was deleted, because uploads failed")
        elif self.deletes and not self.is_dry:
            self._remove_extra(tally)
        return tally

    def _is_extra(self, name: str) -> bool:
        """Whether to delete an object without a file in the folder."""
        from graveler_cli.transfers.files import is_left_out  # noqa: PLC0415

        # Names that end with a slash mark folders, which may exist.
        return self.deletes and not name.endswith("/") and not is_left_out(name)

    def _remove_extra(self, tally: "TransferTally") -> None:
        pairs = self._pairs(presign=False)
        extra = (name for name, file, _ in pairs if file is None and self._is_extra(name))
        while names := list(islice(extra, _DELETED_AT_ONCE)):
            removed = self._runner.remove(self._prefix + each for each in names)
            tally.removed += removed.removed
            tally.failed += removed.failed
            for each in names if not removed.failed else ():
                self._show("delete", each)

    def download(self) -> "TransferTally":
        """Make the folder equal to the path."""
        from graveler_cli.transfers.comparing import modified_s  # noqa: PLC0415
        from graveler_cli.transfers.files import TargetFolder  # noqa: PLC0415

        if self.deletes and next(self._runner.listing(self._prefix), None) is None:
            # The path may be mistyped, which must not empty the folder.
            raise CommandError(f"no objects in path: {self._path}")
        folder = TargetFolder(self._folder)
        removed = _tally()

        def jobs() -> Iterator["Job"]:
            presign = not self.is_dry and self._runner.presigns_listings
            for name, file, found in self._pairs(presign=presign):
                if found is None:
                    if self.deletes and file is not None:
                        self._delete(file, removed)
                elif name.endswith("/"):
                    continue
                elif folder.shadows.hide(name) or file is None or self._differs(file, found):
                    if self.is_dry:
                        self._show("download", name)
                    else:
                        when_s = modified_s(found)
                        yield download_of(found, self._prefix, folder, self._links, when_s)

        tally = self._runner.run(jobs(), lambda job, _: self._show("download", self._name(job)))
        tally.removed += removed.removed
        tally.failed += removed.failed
        return tally

    def _delete(self, file: "LocalFile", tally: "TransferTally") -> None:
        if not self.is_dry:
            try:
                file.path.unlink(missing_ok=True)
            except OSError as error:
                tally.failed += 1
                self._session.output.warn(f"error: delete {file.path}: {error.strerror}")
                return
            tally.removed += 1
        self._show("delete", file.name)

    def _pairs(self, *, presign: bool) -> Iterator["Pair"]:
        from graveler_cli.transfers.comparing import side_by_side  # noqa: PLC0415
        from graveler_cli.transfers.files import walk  # noqa: PLC0415

        files = walk(self._folder, self._links) if self._folder.is_dir() else ()
        objects = self._runner.listing(self._prefix, presign=presign)
        pairs = side_by_side(files, objects, self._prefix)
        return (pair for pair in pairs if self._is_chosen(pair[0]))

    @staticmethod
    def _differs(file: "LocalFile", found: ObjectStats | None) -> bool:
        from graveler_cli.transfers.comparing import has_changed, has_other_content  # noqa: PLC0415

        if found is None:
            return True
        return has_changed(file, found) if file.is_link else has_other_content(file, found)

    def _name(self, job: "Job") -> str:
        return job.path.removeprefix(self._prefix)

    def _show(self, action: str, name: str) -> None:
        dry = "(dry run) " if self.is_dry else ""
        value: dict[str, Any] = {"action": action, "path": name}
        self._session.output.item(value, lambda _: [f"{dry}{action}: {name}"])


def _tally() -> "TransferTally":
    from graveler_cli.transfers.jobs import TransferTally  # noqa: PLC0415

    return TransferTally()


def _chosen(exclude: Sequence[str], include: Sequence[str]) -> Callable[[str], bool]:
    """Return the filter of names: all but excluded ones, unless they are included again."""

    def is_chosen(name: str) -> bool:
        if not any(fnmatchcase(name, each) for each in exclude):
            return True
        return any(fnmatchcase(name, each) for each in include)

    return is_chosen
