"""The checksums of S3: their headers, lengths and functions."""

import hashlib
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import google_crc32c

from graveler_gateway.protocol.errors import Code, S3ResponseError


class Accumulator(Protocol):
    """A checksum of the bytes so far; hashlib's objects are such."""

    def update(self, data: bytes, /) -> None:
        """Append the data."""

    def digest(self) -> bytes:
        """Return the checksum of all data."""


class _Crc:
    def __init__(self, extend: Callable[[int, bytes], int], length_bytes: int) -> None:
        self._extend = extend
        self._length_bytes = length_bytes
        self._value = 0

    def update(self, data: bytes, /) -> None:
        self._value = self._extend(self._value, data)

    def digest(self) -> bytes:
        return self._value.to_bytes(self._length_bytes, "big")


@dataclass(frozen=True)
class Algorithm:
    """A checksum that S3 knows; name is S3's, such as "CRC32"."""

    name: str
    header: str
    length_bytes: int
    start: Callable[[], Accumulator]

    def parse(self, text: str) -> bytes | None:
        """Return the checksum that the base64 text encodes; None if it is invalid."""
        return decode_exactly(text, self.length_bytes)


def decode_exactly(text: str, length_bytes: int) -> bytes | None:
    """Return the bytes of canonical base64 of this length; None if the text is anything else."""
    try:
        value = b64decode(text, validate=True)
    except ValueError:
        return None
    # Decoders ignore stray bits at the end; two texts of one value are not both right.
    return value if len(value) == length_bytes and encode(value) == text else None


def encode(checksum: bytes) -> str:
    """Return the checksum as headers have it."""
    return b64encode(checksum).decode()


def new_sha256() -> Accumulator:
    """Return a SHA-256 of nothing."""
    return hashlib.sha256()


def new_md5() -> Accumulator:
    """Return an MD5 of nothing."""
    return hashlib.md5(usedforsecurity=False)


@cache
def _crc64_extend() -> Callable[[int, bytes], int]:
    from anycrc import Model  # noqa: PLC0415 - only this algorithm needs the library

    model = Model("CRC64-NVME")
    return lambda value, data: int(model.calc(data, value))


ALGORITHMS = {
    algorithm.header: algorithm
    for algorithm in (
        Algorithm(
            "CRC32",
            "x-amz-checksum-crc32",
            4,
            lambda: _Crc(lambda value, data: zlib.crc32(data, value), 4),
        ),
        Algorithm("CRC32C", "x-amz-checksum-crc32c", 4, lambda: _Crc(google_crc32c.extend, 4)),
        Algorithm("CRC64NVME", "x-amz-checksum-crc64nvme", 8, lambda: _Crc(_crc64_extend(), 8)),
        Algorithm(
            "SHA1",
            "x-amz-checksum-sha1",
            20,
            lambda: hashlib.sha1(usedforsecurity=False),
        ),
        Algorithm("SHA256", "x-amz-checksum-sha256", 32, new_sha256),
        Algorithm("SHA512", "x-amz-checksum-sha512", 64, hashlib.sha512),
        Algorithm("MD5", "x-amz-checksum-md5", 16, new_md5),
    )
}
"""By header. S3 names a trailer as it names the header."""


def invalid_value(header: str) -> S3ResponseError:
    """Return the error of a checksum that is no base64 or has the wrong length."""
    return S3ResponseError(Code.INVALID_REQUEST, f"Value for {header} header is invalid.")
