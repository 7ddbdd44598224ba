"""Times as the engine counts them, nanoseconds since the Unix epoch, and as people read them."""

from datetime import UTC, datetime
from typing import Final

NS_PER_S: Final = 1_000_000_000


def whole_second(time_ns: int) -> datetime:
    """Return the time in UTC, cut to the second."""
    return datetime.fromtimestamp(time_ns // NS_PER_S, UTC)


def rfc3339(time_ns: int) -> str:
    """Return the time in UTC, cut to the second: `2022-03-31T12:00:00Z`."""
    return f"{whole_second(time_ns):%Y-%m-%dT%H:%M:%SZ}"
