"""The Range header (RFC 9110, section 14) as lakeFS reads it: one range, of bytes."""

import re

from graveler.errors import InvalidInputError, RangeNotSatisfiableError

# At most 18 digits: more is past the end of every object, and would only cost time to parse.
_RANGE = re.compile(r"bytes=[ \t]*([0-9]{0,18})-([0-9]{0,18})[ \t]*", re.IGNORECASE)
# Byte ranges of any kind, also several and impossible ones: lakeFS answers these with 416.
_RANGES = re.compile(r"bytes=[0-9, \t]*-[0-9, \t-]*", re.IGNORECASE)


def parse(header: str, size_bytes: int) -> tuple[int, int]:
    """The first and last byte, both inclusive, that the header asks for in an object of that size.

    A suffix longer than the object means the whole object; an end past it means up to the end.

    Raises:
        InvalidInputError: the header does not contain byte ranges.
        RangeNotSatisfiableError: it is no single byte range (then the error has no size), or no
            byte of the object lies in it.
    """
    if not _RANGES.fullmatch(header):
        raise InvalidInputError(f"Range {header!r} is not of the form bytes=first-last")
    match = _RANGE.fullmatch(header)
    if match is None or match.groups() == ("", ""):
        raise RangeNotSatisfiableError(f"Range {header!r} is not one range: bytes=first-last")
    first_text, last_text = match.groups()
    if not first_text:
        first, last = max(0, size_bytes - int(last_text)), size_bytes - 1
    else:
        first = int(first_text)
        last = min(int(last_text), size_bytes - 1) if last_text else size_bytes - 1
        if last_text and int(last_text) < first:
            raise RangeNotSatisfiableError(f"Range {header!r} ends before it begins")
    if first > last:
        raise RangeNotSatisfiableError(
            f"Range {header!r} lies outside the object's {size_bytes} bytes", size_bytes
        )
    return first, last
