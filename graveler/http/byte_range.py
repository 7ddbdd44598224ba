"""The Range header (RFC 9110, section 14) as lakeFS reads it: one range of bytes."""

import re

from graveler.errors import InvalidInputError, RangeNotSatisfiableError

# At most 18 digits: more is past the end of every object, and takes time to parse.
_RANGE = re.compile(r"bytes=[ \t]*([0-9]{0,18})-([0-9]{0,18})[ \t]*", re.IGNORECASE)
# Byte ranges of any kind, including several and impossible ones: lakeFS answers these with 416.
_RANGES = re.compile(r"bytes=[0-9, \t]*-[0-9, \t-]*", re.IGNORECASE)


def parse(header: str, size_bytes: int) -> tuple[int, int]:
    """Return the first and the last byte, both inclusive, that the header requests of an object.

    A suffix longer than the object means the whole object. An end past the object's means up to
    the end.

    Raises:
        InvalidInputError: the header does not contain byte ranges.
        RangeNotSatisfiableError: it is not a single byte range, or contains no byte of the object.
            In the first case the error has no size.
    """
    if not _RANGES.fullmatch(header):
        raise InvalidInputError(f"Range {header!r} is not a byte range: write bytes=first-last")
    match = _RANGE.fullmatch(header)
    if match is None or match.groups() == ("", ""):
        raise RangeNotSatisfiableError(
            f"Range {header!r} is not a single range: write bytes=first-last"
        )
    first_text, last_text = match.groups()
    if not first_text:
        first, last = max(0, size_bytes - int(last_text)), size_bytes - 1
    else:
        first = int(first_text)
        last = min(int(last_text), size_bytes - 1) if last_text else size_bytes - 1
        if last_text and int(last_text) < first:
            raise RangeNotSatisfiableError(f"Range {header!r} ends before its start")
    if first > last:
        raise RangeNotSatisfiableError(
            f"Range {header!r} is outside the object's {size_bytes} bytes", size_bytes
        )
    return first, last
