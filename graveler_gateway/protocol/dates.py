"""Dates as S3 writes and reads them; times are nanoseconds since 1970."""

from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from functools import lru_cache

_NS = 1_000_000_000


def iso(time_ns: int) -> str:
    """Return the date of XML documents, such as 2026-11-23T09:05:46.000Z.

    S3 writes whole seconds, so that a listing and the header Last-Modified agree.
    """
    return _iso(time_ns // _NS)


@lru_cache(maxsize=1024)  # objects of a listing are often written together
def _iso(time_s: int) -> str:
    return f"{datetime.fromtimestamp(time_s, UTC).isoformat()[:19]}.000Z"


def http(time_ns: int) -> str:
    """Return the date of HTTP headers, such as Mon, 23 Nov 2026 09:05:46 GMT."""
    return format_datetime(datetime.fromtimestamp(time_ns // _NS, UTC), usegmt=True)


def seconds_of_http(text: str) -> int | None:
    """Return the seconds since 1970 of a header's date, None if it is no date."""
    try:
        date = parsedate_to_datetime(text)
        # A date without zone is in GMT: no other is allowed.
        return int((date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return None
