"""The query's parameters, decoded by name and value: an encoded name is the same name."""

from collections.abc import Iterable

from gateway.protocol.head import Head, unquoted


def decoded_pairs(head: Head) -> list[tuple[bytes, bytes]]:
    """Return the names and values in their order, decoded; a plus means a space."""
    return [(_decoded(name), _decoded(value)) for name, value in head.raw_parameters]


def sole_values(head: Head, names: Iterable[str]) -> dict[str, str] | None:
    """Return the values by name; None unless each name is there once and has a value."""
    present = [name for name, _ in decoded_pairs(head)]
    values = {name: head.parameters.get(name, "") for name in names}
    is_complete = all(value and present.count(name.encode()) == 1 for name, value in values.items())
    return values if is_complete else None


def _decoded(text: str) -> bytes:
    return unquoted(text.replace("+", " "))
