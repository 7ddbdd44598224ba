"""Checks of downloaded bytes against an object's checksum."""

import os
import re
from collections.abc import Iterable
from hashlib import md5
from threading import Lock

from cli.shapes import ObjectStats
from cli.transfers.content import BLOCK_BYTES

_MD5 = re.compile(r"[0-9a-f]{32}")
_IN_PARTS = re.compile(r"([0-9a-f]{32})-(\d+)")

_MEBIBYTE = 1024 * 1024
# The sizes of parts that programs upload with: ours, lakectl's, those of AWS's tools and Spark's.
_USUAL_PART_SIZES = tuple(size * _MEBIBYTE for size in (8, 5, 16, 32, 64, 128))

# S3 has no smaller parts, but the last one.
_PARTS_BYTES_MIN = 5 * _MEBIBYTE


def is_md5(checksum: str) -> bool:
    """Whether a checksum is one of the whole content, by its form."""
    return bool(_MD5.fullmatch(checksum))


def uploaded_part_size(stats: ObjectStats) -> int | None:
    """Return the size of the parts of which the checksum is one, if it is a usual one."""
    found = _IN_PARTS.fullmatch(stats.checksum)
    if found is None:
        return None
    size_bytes, parts = stats.size_bytes or 0, int(found[2])
    return next((each for each in _USUAL_PART_SIZES if -(-size_bytes // each) == parts), None)


def checksum_of_parts(digests: Iterable[bytes]) -> str:
    """Return the checksum that S3 gives an object whose parts have these checksums."""
    each = list(digests)
    return f"{md5(b''.join(each), usedforsecurity=False).hexdigest()}-{len(each)}"


def may_be_other(stats: ObjectStats, etag: str, *, is_encrypted: bool, is_store: bool) -> bool:
    """Whether a checksum of MD5's form may be none of the whole content.

    S3 encrypted it with a key of KMS, or it was uploaded in parts and lakeFS dropped their number.
    The object store's own tag has the number.
    """
    known = {""} if is_store else {"", stats.checksum}
    from_parts = "-" in etag or (etag in known and (stats.size_bytes or 0) > _PARTS_BYTES_MIN)
    return is_encrypted or from_parts


class Prefix:
    """The checksum of a file whose parts arrive in any order; it is computed as they do."""

    def __init__(self, descriptor: int, size_bytes: int, part_bytes: int) -> None:
        self._descriptor = descriptor
        self._size_bytes = size_bytes
        self._part_bytes = part_bytes
        self._digest = md5(usedforsecurity=False)
        self._done_bytes = 0
        self._stored: set[int] = set()
        self._lock = Lock()

    def add(self, number: int) -> None:
        """Note that a part is stored; add what is stored without a gap to the checksum."""
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
        """Return the checksum of the whole file, once all is stored."""
        with self._lock:
            self._advance()
            return self._digest.hexdigest()

    def _advance(self) -> None:
        while self._done_bytes // self._part_bytes + 1 in self._stored:
            end_bytes = min(self._done_bytes + self._part_bytes, self._size_bytes)
            while self._done_bytes < end_bytes:
                wanted = min(BLOCK_BYTES, end_bytes - self._done_bytes)
                block = os.pread(self._descriptor, wanted, self._done_bytes)
                if not block:
                    return
                self._digest.update(block)
                self._done_bytes += len(block)
            if self._done_bytes == self._size_bytes:
                return
