"""The query string of a request as typed values; a 400 names a wrong parameter."""

import re
from typing import TypedDict
from urllib.parse import parse_qsl

from graveler.errors import GravelerError, InvalidInputError
from graveler.limits import PAGE_AMOUNT_DEFAULT, PAGE_AMOUNT_MAX
from graveler.messages import Refusal
from graveler.staging.listing import PageQuery
from graveler.times import unix_s

# As Go's strconv.ParseBool. Python clients send `True`, Go and JavaScript clients `true`.
_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}
# No more digits than a 64-bit integer. int() would also accept "1_0" and other scripts' digits.
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


class PageRequest(TypedDict):
    """Which part of a listing a request asks for."""

    prefix: str
    after: str
    amount: int


class Query:
    """The parameters of one request. All methods but `all` use the first of repeated ones."""

    __slots__ = ("_values",)

    def __init__(self, raw: str) -> None:
        self._values: dict[str, list[str]] = {}
        if not raw:
            return
        try:
            pairs = parse_qsl(raw, keep_blank_values=True, errors="strict")
        except ValueError as error:
            raise InvalidInputError("the query string is not valid UTF-8") from error
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)

    def all(self, name: str) -> tuple[str, ...]:
        """Return every value of a parameter that may be repeated, in order.

        Raises:
            InvalidInputError: one is empty.
        """
        values = tuple(self._values.get(name, ()))
        if "" in values:
            raise _error(name, "empty value is not allowed")
        return values

    def optional_text(self, name: str) -> str | None:
        """Return the value; None if the parameter is absent."""
        values = self._values.get(name)
        return values[0] if values else None

    def text(self, name: str) -> str:
        """Return the value; "" if the parameter is absent."""
        return self.optional_text(name) or ""

    def given_text(self, name: str) -> str:
        """Return the value, which may be empty.

        Raises:
            InvalidInputError: it is absent.
        """
        value = self.optional_text(name)
        if value is None:
            raise _error(name, "value is required but missing")
        return value

    def required_text(self, name: str) -> str:
        """Return the value.

        Raises:
            InvalidInputError: it is absent or empty.
        """
        value = self.given_text(name)
        if not value:
            raise _error(name, "empty value is not allowed")
        return value

    def path(self, name: str = "path") -> bytes:
        """Return the object path in the parameter.

        Raises:
            InvalidInputError: it is absent or empty.
        """
        return self.required_text(name).encode()

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return the boolean, in any spelling that lakeFS accepts.

        Raises:
            InvalidInputError: the value is not a boolean.
        """
        value = self.optional_text(name)
        if value is None:
            return default
        if value not in _BOOLEANS:
            raise _error(
                name, f"value {value}: an invalid boolean: invalid syntax", "write true or false"
            )
        return _BOOLEANS[value]

    def choice(self, name: str, allowed: tuple[str, ...], *, default: str) -> str:
        """Return the value, which is one of the allowed ones; default if the parameter is absent.

        Raises:
            InvalidInputError: the value is another one.
        """
        value = self.optional_text(name)
        if value is None:
            return default
        if value not in allowed:
            shown = ",".join(f'"{each}"' for each in allowed)
            raise _error(name, f"value is not one of the allowed values [{shown}]")
        return value

    def integer(self, name: str, *, default: int, minimum: int, maximum: int) -> int:
        """Return the number; default if the parameter is absent.

        Raises:
            InvalidInputError: the value is not an integer within the bounds.
        """
        value = self.optional_text(name)
        if value is None:
            return default
        return bounded_integer(value, minimum, maximum, Refusal.BAD_PARAMETER, name)

    def amount(self) -> int:
        """Return the requested size of the page; absent, zero and -1 mean the default.

        Raises:
            InvalidInputError: the value is not an integer within the bounds.
        """
        number = self.integer("amount", default=0, minimum=-1, maximum=PAGE_AMOUNT_MAX)
        return number if number > 0 else PAGE_AMOUNT_DEFAULT

    def page(self) -> PageRequest:
        """Return the arguments of a listing by name.

        Raises:
            InvalidInputError: the amount is not an integer within the bounds.
        """
        return {
            "prefix": self.text("prefix"),
            "after": self.text("after"),
            "amount": self.amount(),
        }

    def object_page(self) -> PageQuery:
        """Return the part of a listing of objects, or of other things with paths.

        Raises:
            InvalidInputError: the amount is not an integer within the bounds.
        """
        return PageQuery(
            amount=self.amount(),
            prefix=self.text("prefix").encode(),
            after=self.text("after").encode(),
            delimiter=self.text("delimiter").encode(),
        )

    def unix_time(self, name: str) -> int | None:
        """Return the ISO 8601 time in whole Unix seconds; None if it is absent or empty.

        Raises:
            InvalidInputError: the value is not such a time.
        """
        value = self.text(name)
        moment_s = unix_s(value)
        if value and moment_s is None:
            raise _error(
                name,
                'string doesn\'t match the format "date-time"',
                f"write a time such as 2026-01-31T12:00:00Z, not {value!r}",
            )
        return moment_s


def bounded_integer(text: str, minimum: int, maximum: int, refusal: Refusal, name: str) -> int:
    """Return the number in the text.

    Raises:
        InvalidInputError: the text is not an integer within the bounds; the message is refusal's,
            for the parameter `name`.
    """
    if not _INTEGER.fullmatch(text):
        raise refusal.error(name=name, problem=f"value {text}: an invalid integer: invalid syntax")
    number = int(text)
    if number > maximum:
        raise refusal.error(name=name, problem=f"number must be at most {maximum}")
    if number < minimum:
        raise refusal.error(name=name, problem=f"number must be at least {minimum}")
    return number


def _error(name: str, problem: str, details: str = "") -> GravelerError:
    return Refusal.BAD_PARAMETER.error(details, name=name, problem=problem)
