"""Byte ranges of reads and copies, as S3 reads them."""

import re
from dataclasses import dataclass

from graveler_gateway.protocol.errors import Code, S3ResponseError

# More digits than any object has bytes. Longer ones are no range.
_RANGE = re.compile("bytes=([0-9]{0,20})-([0-9]{0,20})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ByteRange:
    """The bytes from first to last, both included."""

    first: int
    last: int

    @property
    def size_bytes(self) -> int:
        """The number of bytes."""
        return self.last - self.first + 1

    def content_range(self, size_bytes: int) -> str:
        """Return the header Content-Range, for an object of this size."""
        return f"bytes {self.first}-{self.last}/{size_bytes}"


def read_range(header: str | None, size_bytes: int) -> ByteRange | None:
    """Return the range that a read wants, clamped to the object; None for the whole object.

    S3 ignores several ranges and wrong syntax.

    Raises:
        S3ResponseError: INVALID_RANGE, if the object has none of these bytes.
    """
    found = _RANGE.fullmatch(header.strip()) if header else None
    if header is None or found is None or found.groups() == ("", ""):
        return None
    first, last = found.groups()
    if not first:
        wanted = ByteRange(max(size_bytes - int(last), 0), size_bytes - 1)
    elif not last:
        wanted = ByteRange(int(first), size_bytes - 1)
    elif int(last) < int(first):
        return None
    else:
        wanted = ByteRange(int(first), min(int(last), size_bytes - 1))
    if wanted.size_bytes < 1:
        raise S3ResponseError(
            Code.INVALID_RANGE,
            details={"RangeRequested": header, "ActualObjectSize": str(size_bytes)},
            headers={"Content-Range": f"bytes */{size_bytes}"},
        )
    return wanted


def copy_range(header: str, size_bytes: int) -> ByteRange:
    """Return the range of x-amz-copy-source-range, which must be inside the source.

    Raises:
        S3ResponseError: INVALID_ARGUMENT for wrong syntax, INVALID_RANGE for bytes past the end.
    """
    found = _RANGE.fullmatch(header)
    if found is None or "" in found.groups() or int(found[1]) > int(found[2]):
        raise _invalid_copy_range(
            header,
            "The x-amz-copy-source-range value must be of the form bytes=first-last where first "
            "and last are the zero-based offsets of the first and last bytes to copy",
        )
    wanted = ByteRange(int(found[1]), int(found[2]))
    if wanted.last >= size_bytes:
        message = f"Range specified is not valid for source object of size: {size_bytes}"
        raise S3ResponseError(Code.INVALID_RANGE, message, details={"RangeRequested": header})
    return wanted


def _invalid_copy_range(header: str, message: str) -> S3ResponseError:
    return S3ResponseError(
        Code.INVALID_ARGUMENT,
        message,
        details={"ArgumentName": "x-amz-copy-source-range", "ArgumentValue": header},
    )
