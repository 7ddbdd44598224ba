"""Attribute values in DynamoDB's JSON form: their normal form, order and size.

In the normal form, equal values are equal objects: numbers have no needless digits, sets are
sorted. Values are never changed in place, so states and forks can share them.
"""

from binascii import a2b_base64
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from tests.support.fakes.dynamodb.errors import UnknownFormError, invalid

Value = dict[str, Any]
Item = dict[str, Value]
# An order within one type: bytes, or a number.
Order = Any

_DIGITS_MAX = 38


def number(text: str) -> str:
    """Return a number's normal form."""
    if text.isdecimal() and text.isascii() and len(text) <= _DIGITS_MAX and text[0] != "0":
        return text
    try:
        parsed = Decimal(text)
    except InvalidOperation:
        parsed = Decimal("NaN")
    if not parsed.is_finite():
        raise invalid(f"The parameter cannot be converted to a numeric value: {text}")
    digits = parsed.as_tuple().digits
    if len("".join(map(str, digits)).strip("0")) > _DIGITS_MAX:
        raise invalid("Attempting to store more than 38 significant digits in a Number")
    return format(parsed.normalize(), "f") if parsed else "0"


def _set_of(each: Callable[[str], str]) -> Callable[[list[str]], list[str]]:
    def normal_set(content: list[str]) -> list[str]:
        if not content:
            raise invalid("One or more parameter values were invalid: An set may not be empty")
        found = sorted(map(each, content))
        if len(set(found)) < len(found):
            raise invalid(
                "One or more parameter values were invalid: Input collection contains duplicates"
            )
        return found

    return normal_set


def normal(value: Value) -> Value:
    """Return a value's normal form."""
    if len(value) != 1:
        raise invalid(
            "Supplied AttributeValue has more than one datatypes set, "
            "must contain exactly one of the supported datatypes"
            if value
            else "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
        )
    for kind, content in value.items():
        if kind not in _NORMAL:
            raise UnknownFormError(f"a value of type {kind}")
        change = _NORMAL[kind]
        if change is not None:
            return {kind: change(content)}
    return value


def normal_item(item: Item) -> Item:
    """Return the normal form of all values."""
    return {name: normal(value) for name, value in item.items()}


_NORMAL: dict[str, Callable[[Any], Any] | None] = {
    "S": None,
    "B": None,
    "BOOL": None,
    "NULL": None,
    "N": number,
    "SS": _set_of(str),
    "NS": _set_of(number),
    "BS": _set_of(str),
    "L": lambda content: [normal(each) for each in content],
    "M": normal_item,
}


def order_of(value: Value) -> Order:
    """Return what sorts a string, a binary or a number among values of its type."""
    for kind, content in value.items():
        if kind == "S":
            return content.encode()
        if kind == "B":
            return a2b_base64(content)
        if kind == "N":
            return Decimal(content)
    raise UnknownFormError(f"the order of {value}")


def kind_of(value: Value) -> str:
    """Return the type of a value, such as S."""
    return next(iter(value))


def size_of(value: Value) -> int:
    """Return the bytes that a value counts for."""
    for kind, content in value.items():
        measure = _SIZES.get(kind)
        return 1 if measure is None else measure(content)
    return 0


def _text_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def item_size(item: Item) -> int:
    """Return the bytes that an item counts for: names and values."""
    return sum([_text_size(name) + size_of(item[name]) for name in item])


_SIZES: dict[str, Callable[[Any], int]] = {
    "S": _text_size,
    "N": lambda digits: len(digits) // 2 + 2,
    "B": lambda base64: len(base64) * 3 // 4 - base64.count("="),
    "L": lambda content: 3 + sum(1 + size_of(each) for each in content),
    "M": lambda content: 3 + len(content) + item_size(content),
    "SS": lambda content: sum(map(_text_size, content)),
    "NS": lambda content: sum(len(digits) // 2 + 2 for digits in content),
    "BS": lambda content: sum(len(base64) * 3 // 4 for base64 in content),
}
