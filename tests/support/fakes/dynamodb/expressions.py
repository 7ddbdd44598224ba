"""Parses expressions into closures, once for each text and its names.

An attribute without a placeholder is an unknown form: the adapters always use placeholders, so the
fake needs no list of reserved words.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from tests.support.fakes.dynamodb.errors import UnknownFormError, invalid
from tests.support.fakes.dynamodb.values import Item, Value, kind_of, order_of

Values = Mapping[str, Value]
Names = tuple[tuple[str, str], ...]
Path = tuple[str | int, ...]
Operand = Callable[[Item, Values], Value | None]
Test = Callable[[Item, Values], bool]

_BYTES_MAX = 4096
_TOKEN = re.compile(r"\s*(#\w+|:\w+|\d+|[A-Za-z_]\w*|<>|<=|>=|[=<>().,\[\]+-])")
_ORDERED = ("S", "N", "B")
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Placeholders:
    """The placeholders that an expression uses."""

    names: frozenset[str]
    values: frozenset[str]


class Condition(NamedTuple):
    """A condition or a filter, and the attributes that it reads."""

    holds: Test
    uses: Placeholders
    attributes: frozenset[str]


class Projection(NamedTuple):
    """The attributes that a read returns."""

    attributes: tuple[str, ...]
    uses: Placeholders

    def of(self, item: Item) -> Item:
        """Return the item's projected attributes."""
        return {name: item[name] for name in self.attributes if name in item}


class KeyTerm(NamedTuple):
    """One term of a key condition: the attribute, =, <, ..., BETWEEN or begins_with, the values."""

    attribute: str
    comparison: str
    values: tuple[str, ...]


class KeyCondition(NamedTuple):
    """The terms of a key condition."""

    terms: tuple[KeyTerm, ...]
    uses: Placeholders


class Tokens:
    """The tokens of one expression, taken one by one, and the placeholders that were met."""

    def __init__(self, kind: str, text: str, names: Names) -> None:
        self.kind = kind
        if not text:
            raise invalid(f"Invalid {kind}: The expression can not be empty;")
        if len(text.encode()) > _BYTES_MAX:
            raise invalid(f"Invalid {kind}: Expression size has exceeded the maximum allowed size;")
        self._tokens: list[str] = []
        position, end = 0, len(text.rstrip())
        while position < end:
            found = _TOKEN.match(text, position)
            if found is None:
                raise self.wrong(f"Syntax error; token: {text[position]!r}")
            self._tokens.append(found[1])
            position = found.end()
        self._position = 0
        self._names = dict(names)
        self._used_names: set[str] = set()
        self._used_values: set[str] = set()

    @property
    def uses(self) -> Placeholders:
        return Placeholders(frozenset(self._used_names), frozenset(self._used_values))

    def wrong(self, problem: str) -> Exception:
        return invalid(f"Invalid {self.kind}: {problem}")

    def next(self) -> str:
        """Return the next token without taking it; "" at the end."""
        return self._tokens[self._position] if self._position < len(self._tokens) else ""

    def take(self) -> str:
        """Return the next token, and take it."""
        token = self.next()
        self._position += 1
        return token

    def accept(self, wanted: str) -> bool:
        """Take the next token if it is the wanted one; keywords have any case."""
        if self.next().upper() != wanted.upper():
            return False
        self._position += 1
        return True

    def expect(self, wanted: str) -> None:
        if not self.accept(wanted):
            raise self.wrong(f"Syntax error; token: {self.next()!r}, near: {wanted!r}")

    def end(self) -> None:
        if self.next():
            raise self.wrong(f"Syntax error; token: {self.next()!r}")

    def value(self) -> str:
        """Take the placeholder of a value."""
        name = self.take()
        if not name.startswith(":"):
            raise self.wrong(f"Syntax error; token: {name!r}")
        self._used_values.add(name)
        return name

    def path(self) -> Path:
        """Take a document path, such as `#0[1].#2`."""
        steps: list[str | int] = [self._name()]
        while self.next() in (".", "["):
            if self.take() == ".":
                steps.append(self._name())
                continue
            steps.append(int(self.take()))
            self.expect("]")
        return tuple(steps)

    def _name(self) -> str:
        alias = self.take()
        if not alias.startswith("#"):
            if alias[:1].isalpha():
                raise UnknownFormError(f"an attribute without a placeholder: {alias}")
            raise self.wrong(f"Syntax error; token: {alias!r}")
        if alias not in self._names:
            raise self.wrong(
                "An expression attribute name used in the document path is not defined; "
                f"attribute name: {alias}"
            )
        self._used_names.add(alias)
        return self._names[alias]

    def separated(self, take: Callable[[], Any]) -> list[Any]:
        """Take what is separated by commas."""
        found = [take()]
        while self.accept(","):
            found.append(take())
        return found


def at(item: Item, path: Path) -> Value | None:
    """Return the value at a path; None if there is none."""
    value = item.get(path[0])  # type: ignore[arg-type] # a path begins with a name
    for step in path[1:]:
        if value is None:
            return None
        if isinstance(step, int):
            content = value.get("L", ())
            value = content[step] if step < len(content) else None
        else:
            value = value.get("M", {}).get(step)
    return value


def reader_of(path: Path) -> Operand:
    """Return what reads the value at the path."""
    if len(path) == 1:
        name = path[0]
        return lambda item, _values: item.get(name)  # type: ignore[arg-type]
    return lambda item, _values: at(item, path)


def value_reader(name: str) -> Operand:
    """Return what reads the value of a placeholder."""
    return lambda _item, values: values[name]


def is_ordered(left: Value | None, comparison: str, right: Value | None) -> bool:
    """Whether the values are of one ordered type, and compare so."""
    if left is None or right is None:
        return False
    kind = kind_of(left)
    if kind != kind_of(right) or kind not in _ORDERED:
        return False
    low, high = order_of(left), order_of(right)
    if comparison == "<":
        return bool(low < high)
    if comparison == "<=":
        return bool(low <= high)
    return bool(low > high) if comparison == ">" else bool(low >= high)


class _Conditions:
    """The grammar of conditions."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def any_of(self) -> Test:
        tests = [self._all_of()]
        while self._tokens.accept("OR"):
            tests.append(self._all_of())
        if len(tests) == 1:
            return tests[0]
        return lambda item, values: any(test(item, values) for test in tests)

    def _all_of(self) -> Test:
        tests = [self._one()]
        while self._tokens.accept("AND"):
            tests.append(self._one())
        if len(tests) == 1:
            return tests[0]
        return lambda item, values: all(test(item, values) for test in tests)

    def _one(self) -> Test:
        tokens = self._tokens
        if tokens.accept("NOT"):
            test = self._one()
            return lambda item, values: not test(item, values)
        if tokens.accept("("):
            test = self.any_of()
            tokens.expect(")")
            return test
        if tokens.next() in _FUNCTIONS:
            return self._function(tokens.take())
        return self._comparison()

    def _function(self, name: str) -> Test:
        tokens = self._tokens
        tokens.expect("(")
        operand = reader_of(tokens.path())
        if name in ("attribute_exists", "attribute_not_exists"):
            tokens.expect(")")
            if name == "attribute_exists":
                return lambda item, values: operand(item, values) is not None
            return lambda item, values: operand(item, values) is None
        tokens.expect(",")
        other = self._operand()
        tokens.expect(")")
        function = _FUNCTIONS[name]
        assert function is not None

        def test(item: Item, values: Values) -> bool:
            left, right = operand(item, values), other(item, values)
            return left is not None and right is not None and function(left, right)

        return test

    def _operand(self) -> Operand:
        tokens = self._tokens
        if tokens.next().startswith(":"):
            return value_reader(tokens.value())
        if tokens.accept("size"):
            tokens.expect("(")
            sized = reader_of(tokens.path())
            tokens.expect(")")
            return lambda item, values: _size(sized(item, values))
        return reader_of(tokens.path())

    def _comparison(self) -> Test:
        tokens = self._tokens
        left = self._operand()
        if tokens.accept("BETWEEN"):
            low = self._operand()
            tokens.expect("AND")
            high = self._operand()
            return lambda item, values: (
                is_ordered(left(item, values), ">=", low(item, values))
                and is_ordered(left(item, values), "<=", high(item, values))
            )
        if tokens.accept("IN"):
            tokens.expect("(")
            choices = tokens.separated(self._operand)
            tokens.expect(")")
            return lambda item, values: (
                left(item, values)
                in [found for each in choices if (found := each(item, values)) is not None]
            )
        comparison = tokens.take()
        if comparison not in _COMPARISONS:
            raise tokens.wrong(f"Syntax error; token: {comparison!r}")
        right = self._operand()
        if comparison == "=":
            return lambda item, values: _is_equal(left(item, values), right(item, values))
        if comparison == "<>":
            return lambda item, values: not _is_equal(left(item, values), right(item, values))
        return lambda item, values: is_ordered(left(item, values), comparison, right(item, values))


def _is_equal(left: Value | None, right: Value | None) -> bool:
    return left is not None and left == right


def _size(value: Value | None) -> Value | None:
    if value is None:
        return None
    ((kind, content),) = value.items()
    if kind == "B":
        return {"N": str(len(order_of(value)))}
    if kind in ("S", "SS", "NS", "BS", "L", "M"):
        return {"N": str(len(content))}
    return None


def _begins_with(value: Value, prefix: Value) -> bool:
    kind = kind_of(value)
    if kind != kind_of(prefix) or kind not in ("S", "B"):
        return False
    return bool(order_of(value).startswith(order_of(prefix)))


def _contains(value: Value, part: Value) -> bool:
    ((kind, content),) = value.items()
    if kind == "L":
        return part in content
    ((part_kind, wanted),) = part.items()
    if kind in ("SS", "NS", "BS"):
        return part_kind == kind[0] and wanted in content
    return kind == part_kind and kind in ("S", "B") and order_of(part) in order_of(value)


_FUNCTIONS: dict[str, Callable[[Value, Value], bool] | None] = {
    "attribute_exists": None,
    "attribute_not_exists": None,
    "attribute_type": lambda value, kind: kind_of(value) == kind.get("S"),
    "begins_with": _begins_with,
    "contains": _contains,
}


@lru_cache(maxsize=4096)
def condition(kind: str, text: str, names: Names) -> Condition:
    """Return a condition; kind is the request's parameter that has it."""
    tokens = Tokens(kind, text, names)
    test = _Conditions(tokens).any_of()
    tokens.end()
    attributes = frozenset(dict(names)[alias] for alias in tokens.uses.names)
    return Condition(test, tokens.uses, attributes)


@lru_cache(maxsize=1024)
def projection(text: str, names: Names) -> Projection:
    """Return a projection of whole attributes."""
    tokens = Tokens("ProjectionExpression", text, names)
    paths = tokens.separated(tokens.path)
    tokens.end()
    if any(len(path) > 1 for path in paths):
        raise UnknownFormError(f"a projection of a part of an attribute: {text}")
    if len(set(paths)) < len(paths):
        raise tokens.wrong("Two document paths overlap with each other")
    return Projection(tuple(path[0] for path in paths), tokens.uses)


@lru_cache(maxsize=1024)
def key_condition(text: str, names: Names) -> KeyCondition:
    """Return the terms of a key condition."""
    tokens = Tokens("KeyConditionExpression", text, names)
    terms = [_term(tokens)]
    while tokens.accept("AND"):
        terms.append(_term(tokens))
    tokens.end()
    return KeyCondition(tuple(terms), tokens.uses)


def _term(tokens: Tokens) -> KeyTerm:
    if tokens.accept("begins_with"):
        tokens.expect("(")
        name = _key_name(tokens)
        tokens.expect(",")
        value = tokens.value()
        tokens.expect(")")
        return KeyTerm(name, "begins_with", (value,))
    name = _key_name(tokens)
    if tokens.accept("BETWEEN"):
        low = tokens.value()
        tokens.expect("AND")
        return KeyTerm(name, "BETWEEN", (low, tokens.value()))
    comparison = tokens.take()
    if comparison == "<>" or comparison not in _COMPARISONS:
        raise tokens.wrong(f"Syntax error; token: {comparison!r}")
    return KeyTerm(name, comparison, (tokens.value(),))


def _key_name(tokens: Tokens) -> str:
    path = tokens.path()
    if len(path) > 1:
        raise invalid("KeyConditionExpressions cannot have conditions on nested attributes")
    return str(path[0])
