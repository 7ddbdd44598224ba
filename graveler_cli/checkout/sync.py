"""Applies changes: remote ones to the folder, local ones to the branch."""

import os
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import msgspec

from graveler_cli.checkout.attributes import (
    link_of,
    metadata_of,
    mtime_s,
    permissions_of,
    usual_permissions,
)
from graveler_cli.checkout.differences import Change, ChangeSpool
from graveler_cli.checkout.linked_folder import LinkedFolder
from graveler_cli.checkout.remote import Remote
from graveler_cli.checkout.walk import FileEntry, entry_of
from graveler_cli.errors import CommandError
from graveler_cli.output import CommandOutput
from graveler_cli.schemas import ObjectStats
from graveler_cli.transfers.jobs import DownloadJob, Job, TransferOptions, TransferTally, UploadJob
from graveler_cli.transfers.runner import TransferRunner
from graveler_cli.uris import PathUri

# Failures beyond these are counted, not shown.
_WARNINGS_MAX = 20


class SyncSummary(msgspec.Struct):
    """The numbers of files that were transferred or removed."""

    downloaded: int = 0
    uploaded: int = 0
    removed: int = 0

    def lines(self, operation: str) -> Iterator[str]:
        """Yield lakectl's summary of an operation."""
        yield from ("", f"{operation} Summary:", "")
        if self == SyncSummary():
            yield "No changes"
            return
        yield f"Downloaded: {self.downloaded}"
        yield f"Uploaded: {self.uploaded}"
        yield f"Removed: {self.removed}"
        yield ""


@dataclass(frozen=True, slots=True)
class _FileUpload(UploadJob):
    """The upload of a file, with its entry before the upload."""

    found: FileEntry | None = None


class Sync:
    """Applies changes to a folder and to the branch that it mirrors."""

    def __init__(
        self,
        remote: Remote,
        root: Path,
        options: TransferOptions,
        output: CommandOutput,
        *,
        shows_progress: bool = False,
    ) -> None:
        self.summary = SyncSummary()
        self._remote = remote
        self._rules = remote.rules
        self._folder = LinkedFolder(root, keeps_folders=remote.rules.has_permissions)
        self._options = options
        self._output = output
        self._shows_progress = shows_progress
        self._failures = 0
        self._lock = Lock()  # the engine's threads count too

    def begin(self) -> None:
        """Lock the folder, and keep whatever others change in it from now on.

        Raises:
            CommandError: the folder cannot be written.
        """
        self._folder.begin()

    def to_folder(self, changes: ChangeSpool, uri: PathUri) -> None:
        """Make the folder's files equal to a ref's objects at the paths of remote changes.

        Args:
            changes: the changes; local ones are skipped.
            uri: the path of the ref.

        Raises:
            CommandError: some files could not be changed.
        """
        for change in changes:
            if change.source == "remote" and change.type == "removed":
                self._remove(change.path)
        self.download((each for each in changes if _is_download(each)), uri)

    def download(self, changes: Iterable[Change], uri: PathUri) -> None:
        """Download what remote changes added or changed, in one pass; raises as `to_folder`."""
        folders = ChangeSpool()
        runner = self._runner(uri)

        def place(job: Job, _: ObjectStats) -> None:
            assert isinstance(job, DownloadJob)
            self._place(job, job.path.removeprefix(uri.path))

        tally = runner.run(self._downloads(changes, uri, folders), place)
        # After the files, because a new file changes the time of its folder.
        for change in folders:
            self._set_folder_attributes(change)
        self._end(tally, "downloaded")
        self._folder.clear_partial()

    def to_branch(self, changes: ChangeSpool, uri: PathUri) -> None:
        """Make the branch's objects equal to the folder's files at the paths of local changes.

        Args:
            changes: the changes; remote ones are skipped.
            uri: the path of the branch.

        Raises:
            CommandError: some objects could not be changed, or files changed meanwhile.
        """
        runner = self._runner(uri)

        def check(job: Job, _: ObjectStats) -> None:
            assert isinstance(job, _FileUpload)
            self._check(job, job.path.removeprefix(uri.path))

        tally = runner.run(self._uploads(changes, uri), check)
        self._end(tally, "uploaded")
        tally = runner.remove(self._removals(changes, uri))
        self.summary.removed += tally.removed
        self._end(tally, "removed")

    def _runner(self, uri: PathUri) -> TransferRunner:
        return TransferRunner(
            self._remote.server,
            uri.repository,
            uri.ref,
            self._options,
            warn=self._output.warn,
            shows_progress=self._shows_progress,
        )

    def _downloads(
        self, changes: Iterable[Change], uri: PathUri, folders: ChangeSpool
    ) -> Iterator[Job]:
        for change in changes:
            path, stats = change.path, change.stats
            assert stats is not None
            try:
                if path.endswith("/"):
                    self._folder.make(path)
                    folders.add(change)
                    self._note_download(path)
                elif self._rules.has_links and (link := link_of(stats)) is not None:
                    self._folder.link(path, link)
                    self._note_download(path)
                else:
                    whole = msgspec.structs.replace(stats, path=uri.path + path)
                    target = self._folder.partial(path, stats.checksum)
                    yield DownloadJob(whole.path, target, whole, mtime_s(stats))
            except CommandError as error:
                self._note_failure(error)

    def _place(self, job: DownloadJob, path: str) -> None:
        try:
            if self._rules.has_permissions:
                self._set_permissions(job.target, job.stats, folder=False)
            self._folder.place(job.target, path)
        except CommandError as error:
            self._note_failure(error)
        else:
            self._note_download(path)

    def _uploads(self, changes: ChangeSpool, uri: PathUri) -> Iterator[Job]:
        for change in changes:
            if change.source != "local" or change.type not in {"added", "changed"}:
                continue
            path = change.path
            entry = entry_of(self._folder.root, path, self._rules)
            if entry is None:
                self._note_failure(CommandError(f"{path} was removed meanwhile"))
                continue
            is_file = entry.link is None and not path.endswith("/")
            source = self._folder.root / path if is_file else b""
            metadata = metadata_of(entry, self._rules)
            yield _FileUpload(uri.path + path, source, metadata, found=entry)

    def _check(self, job: _FileUpload, path: str) -> None:
        if not path.endswith("/") and entry_of(self._folder.root, path, self._rules) != job.found:
            self._note_failure(CommandError(f"{path} was changed while it was uploaded"))
            return
        self.summary.uploaded += 1
        self._note("upload", path)

    def _removals(self, changes: ChangeSpool, uri: PathUri) -> Iterator[str]:
        for change in changes:
            if change.source == "local" and change.type == "removed":
                self._note("delete remote path:", change.path)
                yield uri.path + change.path

    def _remove(self, path: str) -> None:
        try:
            self._folder.remove(path)
        except CommandError as error:
            self._note_failure(error)
        else:
            self.summary.removed += 1
            self._note("delete local:", path)

    def _set_folder_attributes(self, change: Change) -> None:
        assert change.stats is not None
        folder = self._folder.root / change.path
        try:
            self._set_permissions(folder, change.stats, folder=True)
            os.utime(folder, (time.time(), mtime_s(change.stats)))
        except OSError as error:
            self._note_failure(CommandError(f"cannot change {folder}: {error.strerror}"))
        except CommandError as error:
            self._note_failure(error)

    def _set_permissions(self, file: Path, stats: ObjectStats, *, folder: bool) -> None:
        wanted = permissions_of(stats) or usual_permissions(folder=folder)
        user = wanted.user if self._rules.has_users else -1
        group = wanted.group if self._rules.has_groups else -1
        try:
            os.chown(file, user, group)
            file.chmod(stat.S_IMODE(wanted.mode))
        except OSError as error:
            raise CommandError(f"cannot set the mode of {file}: {error.strerror}") from error

    def _note_download(self, path: str) -> None:
        with self._lock:
            self.summary.downloaded += 1
        self._note("download", path)

    def _note(self, action: str, path: str) -> None:
        """Print lakectl's line, unless a progress bar replaces it."""
        if not self._shows_progress:
            self._output.line(f"{f'{action} {path}':<40} ... done!")

    def _note_failure(self, error: CommandError) -> None:
        with self._lock:
            self._failures += 1
        if self._failures <= _WARNINGS_MAX:
            self._output.warn(f"error: {error}")

    def _end(self, tally: TransferTally, verb: str) -> None:
        tally.failed += self._failures
        if tally.failed:
            raise CommandError(f"{tally.failed} files could not be {verb}: {tally.advice}")


def _is_download(change: Change) -> bool:
    return change.source == "remote" and change.type in {"added", "changed"}
