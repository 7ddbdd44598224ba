"""Ref expressions: a name and modifiers, such as `main`, `main~2^1`, `main@` or `main$`.

    expression = base *modifier
    base       = 1*(any character but ~ ^ @ $)
    modifier   = ("~" / "^") [number] / "@" / "$"

`~n` follows n first parents, and `^n` the n-th parent; a missing number is 1. `@` is a branch
without its staged changes, `$` with them. Which modifiers a base may have depends on what it names
(`graveler.refs.resolve`). The grammar is lakeFS's.
"""

import re

from msgspec import Struct

from graveler.limits import INT64_MAX, INT64_MIN
from graveler.messages import Refusal

_BASE = re.compile(r"[^~^@$]+")
_MODIFIER = re.compile(r"([~^@$])([^~^@$]*)")
# Numbers are those of Go's Atoi: 64 bits, ASCII digits, with an optional sign and leading zeros.
_NUMBER = re.compile(r"([+-]?)0*([0-9]{1,19})")


class Modifier(Struct, frozen=True):
    """One step from the commit so far; number is 1 if none is written."""

    kind: str  # one of ~ ^ @ $
    number: int


class RefExpression(Struct, frozen=True):
    """A parsed ref expression; its base may name nothing."""

    base: str
    modifiers: tuple[Modifier, ...]


def parse(text: str) -> RefExpression:
    """Return the parts of a ref expression.

    Raises:
        InvalidInputError: text does not match the grammar; the details say where.
    """
    base = _BASE.match(text)
    if base is None:
        raise Refusal.BAD_REF.error(f"in {text!r}, a branch, tag or commit must come first")
    modifiers = (
        Modifier(kind, _number(text, kind, argument))
        for kind, argument in _MODIFIER.findall(text, base.end())
    )
    return RefExpression(base[0], tuple(modifiers))


def _number(text: str, kind: str, argument: str) -> int:
    if argument == "":
        return 1
    if kind in "@$":
        raise Refusal.BAD_REF.error(f"in {text!r}, nothing may follow '{kind}'")
    digits = _NUMBER.fullmatch(argument)
    number = int(digits[1] + digits[2]) if digits else None
    if number is None or not INT64_MIN <= number <= INT64_MAX:
        raise Refusal.BAD_MODIFIER.error(
            f"in {text!r}, '{argument}' is not a number", modifier=kind + argument
        )
    return number
