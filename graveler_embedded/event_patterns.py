"""A small part of EventBridge's event patterns, by which rules and filters select events."""

from collections.abc import Mapping, Sequence
from typing import Any

# Maps a field's name to its allowed values, or to a pattern of its own fields. A value is a text or
# {"prefix": text}.
Pattern = Mapping[str, Any]


def matches(pattern: Pattern, event: Mapping[str, Any]) -> bool:
    """Whether every field in the pattern has one of its allowed values."""
    return all(_holds(expected, event.get(name)) for name, expected in pattern.items())


def _holds(expected: Pattern | Sequence[Any], value: object) -> bool:
    if isinstance(expected, Mapping):
        return isinstance(value, Mapping) and matches(expected, value)
    return any(_is(choice, value) for choice in expected)


def _is(choice: str | Mapping[str, str], value: object) -> bool:
    if isinstance(choice, str):
        return value == choice
    return isinstance(value, str) and value.startswith(choice["prefix"])
