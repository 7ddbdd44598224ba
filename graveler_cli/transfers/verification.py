"""Checks of downloaded bytes against an object's checksum."""

import re
from collections.abc import Iterable
from hashlib import md5
from threading import Lock
from typing import Protocol

from graveler_cli.schemas import ObjectStats
from graveler_cli.transfers.content import stored_blocks

_MD5 = re.compile(r"[0-9a-f]{32}")
_IN_PARTS = re.compile(r"([0-9a-f]{32})-(\d+)")

_MEBIBYTE = 1024 * 1024
# The part sizes of programs: ours and those of AWS's tools, lakectl's, and Spark's. The others are
# sizes that people choose.
_USUAL_PART_SIZES = tuple(
    size * _MEBIBYTE for size in (8, 5, 64, 100, 128, 16, 10, 15, 20, 25, 32, 50, 256, 512, 1024)
)

# S3's minimum for all parts but the last.
_PARTS_BYTES_MIN = 5 * _MEBIBYTE


def is_md5(checksum: str) -> bool:
    """Whether a checksum is one of the whole content, by its form."""
    return bool(_MD5.fullmatch(checksum))


def uploaded_part_sizes(stats: ObjectStats) -> list[int]:
    """Return the usual part sizes that give the checksum's number of parts, likely ones first."""
    found = _IN_PARTS.fullmatch(stats.checksum)
    if found is None:
        return []
    size_bytes, parts = stats.size_bytes or 0, int(found[2])
    return [each for each in _USUAL_PART_SIZES if -(-size_bytes // each) == parts]


def checksum_of_parts(digests: Iterable[bytes]) -> str:
    """Return the checksum that S3 gives an object whose parts have these checksums."""
    each = list(digests)
    return f"{md5(b''.join(each), usedforsecurity=False).hexdigest()}-{len(each)}"


def may_be_other(stats: ObjectStats, etag: str, *, is_encrypted: bool, is_store: bool) -> bool:
    """Whether a checksum in MD5's form may not be the MD5 of the whole content.

    S3 may have encrypted the object with a key of KMS. Or it was uploaded in parts, and lakeFS
    dropped their number; the object store's own tag has it.
    """
    known = {""} if is_store else {"", stats.checksum}
    from_parts = "-" in etag or (etag in known and (stats.size_bytes or 0) > _PARTS_BYTES_MIN)
    return is_encrypted or from_parts


class Checksum(Protocol):
    """The checksum of a file whose parts arrive in any order; it is computed as they arrive."""

    def add(self, number: int) -> None:
        """Note that a part of the download is stored."""
        ...

    def hexdigest(self) -> str:
        """Return the checksum of the whole file, once all is stored."""
        ...


def checksum_of(descriptor: int, stats: ObjectStats, part_bytes: int) -> Checksum | None:
    """Return the computation of an object's checksum from the file that it is downloaded to.

    None means that nothing can be compared: the object has no checksum, or the size of its parts
    is unknown.

    Args:
        descriptor: the file.
        stats: the object.
        part_bytes: the size of the download's parts.
    """
    if is_md5(stats.checksum):
        return _OfWhole(descriptor, stats.size_bytes or 0, part_bytes)
    if sizes := uploaded_part_sizes(stats):
        return _OfParts(descriptor, stats, part_bytes, sizes)
    return None


class _OfWhole:
    """An MD5 of all bytes, computed in their order."""

    def __init__(self, descriptor: int, size_bytes: int, part_bytes: int) -> None:
        self._descriptor = descriptor
        self._size_bytes = size_bytes
        self._part_bytes = part_bytes
        self._digest = md5(usedforsecurity=False)
        self._done_bytes = 0
        self._stored: set[int] = set()
        self._lock = Lock()

    def add(self, number: int) -> None:
        """Note that a part is stored; hash all bytes before the first gap."""
        self._stored.add(number)
        while self._lock.acquire(blocking=False):
            try:
                before_bytes = self._done_bytes
                self._advance()
            finally:
                self._lock.release()
            # Another thread may have stored the next part meanwhile, and found the lock taken.
            if before_bytes == self._done_bytes:
                return

    def hexdigest(self) -> str:
        with self._lock:
            self._advance()
            return self._digest.hexdigest()

    def _advance(self) -> None:
        while self._done_bytes // self._part_bytes + 1 in self._stored:
            end_bytes = min(self._done_bytes + self._part_bytes, self._size_bytes)
            left_bytes = end_bytes - self._done_bytes
            for block in stored_blocks(self._descriptor, self._done_bytes, left_bytes):
                self._digest.update(block)
                self._done_bytes += len(block)
            if self._done_bytes < end_bytes or self._done_bytes == self._size_bytes:
                return


class _OfParts:
    """S3's checksum of an object in parts: the MD5 of the MD5s of its uploaded parts."""

    def __init__(
        self, descriptor: int, stats: ObjectStats, part_bytes: int, uploaded_bytes: list[int]
    ) -> None:
        self._descriptor = descriptor
        self._expected = stats.checksum
        self._size_bytes = stats.size_bytes or 0
        self._part_bytes = part_bytes
        self._uploaded_bytes, *self._others = uploaded_bytes
        self._missing_bytes = {
            first: end - first for first, end in self._bounds(self._uploaded_bytes)
        }
        self._digests: dict[int, bytes] = {}
        self._lock = Lock()

    def add(self, number: int) -> None:
        first, end = (number - 1) * self._part_bytes, number * self._part_bytes
        step = self._uploaded_bytes
        for start in range(first // step * step, min(end, self._size_bytes), step):
            stop = min(start + step, self._size_bytes)
            with self._lock:
                self._missing_bytes[start] -= min(end, stop) - max(first, start)
                is_stored = not self._missing_bytes[start]
            if is_stored:
                self._digests[start] = self._digest(start, stop)

    def hexdigest(self) -> str:
        """Return the checksum; that of another usual part size if it is the object's."""
        found = checksum_of_parts(self._digests[each] for each in sorted(self._digests))
        if found != self._expected:
            for other in self._others:
                digests = (self._digest(*each) for each in self._bounds(other))
                if checksum_of_parts(digests) == self._expected:
                    return self._expected
        return found

    def _bounds(self, step: int) -> Iterable[tuple[int, int]]:
        size_bytes = self._size_bytes
        return ((each, min(each + step, size_bytes)) for each in range(0, size_bytes, step))

    def _digest(self, first: int, end: int) -> bytes:
        digest = md5(usedforsecurity=False)
        for block in stored_blocks(self._descriptor, first, end - first):
            digest.update(block)
        return digest.digest()
