"""Times of signatures: their two notations, and how far clocks may differ."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache

from graveler_gateway.protocol.errors import Code, S3ResponseError

MAX_SKEW_S = 15 * 60

_BASIC = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z", re.ASCII)


# A client signs many requests in one second.
@lru_cache(maxsize=1024)
def parse_basic(text: str) -> datetime | None:
    """Return the time of YYYYMMDDTHHMMSSZ; None if the text is no such time."""
    match = _BASIC.fullmatch(text)
    if not match:
        return None
    year, month, day, hour, minute, second = map(int, match.groups())
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None


def parse_time(text: str) -> datetime | None:
    """Return the time of YYYYMMDDTHHMMSSZ or of an HTTP date; None if the text is neither."""
    if basic := parse_basic(text):
        return basic
    try:
        parsed = parsedate_to_datetime(text)
        # RFC 5322: "-0000" is UTC of an unknown place, and parses without a zone.
        return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


@lru_cache(maxsize=1024)
def format_basic(time: datetime) -> str:
    """Return the time as YYYYMMDDTHHMMSSZ."""
    return f"{time.year:04}{time:%m%dT%H%M%SZ}"


def seconds(time: datetime) -> int:
    """Return the Unix time."""
    return int(time.timestamp())


def check_skew(signed_s: int, now_s: int) -> None:
    """Refuse a signature whose clock differs by more than 15 minutes from ours."""
    if abs(now_s - signed_s) > MAX_SKEW_S:
        raise S3ResponseError(
            Code.REQUEST_TIME_TOO_SKEWED,
            details={
                "RequestTime": format_basic(datetime.fromtimestamp(signed_s, UTC)),
                "ServerTime": format_basic(datetime.fromtimestamp(now_s, UTC)),
                "MaxAllowedSkewMilliseconds": str(MAX_SKEW_S * 1000),
            },
        )
