"""Committed files for measurements: in a local folder, and behind a simulated slow store."""

import os
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from uuid import uuid4

from graveler.errors import CorruptDataError


class FolderFiles:
    """`graveler.ports.CommittedFiles` in a local folder, each file under its ID.

    What lies in the folders beneath can be read as well, and is never written: so what a
    measurement writes can be thrown away, and the repository that it began from stays.
    """

    def __init__(self, folder: Path, *beneath: Path) -> None:
        self.folders = (folder, *beneath)
        folder.mkdir(parents=True, exist_ok=True)

    def forget(self) -> None:
        """Use the folder as the store."""

    def read_tail(self, namespace: str, file_id: str, length: int) -> tuple[bytes, int]:
        file = self._open(namespace, file_id)
        try:
            size_bytes = os.fstat(file).st_size
            offset = max(0, size_bytes - length)
            return os.pread(file, size_bytes - offset, offset), size_bytes
        finally:
            os.close(file)

    def read(self, namespace: str, file_id: str, offset: int, length: int) -> bytes:
        file = self._open(namespace, file_id)
        try:
            content = os.pread(file, length, offset)
        finally:
            os.close(file)
        if len(content) != length:
            raise CorruptDataError(f"{namespace}/{file_id} ends before {offset + length}")
        return content

    def read_all(self, namespace: str, file_id: str) -> bytes:
        return self.read_tail(namespace, file_id, 1 << 40)[0]

    def is_stored(self, namespace: str, file_id: str) -> bool:
        with suppress(CorruptDataError):
            os.close(self._open(namespace, file_id))
            return True
        return False

    def write(self, namespace: str, file_id: str, content: bytes) -> bool:
        with suppress(CorruptDataError):
            os.close(self._open(namespace, file_id))
            return False
        path = Path(_path(self.folders[0], namespace, file_id))
        partial = path.with_suffix(f".{uuid4().hex}")
        try:
            partial.write_bytes(content)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(content)
        try:
            # Creating a link is atomic, and never replaces another file.
            os.link(partial, path)
        except FileExistsError:
            return False
        finally:
            partial.unlink()
        return True

    def _open(self, namespace: str, file_id: str) -> int:
        for folder in self.folders:
            try:
                return os.open(_path(folder, namespace, file_id), os.O_RDONLY)
            except FileNotFoundError:
                continue
        raise CorruptDataError(f"{namespace}/{file_id} is missing")


def _path(folder: Path, namespace: str, file_id: str) -> str:
    # Kept as text: joining a Path would take half as long as the read.
    return f"{folder}/{namespace.partition('://')[2]}/{file_id}"


@dataclass
class Traffic:
    """Counts of requests and bytes to and from a store."""

    reads: int = 0
    bytes_read: int = 0
    writes: int = 0
    bytes_written: int = 0

    @property
    def requests(self) -> int:
        return self.reads + self.writes


class CountedFiles:
    """Counts requests to other files, and delays each answer by latency_s."""

    def __init__(self, files: FolderFiles, latency_s: float = 0) -> None:
        self.traffic = Traffic()
        self.files = files
        self._latency_s = latency_s
        self._lock = threading.Lock()

    def forget(self) -> None:
        self.files.forget()

    def read_tail(self, namespace: str, file_id: str, length: int) -> tuple[bytes, int]:
        tail, size_bytes = self.files.read_tail(namespace, file_id, length)
        self._has_read(tail)
        return tail, size_bytes

    def read(self, namespace: str, file_id: str, offset: int, length: int) -> bytes:
        content = self.files.read(namespace, file_id, offset, length)
        self._has_read(content)
        return content

    def read_all(self, namespace: str, file_id: str) -> bytes:
        content = self.files.read_all(namespace, file_id)
        self._has_read(content)
        return content

    def is_stored(self, namespace: str, file_id: str) -> bool:
        self._has_read(b"")
        return self.files.is_stored(namespace, file_id)

    def write(self, namespace: str, file_id: str, content: bytes) -> bool:
        stored = self.files.write(namespace, file_id, content)
        with self._lock:
            self.traffic.writes += 1
            self.traffic.bytes_written += len(content)
        if self._latency_s:
            sleep(self._latency_s)
        return stored

    def _has_read(self, content: bytes) -> None:
        with self._lock:
            self.traffic.reads += 1
            self.traffic.bytes_read += len(content)
        if self._latency_s:
            sleep(self._latency_s)
