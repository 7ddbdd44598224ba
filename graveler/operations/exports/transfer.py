"""The requests with which the steps of an export change the destination."""

from collections.abc import Sequence

from graveler.branches.data import of_recorded
from graveler.branches.views import entry_stat
from graveler.entries import value_entry
from graveler.errors import InvalidInputError
from graveler.export.paths import SUCCESS_MARK, object_uri
from graveler.export.schedule import Outcome, RunFailedError
from graveler.export.work import ExportWork
from graveler.operations.exports.retried_requests import GaveUpError, RetriedRequests
from graveler.ports import ObjectDescription, ObjectInfo
from graveler.staging.listing import prefix_end


class ExportTransfer:
    """`graveler.export.schedule.Transfer` from a repository to an export path."""

    def __init__(self, requests: RetriedRequests, work: ExportWork, path: str) -> None:
        """Copy objects of the work's head to path."""
        self._requests = requests
        self._objects = requests.engine.objects
        self._work = work
        self._head = work.head
        self._path = path

    def copy(self, key: bytes, value: bytes) -> Outcome:
        """Copy the object to the destination, with content type and metadata of the branch."""
        entry = value_entry(value)
        source = entry_stat(self._head.namespace, key, entry)
        # An imported object without content type and metadata keeps those of its source.
        is_described = bool(entry.content_type or entry.metadata)
        description = ObjectDescription(entry.content_type, entry.metadata)
        try:
            target = object_uri(self._path, key)

            def copied(etag: str) -> ObjectInfo:
                return self._objects.copy(
                    source.physical_address,
                    target,
                    entry.size_bytes,
                    description if is_described else None,
                    self._requests.before_request,
                    if_match=etag,
                )

            engine = self._requests.engine
            info = self._requests.retry(target, lambda: of_recorded(engine, source, copied))
        except (InvalidInputError, GaveUpError) as error:
            return Outcome(errors=(str(error),))
        return Outcome(done=1, etags=((key, info.checksum),))

    def delete(self, keys: Sequence[bytes]) -> Outcome:
        """Delete the objects at the destination; a key that no object can have counts as done."""
        uris = [uri for key in keys if (uri := self._uri(key)) is not None]
        stayed: dict[str, str] = {}

        def delete() -> None:
            nonlocal uris, stayed
            stayed = dict(self._objects.delete_many(uris))
            if stayed:
                uris = list(stayed)
                raise GaveUpError(stayed[uris[0]])

        if uris:
            try:
                self._requests.retry(uris[0], delete)
            except GaveUpError as error:
                reasons = stayed or dict.fromkeys(uris, str(error))
                errors = tuple(f"{uri}: {reason}" for uri, reason in reasons.items())
                return Outcome(done=len(keys) - len(errors), errors=errors)
        return Outcome(done=len(keys))

    def unmark(self, directory: bytes) -> Outcome:
        """Delete the directory's mark.

        Raises:
            RunFailedError: it cannot be deleted, so nothing under the directory may change.
        """
        mark = self._uri(directory + SUCCESS_MARK)
        if mark is not None and not self._stays(directory + SUCCESS_MARK):
            try:
                self._requests.delete(mark)
            except GaveUpError as error:
                raise RunFailedError(f"cannot delete an old success mark: {error}") from error
        return Outcome()

    def mark(self, directory: bytes, *, has_objects: bool) -> Outcome:
        """Put the directory's mark if the directory holds objects.

        If the branch has an object of that name, the object takes the mark's place.
        """
        if self._owns(directory + SUCCESS_MARK) or not (has_objects or self._holds(directory)):
            return Outcome()
        try:
            mark = object_uri(self._path, directory + SUCCESS_MARK)
            self._requests.put(mark, b"", "application/octet-stream")
        except (InvalidInputError, GaveUpError) as error:
            return Outcome(errors=(str(error),))
        return Outcome()

    def _stays(self, key: bytes) -> bool:
        """Whether the destination holds the branch's own object, and this run keeps it."""
        return self._owns(key) and next(self._work.changes(key, key + b"\0"), None) is None

    def _owns(self, key: bytes) -> bool:
        return self._head.get(key) is not None

    def _holds(self, directory: bytes) -> bool:
        return next(self._head.records(directory, prefix_end(directory)), None) is not None

    def _uri(self, key: bytes) -> str | None:
        try:
            return object_uri(self._path, key)
        except InvalidInputError:
            return None
