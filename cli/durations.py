"""Lengths of time, as lakectl's options and configuration write them."""

import re

_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)")
_DURATION = re.compile(rf"-?(?:0|(?:{_PART.pattern})+)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def duration_s(text: str) -> float:
    """Return the seconds of a duration such as 1m30s, 200ms or -1s.

    Raises:
        ValueError: the text is none.
    """
    if not _DURATION.fullmatch(text):
        raise ValueError(f"{text!r} is no duration: write it as 200ms, 3s or 1m30s")
    total_s = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    return -total_s if text.startswith("-") else total_s
