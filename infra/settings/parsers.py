"""Reads a setting from CDK's context.

On the command line every value is a text, and commas separate the items of a list.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from infra.settings.s3_locations import S3Location


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a text")  # noqa: TRY004 - one kind of error for all
    return value.strip()


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is not a list")  # noqa: TRY004 - as above
    return tuple(text for each in value if (text := _text(each)))


def _places(value: object) -> tuple[S3Location, ...]:
    return tuple(S3Location.of(uri) for uri in _texts(value))


def _integer(value: object) -> int:
    if isinstance(value, bool) or not re.fullmatch(r"\d+", str(value)):
        raise ValueError(f"{value!r} is not a whole number")
    return int(str(value))


def _switch(value: object) -> bool:
    switches = {"true": True, "false": False}
    if str(value).lower() not in switches:
        raise ValueError(f"{value!r} is neither true nor false")
    return switches[str(value).lower()]


PARSERS: Mapping[Any, Callable[[object], Any]] = {
    str: _text,
    int: _integer,
    bool: _switch,
    tuple[str, ...]: _texts,
    tuple[S3Location, ...]: _places,
}
