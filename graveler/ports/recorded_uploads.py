"""The port to the records of multipart uploads."""

from collections.abc import Iterator
from typing import Protocol

from graveler.model import Repository
from graveler.model.recorded_uploads import Upload


class UploadStore(Protocol):
    """Records of multipart uploads, open or completed; each expires after its `expires_s`.

    `StagingStore.stage_upload` completes one.
    """

    def upload(
        self, repository: Repository, branch: str, path: bytes, upload_id: str
    ) -> Upload | None:
        """Return the upload of that ID to that path; None if there is none."""

    def put_upload(self, repository: Repository, upload: Upload) -> None:
        """Store a new upload; an upload of that ID stays as it is.

        Raises:
            UnknownOutcomeError: it may have been stored.
        """

    def delete_upload(self, repository: Repository, upload: Upload) -> bool:
        """Delete the upload if it is open; return False if it is completed.

        True says that it does not exist any more. Another process may have deleted it.
        """

    def uploads(self, repository: Repository, start: bytes, end: bytes | None) -> Iterator[Upload]:
        """Return the uploads with start <= key < end, by place, fetched page by page."""
