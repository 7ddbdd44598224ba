"""Records of multipart uploads in memory: a part of the RefStore."""

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from graveler.errors import UploadNotFoundError
from graveler.model import Repository
from graveler.model.recorded_uploads import Upload

# Uploads in a page of a listing.
UPLOADS_PAGE_AMOUNT = 2


class MemoryUploads:
    """UploadStore in a dictionary for each repository."""

    between: Callable[[], None]
    _lock: threading.RLock

    @abstractmethod
    def uploads_of(self, repository: Repository) -> dict[str, Upload]:
        """Return the repository's uploads by ID, to be changed under the lock."""

    def upload(
        self, repository: Repository, branch: str, path: bytes, upload_id: str
    ) -> Upload | None:
        with self._lock:
            found = self.uploads_of(repository).get(upload_id)
        return found if found and (found.branch, found.path) == (branch, path) else None

    def put_upload(self, repository: Repository, upload: Upload) -> None:
        with self._lock:
            self.uploads_of(repository).setdefault(upload.id, upload)

    def delete_upload(self, repository: Repository, upload: Upload) -> bool:
        with self._lock:
            uploads = self.uploads_of(repository)
            if upload.id in uploads and uploads[upload.id].completed is not None:
                return False
            uploads.pop(upload.id, None)
            return True

    def uploads(self, repository: Repository, start: bytes, end: bytes | None) -> Iterator[Upload]:
        after = (start, "")
        while page := self._page(repository, after, end):
            yield from page
            after = page[-1].place
            self.between()

    def _page(
        self, repository: Repository, after: tuple[bytes, str], end: bytes | None
    ) -> list[Upload]:
        with self._lock:
            uploads = sorted(self.uploads_of(repository).values(), key=lambda each: each.place)
        wanted = [each for each in uploads if each.place > after]
        return [each for each in wanted if end is None or each.key < end][:UPLOADS_PAGE_AMOUNT]

    @contextmanager
    def completing(self, repository: Repository, completed: Upload) -> Iterator[None]:
        """Replace the open upload by the completed one, as the last part of a transaction."""
        with self._lock:
            current = self.upload(repository, completed.branch, completed.path, completed.id)
            if current is None or current.completed is not None:
                raise UploadNotFoundError(f"upload {completed.id} is not open")
            yield
            self.uploads_of(repository)[completed.id] = completed
