"""A bounded cache of committed files in a local folder, in front of S3.

Files are immutable, so entries never become invalid. They are only evicted, the least recently used
first. A file is read in pieces at first, and fetched whole after a few reads. Threads that need it
at the same time wait for one fetch. A file appears in the folder by rename, so it is always whole.
Readers verify the checksum of each block, so a cached file is as safe as S3's.

Several processes may share the folder. Each finds files of the others and counts the files that it
knows. A file that another process evicted is a miss.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import Future
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from graveler.aws import usage
from graveler.aws.usage import Counted
from graveler.ports import CommittedFiles

_COUNTED_FILES_MAX = 10_000


class CachedFiles:
    """`graveler.ports.CommittedFiles` that keeps copies of files that are read repeatedly."""

    def __init__(
        self, source: CommittedFiles, folder: Path, bytes_max: int, reads_before_fetch: int
    ) -> None:
        self._source = source
        self._folder = folder
        self._bytes_max = bytes_max
        self._reads_before_fetch = reads_before_fetch
        self._lock = threading.Lock()
        self._sizes: OrderedDict[str, int] = OrderedDict()  # least recently used first
        self._bytes = 0
        self._reads: OrderedDict[str, int] = OrderedDict()
        self._fetching: dict[str, Future[bytes]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self._find_files()

    def is_stored(self, namespace: str, file_id: str) -> bool:
        return self._source.is_stored(namespace, file_id)

    def read_tail(self, namespace: str, file_id: str, length: int) -> tuple[bytes, int]:
        name = _name(namespace, file_id)
        size = self._size(name)
        if size is not None:
            kept = min(length, size)
            content = self._read_cached(name, size - kept, kept)
            if content is not None:
                return content, size
        usage.count(Counted.CACHE_MISSES)
        if self._is_wanted_whole(name):
            whole = self._fetch(namespace, file_id)
            return whole[max(0, len(whole) - length) :], len(whole)
        tail, size = self._source.read_tail(namespace, file_id, length)
        if len(tail) == size:
            self._keep(name, tail)
        return tail, size

    def read(self, namespace: str, file_id: str, offset: int, length: int) -> bytes:
        name = _name(namespace, file_id)
        size = self._size(name)
        if size is not None and offset + length <= size:
            content = self._read_cached(name, offset, length)
            if content is not None:
                return content
        usage.count(Counted.CACHE_MISSES)
        if self._is_wanted_whole(name):
            whole = self._fetch(namespace, file_id)
            if offset + length <= len(whole):
                return whole[offset : offset + length]
        # The source raises the error for a range beyond the end.
        return self._source.read(namespace, file_id, offset, length)

    def read_all(self, namespace: str, file_id: str) -> bytes:
        content = self._kept(_name(namespace, file_id))
        if content is not None:
            return content
        usage.count(Counted.CACHE_MISSES)
        return self._fetch(namespace, file_id)

    def write(self, namespace: str, file_id: str, content: bytes) -> bool:
        # Keep only bytes that were stored. An existing file of this ID may be compressed in another
        # way. A reader may hold its index, which would not fit these bytes.
        stored = self._source.write(namespace, file_id, content)
        if stored:
            self._keep(_name(namespace, file_id), content)
        return stored

    def forget(self) -> None:
        with self._lock:
            forgotten = list(self._sizes)
            self._sizes.clear()
            self._bytes = 0
        self._delete(forgotten)

    def _kept(self, name: str) -> bytes | None:
        """Return the whole file if the folder has it."""
        size = self._size(name)
        return None if size is None else self._read_cached(name, 0, size)

    def _size(self, name: str) -> int | None:
        with self._lock:
            size = self._sizes.get(name)
            if size is not None:
                self._sizes.move_to_end(name)
                return size
        return self._adopted(name)

    def _adopted(self, name: str) -> int | None:
        """Count a file of another process; return its size, or None if there is no file."""
        try:
            size = os.stat(f"{self._folder}/{name}").st_size  # noqa: PTH116 - as in _read_cached
        except OSError:
            return None
        with self._lock:
            evicted = [] if name in self._sizes else self._account(name, size)
        self._delete(evicted)
        return size

    def _read_cached(self, name: str, offset: int, length: int) -> bytes | None:
        try:
            # Joining the name as a Path would take as long as opening the file.
            descriptor = os.open(f"{self._folder}/{name}", os.O_RDONLY)
            try:
                content = os.pread(descriptor, length, offset)
            finally:
                os.close(descriptor)
        except OSError:
            content = b""
        if len(content) == length:
            usage.count(Counted.CACHE_HITS)
            return content
        with self._lock:
            # Another process may have evicted it. A file that exists must stay counted: another
            # thread may have kept it since the attempt to open it.
            if not (self._folder / name).exists():
                self._bytes -= self._sizes.pop(name, 0)
        return None

    def _is_wanted_whole(self, name: str) -> bool:
        with self._lock:
            if name in self._fetching:
                return True
            reads = self._reads.pop(name, 0) + 1
            self._reads[name] = reads
            if len(self._reads) > _COUNTED_FILES_MAX:
                self._reads.popitem(last=False)
            return reads > self._reads_before_fetch

    def _fetch(self, namespace: str, file_id: str) -> bytes:
        """Return the whole file, fetched by one thread for all that need it now."""
        name = _name(namespace, file_id)
        with self._lock:
            fetching = self._fetching.get(name)
            if fetching is None:
                mine: Future[bytes] = Future()
                self._fetching[name] = mine
        if fetching is not None:
            return fetching.result()
        try:
            # Another fetch may have kept the file after this thread's miss.
            content = self._kept(name)
            if content is None:
                content = self._source.read_all(namespace, file_id)
                self._keep(name, content)
            mine.set_result(content)
        except BaseException as error:
            mine.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._fetching[name]
        return content

    def _keep(self, name: str, content: bytes) -> None:
        if len(content) > self._bytes_max:
            return
        partial = self._folder / f"{name}.{uuid4().hex}"
        try:
            partial.write_bytes(content)
            with self._lock:  # a file appears and is counted at one moment
                partial.replace(self._folder / name)
                evicted = self._account(name, len(content))
        except OSError:
            # With a full disk, reads are slower but right.
            partial.unlink(missing_ok=True)
            return
        self._delete(evicted)

    def _account(self, name: str, size: int) -> list[str]:
        """Count the file; return the least recently used files, which do not fit any more."""
        self._reads.pop(name, None)
        self._bytes += size - self._sizes.pop(name, 0)
        self._sizes[name] = size
        evicted = []
        while self._bytes > self._bytes_max:
            oldest, oldest_size = self._sizes.popitem(last=False)
            self._bytes -= oldest_size
            evicted.append(oldest)
        return evicted

    def _delete(self, names: Iterable[str]) -> None:
        for name in names:
            (self._folder / name).unlink(missing_ok=True)

    def _find_files(self) -> None:
        """Count the files of earlier processes, and delete partly written ones."""
        found: list[tuple[float, str, int]] = []
        for path in self._folder.iterdir():
            if path.suffix:
                path.unlink(missing_ok=True)
                continue
            try:
                status = path.stat()
            except FileNotFoundError:
                continue
            found.append((status.st_mtime, path.name, status.st_size))
        for _, name, size in sorted(found):
            self._delete(self._account(name, size))


def _name(namespace: str, file_id: str) -> str:
    # Files of one ID in two namespaces may have different bytes.
    return f"{_short_hash(namespace)}-{file_id}"


@lru_cache(maxsize=1_000)
def _short_hash(namespace: str) -> str:
    return sha256(namespace.encode()).hexdigest()[:16]
