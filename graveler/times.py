"""Times as the engine counts them, nanoseconds since the Unix epoch, and as people read them."""

import re
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

NS_PER_S: Final = 1_000_000_000
NS_PER_MS: Final = 1_000_000
NS_PER_US: Final = 1_000


class Moment(Struct, frozen=True):
    """A moment by both clocks of a process; only this process can compare it with others.

    The wall clock may be set back. The monotonic clock does not count the time for which the
    process was frozen. So what a process holds is young only while both clocks say so.
    """

    wall_ns: int
    monotonic_ns: int

    def is_within(self, limit_s: float, now: "Moment") -> bool:
        """Whether less than limit_s have passed until now, by both clocks; not if one went back."""
        limit_ns = limit_s * NS_PER_S
        return (
            0 <= now.wall_ns - self.wall_ns < limit_ns
            and 0 <= now.monotonic_ns - self.monotonic_ns < limit_ns
        )

    def passed_s(self, now: "Moment") -> float:
        """Return the seconds until now, by the clock that counts more of them."""
        passed_ns = max(now.wall_ns - self.wall_ns, now.monotonic_ns - self.monotonic_ns)
        return passed_ns / NS_PER_S

    def set_back_s(self, now: "Moment") -> float:
        """Return by how much the wall clock was set back until now; negative after a freeze."""
        passed_ns = now.monotonic_ns - self.monotonic_ns
        return (passed_ns - (now.wall_ns - self.wall_ns)) / NS_PER_S


NEVER: Final = Moment(0, 0)  # long ago

# A blank in place of the offset's sign is a `+` that a form decoded. Logs of lakectl name the zone
# after the offset: `2026-01-31 07:00:00 -0500 EST`.
_ISO_8601 = re.compile(
    r"(\d{4}-?\d\d-?\d\d)(?:[T ](\d\d:?\d\d(?::?\d\d(?:[.,]\d+)?)?)"
    r"(?: ?(?:Z|UTC|([+ -]\d\d(?::?\d\d)?)(?: [A-Z+-][A-Z\d]+)?))?)?",
    re.ASCII,
)


_DURATION_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_DURATION = re.compile(rf"[+-]?(?:0|(?:{_DURATION_PART.pattern})+)", re.ASCII)
_UNITS_S = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
_DURATION_S_MAX = 2**63 / NS_PER_S  # Go counts nanoseconds in 64 bits


def duration_s(text: str) -> float:
    """Return the seconds of a duration as Go writes it, such as 1m30s, 200ms or -1s.

    Raises:
        ValueError: the text is not a duration.
    """
    if _DURATION.fullmatch(text):
        parts = _DURATION_PART.findall(text)
        total_s = sum(float(number) * _UNITS_S[unit] for number, unit in parts)
        if total_s < _DURATION_S_MAX:
            return -total_s if text[0] == "-" else total_s
    raise ValueError(f"{text!r} is not a duration: write it as 200ms, 30s or 1m30s")


def unix_s(text: str) -> int | None:
    """Return an ISO 8601 time in whole Unix seconds; None if the text is not a time.

    A time without an offset is in UTC, and a date is its beginning.
    """
    match = _ISO_8601.fullmatch(text.upper())
    if match is None:
        return None
    day, time, offset = match.groups()
    moment = f"{day}T{time or '00:00'}{(offset or '+00').replace(' ', '+')}"
    try:
        return int(datetime.fromisoformat(moment).timestamp() // 1)
    except (ValueError, OverflowError):  # the form is right, but the day or hour does not exist
        return None


def whole_second(time_ns: int) -> datetime:
    """Return the time in UTC, cut to the second."""
    return datetime.fromtimestamp(time_ns // NS_PER_S, UTC)


def month_of(time_ns: int) -> str:
    """Return the month of the time in UTC, as 2026-11."""
    return f"{whole_second(time_ns):%Y-%m}"


def rfc3339(time_ns: int) -> str:
    """Return the time in UTC, cut to the second: `2022-03-31T12:00:00Z`."""
    return f"{whole_second(time_ns):%Y-%m-%dT%H:%M:%SZ}"
