"""The reports of a run under its status path: before it writes, and when it has ended."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property

from graveler.errors import CorruptDataError, GravelerError, InvalidInputError
from graveler.export import manifest, status
from graveler.export.lifecycle import destination_of, overlapping_destinations
from graveler.export.manifest import ETag, piece_uri
from graveler.export.paths import is_within
from graveler.export.record import ExportState
from graveler.operations.exports.lease import ExportLease
from graveler.operations.exports.retried_requests import GaveUpError, RetriedRequests
from graveler.ports import UploadedPart
from graveler.times import rfc3339

# S3 takes 10,000 parts of at least 5 MiB.
_PART_BYTES = 8 * 1024 * 1024
_CHUNK_BYTES = 4 * 1024 * 1024
# The first line of a piece has a key of at most 1,024 bytes. JSON may encode each byte as six.
_FIRST_LINE_BYTES = 8 * 1024


class ExportReports:
    """Writes the files of one run."""

    def __init__(
        self,
        lease: ExportLease,
        requests: RetriedRequests,
        last_requests: RetriedRequests,
        hold: Callable[[], None],
    ) -> None:
        """Write for the leased run.

        Args:
            lease: the run.
            requests: read and write the files.
            last_requests: write the report of a failure, when little time may be left.
            hold: renews the lease before each request, or raises; a manifest takes long.
        """

        def before_request() -> None:
            hold()
            requests.before_request()

        self._lease = lease
        self._objects = requests.engine.objects
        self._requests = RetriedRequests(requests.engine, before_request)
        self._last_requests = last_requests
        run = lease.run
        repository, branch = lease.repo.record.name, lease.record.branch
        self._content = lease.repo.content(run.commit_id)
        self._file = status.status_file(run.configuration, repository, branch, run.commit_id)
        self.latest_file = status.latest_file(run.configuration, run.started_ns)

    @cached_property
    def objects(self) -> int:
        """The number of objects in the commit.

        Raises:
            CorruptDataError: its metarange cannot be read.
        """
        return self._content.count()

    def announce(self) -> None:
        """Withdraw the reports of earlier runs about the destination and about this commit.

        Raises:
            GaveUpError: a file cannot be rewritten or deleted.
        """
        run = self._lease.run
        known = destination_of(self._lease.record, run.configuration.path)
        for each in (known, *overlapping_destinations(self._lease.record)):
            if each.status_file:
                with self._unless_given_up(each.status_file):
                    self._supersede(each.status_file)
        if self._file:
            self._requests.delete(self._file)

    def withdraw(self) -> None:
        """Delete the reports of an earlier runner, which died before it ended the run.

        Raises:
            GaveUpError: a file cannot be deleted.
        """
        for each in filter(None, (self._file, self.latest_file)):
            self._requests.delete(each)

    def _supersede(self, status_file: str) -> None:
        """Rewrite an earlier run's report of success, which is about to become false."""
        text = self._requests.get(status_file)
        if text is not None:  # that run may have ended before it reported
            superseded = status.superseded_text(text, self._lease.run.id)
            self._requests.put(status_file, superseded, status.JSON_TYPE)

    @contextmanager
    def _unless_given_up(self, uri: str) -> Iterator[None]:
        """Ignore that a file cannot be accessed if the export has left its path.

        Such a path may refuse all requests, and must not block the export.
        """
        status_path = self._lease.run.configuration.status_path
        try:
            yield
        except GaveUpError as error:
            is_refused = isinstance(error.__cause__, InvalidInputError)
            if not is_refused or (status_path and is_within(uri, status_path)):
                raise

    def succeed(self, pieces: int, etags: Sequence[ETag]) -> str:
        """Report that the destination holds the commit.

        Args:
            pieces: the number of pieces of the manifest.
            etags: the keys and ETags of copies that no piece holds.

        Returns:
            The URI of the manifest; "" without a status path.

        Raises:
            GaveUpError: a file cannot be written.
        """
        state = ExportState.REPAIRED if self._lease.run.repaired_file else ExportState.SUCCEEDED
        text = status.status_text(state, 0)
        manifest_uri = ""
        if self._file:
            self._requests.put(self._file, text, status.TEXT_TYPE)
            manifest_uri = status.manifest_file(self._file)
            self._upload(manifest_uri, self._manifest_lines(pieces, etags))
        self._report_repair(self._requests, text)
        if self._file:
            text = self._latest_text(status.SUCCESS, 0, manifest_uri)
            self._requests.put(self.latest_file, text, status.JSON_TYPE)
        return manifest_uri

    def fail(self, signalled_errors: int) -> None:
        """Report that the run has failed, without raising if the report cannot be written."""
        text = status.status_text(ExportState.FAILED, signalled_errors)
        with suppress(GaveUpError, CorruptDataError):
            if self._file:
                self._last_requests.put(self._file, text, status.TEXT_TYPE)
                latest = self._latest_text(status.FAILED, signalled_errors, "")
                self._last_requests.put(self.latest_file, latest, status.JSON_TYPE)
            # A runner that died may have reported there that the repair has succeeded.
            self._report_repair(self._last_requests, text)

    def _report_repair(self, requests: RetriedRequests, text: bytes) -> None:
        """Rewrite the status file of the failed run that this run repairs, if it has one."""
        repaired_file = self._lease.run.repaired_file
        if repaired_file not in ("", self._file):
            with self._unless_given_up(repaired_file):
                requests.put(repaired_file, text, status.TEXT_TYPE)

    def _latest_text(self, outcome: str, signalled_errors: int, manifest_uri: str) -> bytes:
        run = self._lease.run
        commit = self._lease.repo.history().commit(run.commit_id)
        fields = {
            "status": outcome,
            "commit": run.commit_id,
            "message": commit.message,
            "repository": self._lease.repo.record.name,
            "branch": self._lease.record.branch,
            "path": run.configuration.path,
            "export_id": run.id,
            "manifest": manifest_uri,
            "objects": self.objects,
            "signalled_errors": signalled_errors,
            "finished": rfc3339(self._lease.repo.engine.clock.now_ns()),
        }
        return status.latest_text(fields)

    # The manifest

    def _manifest_lines(self, pieces: int, etags: Sequence[ETag]) -> Iterator[bytes]:
        namespace, run = self._lease.repo.record.storage_namespace, self._lease.run
        stored = []
        for number in range(pieces):
            uri = piece_uri(namespace, run.id, number)
            beginning = self._requests.get(uri, (0, _FIRST_LINE_BYTES - 1))
            if beginning is not None:  # a slice without copies has no piece
                first_key = next(manifest.etags_in(beginning.splitlines()[:1]))[0]
                stored.append((first_key, manifest.etags_in(self._lines(uri))))
        rest = sorted(dict(etags).items())
        copied = manifest.merged([*stored, (rest[0][0] if rest else b"", rest)])
        known = destination_of(self._lease.record, run.configuration.path)
        before: Iterator[ETag] = iter(())
        if known.manifest:
            with self._unless_given_up(known.manifest):
                before = manifest.etags_in(self._lines(known.manifest))
        return manifest.lines_of(self._content.records(), copied, before)

    def _lines(self, uri: str) -> Iterator[bytes]:
        info = self._requests.retry(uri, lambda: self._objects.head(uri))
        size_bytes = 0 if info is None else info.size_bytes
        return manifest.lines_in(
            self._requests.get(uri, (first, min(first + _CHUNK_BYTES, size_bytes) - 1)) or b""
            for first in range(0, size_bytes, _CHUNK_BYTES)
        )

    def _upload(self, uri: str, lines: Iterator[bytes]) -> None:
        """Store the lines, as a multipart upload if they do not fit into one part."""
        chunks = _chunks(lines)
        content = next(chunks, b"")
        if len(content) < _PART_BYTES:
            self._requests.put(uri, content, manifest.CONTENT_TYPE)
            return
        upload_id = self._requests.retry(
            uri, lambda: self._objects.create_upload(uri, manifest.CONTENT_TYPE).id
        )
        try:
            parts = [self._upload_part(uri, upload_id, 1, content)]
            for number, chunk in enumerate(chunks, start=2):
                parts.append(self._upload_part(uri, upload_id, number, chunk))
            self._requests.retry(uri, lambda: self._objects.complete_upload(uri, upload_id, parts))
        except BaseException:
            with suppress(GravelerError):
                self._objects.abort_upload(uri, upload_id)
            raise

    def _upload_part(self, uri: str, upload_id: str, number: int, content: bytes) -> UploadedPart:
        checksum = self._requests.retry(
            uri, lambda: self._objects.upload_part(uri, upload_id, number, content)
        )
        return UploadedPart(number, checksum)


def _chunks(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the lines in chunks of at least _PART_BYTES, except for the last."""
    held: list[bytes] = []
    size_bytes = 0
    for line in lines:
        held.append(line)
        size_bytes += len(line)
        if size_bytes >= _PART_BYTES:
            yield b"".join(held)
            held, size_bytes = [], 0
    if held:
        yield b"".join(held)
