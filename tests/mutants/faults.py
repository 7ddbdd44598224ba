"""The table of planted faults, and how one is planted in a module's syntax tree.

A row names a place by the end of its dotted name, so it outlives a move of the file. It names the
code there as Python source. Both are compared as syntax, so layout and comments do not matter.
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import TypeVar

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).parent / "table"
# What a place may be named after: a function, a class, or a constant.
_NAMED = re.compile(r"^ *(?:async )?(?:def|class) (\w+)|^ *(\w+)(?:: [^=\n]+)? = ", re.MULTILINE)

N = TypeVar("N", bound=ast.AST)


class FaultError(Exception):
    """A row of the table is wrong, or no longer applies; the message says which, and why."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A row of the table.

    rule: what the fault breaks.
    place: the end of the dotted name of the function, the class or the constant.
    code: an expression or statements, which occur there exactly once.
    becomes: what the fault makes of the code.
    test: the node ID of the test that finds the fault, "" if the fault is equivalent.
    equivalent: why no test can find it.
    """

    name: str
    rule: str
    place: str
    code: str
    becomes: str
    test: str = ""
    equivalent: str = ""


@cache
def table() -> dict[str, Fault]:
    """Return the rows by name.

    Raises:
        FaultError: a row is not complete, or two rows have one name.
    """
    rows: dict[str, Fault] = {}
    for path in sorted(TABLE.glob("*.toml")):
        for name, row in tomllib.loads(path.read_text()).items():
            if name in rows:
                raise FaultError(f"{path.name}: {name}: another row has this name")
            try:
                rows[name] = Fault(name, **row)
            except TypeError as error:
                raise FaultError(f"{path.name}: {name}: {error}") from error
    return rows


@cache
def _sources() -> dict[str, str]:
    """Return the source of each of the product's modules."""
    return {_module_of(path): path.read_text() for path in ROOT.glob("graveler*/**/*.py")}


def _module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _names() -> dict[str, set[str]]:
    """Return what each module may define, and the parts of its own name."""
    return {
        module: {*module.split("."), *(name or other for name, other in _NAMED.findall(source))}
        for module, source in _sources().items()
    }


def planted(fault: Fault) -> tuple[str, ast.Module]:
    """Return the name of the fault's module, and its syntax tree with the fault.

    Raises:
        FaultError: the place or the code does not exist exactly once, or the row changes nothing.
    """
    found: list[tuple[str, ast.Module, ast.AST]] = []
    for module, names in _names().items():
        if not names.issuperset(fault.place.split(".")):
            continue
        tree = ast.parse(_sources()[module])
        found += [
            (module, tree, node)
            for name, node in _places(tree, module)
            if f".{name}".endswith(f".{fault.place}")
        ]
    if len(found) != 1:
        raise FaultError(f"{fault.name}: {fault.place} names {len(found)} places")
    module, tree, place = found[0]
    planting = _planting(fault)
    planting.visit(place)
    if planting.count != 1:
        raise FaultError(f"{fault.name}: {fault.place} has the code {planting.count} times")
    return module, tree


def _places(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield functions, classes and constants with their dotted names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{prefix}.{child.name}"
            yield name, child
            yield from _places(child, name)
        elif isinstance(child, ast.Assign | ast.AnnAssign):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            yield from (
                (f"{prefix}.{each.id}", child) for each in targets if isinstance(each, ast.Name)
            )


class _Planting(ast.NodeTransformer):
    """Replaces some code, and counts how often."""

    def __init__(self) -> None:
        self.count = 0


class _ExpressionPlanting(_Planting):
    def __init__(self, code: ast.expr, becomes: ast.expr) -> None:
        super().__init__()
        self._code, self._becomes = code, becomes

    def visit(self, node: ast.AST) -> ast.AST:
        if _is_same(node, self._code):
            self.count += 1
            return _at(self._becomes, node)
        visited: ast.AST = self.generic_visit(node)
        return visited


class _StatementsPlanting(_Planting):
    def __init__(self, code: Sequence[ast.stmt], becomes: Sequence[ast.stmt]) -> None:
        super().__init__()
        self._code, self._becomes = code, becomes

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, field, self._replaced(value))
        return super().generic_visit(node)

    def _replaced(self, body: list[ast.stmt]) -> list[ast.stmt]:
        size, replaced, start = len(self._code), list[ast.stmt](), 0
        while start < len(body):
            window = body[start : start + size]
            if len(window) == size and all(map(_is_same, window, self._code)):
                self.count += 1
                replaced += [_at(each, window[0]) for each in self._becomes]
                start += size
            else:
                replaced.append(body[start])
                start += 1
        return replaced


def _planting(fault: Fault) -> _Planting:
    code, becomes = dedent(fault.code).strip(), dedent(fault.becomes).strip()
    try:
        if ast.dump(ast.parse(code)) == ast.dump(ast.parse(becomes)):
            raise FaultError(f"{fault.name}: the fault changes nothing")
        try:
            return _ExpressionPlanting(
                ast.parse(code, mode="eval").body, ast.parse(becomes, mode="eval").body
            )
        except SyntaxError:
            return _StatementsPlanting(ast.parse(code).body, ast.parse(becomes).body)
    except SyntaxError as error:
        raise FaultError(f"{fault.name}: {error}") from error


def _is_same(one: ast.AST, other: ast.AST) -> bool:
    return type(one) is type(other) and ast.dump(one) == ast.dump(other)


def _at(node: N, place: ast.AST) -> N:
    """Return a copy of the node whose parts have the place's line."""
    copied = deepcopy(node)
    for part in ast.walk(copied):
        ast.copy_location(part, place)
    return copied
