"""The types of fields that several schemas share, and paths as text."""

from typing import Annotated
from urllib.parse import quote, unquote_to_bytes

from msgspec import Meta

from graveler.limits import INT64_MAX, UPLOAD_PARTS_MAX
from graveler.times import NS_PER_S

# An int64: Go clients send it, and DynamoDB and protobuf can hold it.
Count = Annotated[int, Meta(ge=0, le=INT64_MAX)]
# Unix seconds whose nanoseconds are an int64.
UnixTime = Annotated[int, Meta(ge=0, le=INT64_MAX // NS_PER_S)]
PartNumber = Annotated[int, Meta(ge=1, le=UPLOAD_PARTS_MAX)]
NonEmpty = Annotated[str, Meta(min_length=1)]


def cursor_of(path: bytes) -> str:
    """Return a stored path, of any bytes, as the offset of a page."""
    return quote(path)


def path_of_cursor(cursor: str) -> bytes:
    """Return the path behind which a page begins, from `cursor_of`."""
    return unquote_to_bytes(cursor)


def text_of(path: bytes) -> str:
    """Return a stored path as text. U+FFFD replaces invalid UTF-8, which imports may contain."""
    return path.decode("utf-8", "replace")
