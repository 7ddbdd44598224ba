"""The port to the files of committed data: ranges and metaranges."""

from typing import Protocol


class CommittedFiles(Protocol):
    """Immutable files under a storage namespace, named by the ID of their content.

    Only committed data name files, so each read of a missing file raises CorruptDataError.
    """

    def read_tail(self, namespace: str, file_id: str, length: int) -> tuple[bytes, int]:
        """Return the last length bytes (all of a shorter file) and the file's size in bytes."""

    def read(self, namespace: str, file_id: str, offset: int, length: int) -> bytes:
        """Return exactly length bytes from offset."""

    def read_all(self, namespace: str, file_id: str) -> bytes:
        """Return the whole file."""

    def write(self, namespace: str, file_id: str, content: bytes) -> bool:
        """Store the file, unless a file of that ID exists: it holds the same records.

        Returns:
            Whether these bytes were stored. The existing file may encode its records differently.
        """

    def is_stored(self, namespace: str, file_id: str) -> bool:
        """Return whether the store has the file, whatever caches hold."""

    def forget(self) -> None:
        """Drop cached files: one may have been repaired since."""
