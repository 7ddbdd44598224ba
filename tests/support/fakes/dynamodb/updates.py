"""Update expressions: SET, REMOVE, ADD and DELETE.

All operands are read from the item as it was before, and all positions of list elements are those
of before.
"""

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from tests.support.fakes.dynamodb.errors import UnknownFormError, invalid
from tests.support.fakes.dynamodb.expressions import (
    Names,
    Operand,
    Path,
    Placeholders,
    Tokens,
    Values,
    at,
    reader_of,
    value_reader,
)
from tests.support.fakes.dynamodb.values import Item, Value, kind_of, number

_SETS = ("SS", "NS", "BS")


class Update(NamedTuple):
    """An update: `apply` returns the new item."""

    apply: Callable[[Item, Values], Item]
    attributes: frozenset[str]
    uses: Placeholders


class _Updates:
    """The grammar of updates."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self.sets: list[tuple[Path, Operand]] = []
        self.removes: list[Path] = []
        self.adds: list[tuple[Path, str]] = []
        self.deletes: list[tuple[Path, str]] = []
        clauses = {
            "SET": lambda: self.sets.append(self._assignment()),
            "REMOVE": lambda: self.removes.append(tokens.path()),
            "ADD": lambda: self.adds.append((self._attribute(), tokens.value())),
            "DELETE": lambda: self.deletes.append((self._attribute(), tokens.value())),
        }
        while tokens.next():
            clause = clauses.pop(tokens.take().upper(), None)
            if clause is None:
                raise tokens.wrong("Syntax error, or a section that is used twice")
            tokens.separated(clause)

    @property
    def paths(self) -> list[Path]:
        changed = [*self.sets, *self.adds, *self.deletes]
        return [*self.removes, *(path for path, _ in changed)]

    def _attribute(self) -> Path:
        path = self._tokens.path()
        if len(path) > 1:
            raise UnknownFormError("ADD or DELETE of a part of an attribute")
        return path

    def _assignment(self) -> tuple[Path, Operand]:
        path = self._tokens.path()
        self._tokens.expect("=")
        operand = self._operand()
        sign = self._tokens.next()
        if sign in ("+", "-"):
            self._tokens.take()
            left, right = operand, self._operand()
            return path, lambda item, values: _sum(left(item, values), sign, right(item, values))
        return path, operand

    def _operand(self) -> Operand:
        tokens = self._tokens
        if tokens.next().startswith(":"):
            return value_reader(tokens.value())
        if tokens.accept("if_not_exists"):
            tokens.expect("(")
            path = reader_of(tokens.path())
            tokens.expect(",")
            other = self._operand()
            tokens.expect(")")
            return lambda item, values: path(item, values) or other(item, values)
        if tokens.accept("list_append"):
            tokens.expect("(")
            first = self._operand()
            tokens.expect(",")
            second = self._operand()
            tokens.expect(")")
            return lambda item, values: _joined(first(item, values), second(item, values))
        return reader_of(tokens.path())


def _wrong_type() -> Exception:
    return invalid("An operand in the update expression has an incorrect data type")


def _missing() -> Exception:
    return invalid("The provided expression refers to an attribute that does not exist in the item")


def _joined(first: Value | None, second: Value | None) -> Value:
    if first is None or second is None:
        raise _missing()
    if "L" not in first or "L" not in second:
        raise _wrong_type()
    return {"L": [*first["L"], *second["L"]]}


def _sum(left: Value | None, sign: str, right: Value | None) -> Value:
    if left is None or right is None:
        raise _missing()
    if "N" not in left or "N" not in right:
        raise _wrong_type()
    first, second = Decimal(left["N"]), Decimal(right["N"])
    return {"N": number(str(first + second if sign == "+" else first - second))}


def _added(old: Value | None, value: Value) -> Value:
    kind = kind_of(value)
    if kind != "N" and kind not in _SETS:
        raise invalid(
            "Invalid UpdateExpression: Incorrect operand type for operator or function; "
            f"operator: ADD, operand type: {kind}"
        )
    if old is None:
        return value
    if kind_of(old) != kind:
        raise _wrong_type()
    if kind == "N":
        return _sum(old, "+", value)
    return {kind: sorted({*old[kind], *value[kind]})}


def _without(old: Value | None, value: Value) -> Value | None:
    kind = kind_of(value)
    if kind not in _SETS:
        raise invalid(
            "Invalid UpdateExpression: Incorrect operand type for operator or function; "
            f"operator: DELETE, operand type: {kind}"
        )
    if old is None:
        return None
    if kind_of(old) != kind:
        raise _wrong_type()
    left = sorted({*old[kind]} - {*value[kind]})
    return {kind: left} if left else None


def _by_position(path: Path) -> list[tuple[bool, Any]]:
    return [(isinstance(step, int), step) for step in path]


def _thawed(value: Value) -> Value:
    """Return a copy whose lists and maps can be changed."""
    if "L" in value:
        return {"L": [_thawed(each) for each in value["L"]]}
    if "M" in value:
        return {"M": {name: _thawed(each) for name, each in value["M"].items()}}
    return value


def _container(item: Item, path: Path) -> Any:
    parent = at(item, path[:-1])
    container = None if parent is None else parent.get("L" if isinstance(path[-1], int) else "M")
    if container is None:
        raise invalid("The document path provided in the update expression is invalid for update")
    return container


def _put_at(item: Item, path: Path, value: Value) -> None:
    if len(path) == 1:
        item[str(path[0])] = value
        return
    container, last = _container(item, path), path[-1]
    if isinstance(last, int) and last >= len(container):
        container.append(value)
    else:
        container[last] = value


def _changing(found: _Updates) -> Callable[[Item, Values], Item]:
    nested = {str(path[0]) for path in found.paths if len(path) > 1}
    sets = sorted(found.sets, key=lambda each: _by_position(each[0]))
    removes = sorted(found.removes, key=_by_position, reverse=True)
    adds, deletes = found.adds, found.deletes

    def apply(item: Item, values: Values) -> Item:
        new = dict(item)
        for name in nested & item.keys():
            new[name] = _thawed(item[name])
        for path, operand in sets:
            value = operand(item, values)
            if value is None:
                raise _missing()
            _put_at(new, path, value)
        for path, name in adds:
            new[str(path[0])] = _added(at(item, path), values[name])
        for path, name in deletes:
            left = _without(at(item, path), values[name])
            if left is None:
                new.pop(str(path[0]), None)
            else:
                new[str(path[0])] = left
        for path in removes:
            if len(path) == 1:
                new.pop(str(path[0]), None)
                continue
            container = _container(new, path)
            if at(item, path) is not None:
                del container[path[-1]]
        return new

    return apply


def _require_apart(tokens: Tokens, paths: list[Path]) -> None:
    """Refuse paths that contain each other, or make one value a list and a map."""
    for one, other in pairwise(sorted(paths, key=_by_position)):
        if other[: len(one)] == one:
            raise tokens.wrong("Two document paths overlap with each other")
    kinds = {path[:end]: type(path[end]) for path in paths for end in range(1, len(path))}
    for path in paths:
        for end in range(1, len(path)):
            if type(path[end]) is not kinds[path[:end]]:
                raise tokens.wrong("Two document paths conflict with each other")


@lru_cache(maxsize=4096)
def update(text: str, names: Names) -> Update:
    """Return an update."""
    tokens = Tokens("UpdateExpression", text, names)
    found = _Updates(tokens)
    _require_apart(tokens, found.paths)
    attributes = frozenset(str(path[0]) for path in found.paths)
    return Update(_changing(found), attributes, tokens.uses)
