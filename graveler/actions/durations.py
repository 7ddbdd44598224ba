"""Durations as Go writes them, such as `1m30s`, which action files use for time-outs."""

import re

from graveler.errors import InvalidInputError

_UNITS_S = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
_PART = re.compile(r"(\d{1,12}(?:\.\d{0,12})?|\.\d{1,12})(ns|us|µs|μs|ms|s|m|h)")
_WHOLE = re.compile(rf"(?:{_PART.pattern})+")


def seconds(text: str) -> float:
    """Return the duration in seconds.

    Raises:
        InvalidInputError: the text is no positive duration.
    """
    if _WHOLE.fullmatch(text):
        found = sum(float(number) * _UNITS_S[unit] for number, unit in _PART.findall(text))
        if found > 0:
            return found
    raise InvalidInputError(f"time: invalid duration {text!r}: write it as 30s, 5m or 1m30s")
