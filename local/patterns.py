"""EventBridge's event patterns in small: what rules and filters select by, written as data."""

from collections.abc import Mapping, Sequence
from typing import Any

# A field's name to the values that it may have, or to the pattern of what it holds. A value is the
# text itself, or {"prefix": text}.
Pattern = Mapping[str, Any]


def matches(pattern: Pattern, event: Mapping[str, Any]) -> bool:
    """Whether every field that the pattern names has one of the values that it lists."""
    return all(_holds(expected, event.get(name)) for name, expected in pattern.items())


def _holds(expected: Pattern | Sequence[Any], value: object) -> bool:
    if isinstance(expected, Mapping):
        return isinstance(value, Mapping) and matches(expected, value)
    return any(_is(choice, value) for choice in expected)


def _is(choice: str | Mapping[str, str], value: object) -> bool:
    if isinstance(choice, str):
        return value == choice
    return isinstance(value, str) and value.startswith(choice["prefix"])
