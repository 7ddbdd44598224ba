"""What the documents that Graveler is built after say, and how each statement holds.

Each module of this folder has a table `STATEMENTS`: a number, a quotation, and where the statement
is not shown here, the tests that prove it or the difference. A test names what it shows by
`@shows`. `python -m tests.seeds` writes docs/statements.md from both.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "statements.md"

TITLES = {
    "000": "Concepts",
    "001": "Where data are stored",
    "002": "Data model",
    "003": "Continuous export",
    "004": "Garbage collection",
}

# A difference of two examples.
COLON = "Today's lakeFS refuses a colon: [differences](api.md#differences-from-lakefs)"

# The numbers of the statements that a test shows.
shows = pytest.mark.shows


@dataclass(frozen=True)
class Statement:
    """A sentence: its quotation, the tests elsewhere that prove it, and how it differs here.

    A difference is Markdown, with links as in a page of docs/.
    """

    quote: str
    tests: tuple[str, ...] = ()
    difference: str = ""


def said(quote: str, *tests: str, but: str = "") -> Statement:
    """Return a row of a table; tests are paths of nodes, as `tests/unit/test_a.py::test_b`."""
    return Statement(quote, tests, but)


def modules() -> Iterator[ModuleType]:
    """Yield the modules of this folder that have a table."""
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        yield import_module(f"tests.seeds.{path.stem}")


def statements() -> Mapping[str, Statement]:
    """Return all statements by their numbers, in order."""
    return dict(sorted(row for module in modules() for row in module.STATEMENTS.items()))


def shown() -> Mapping[str, list[str]]:
    """Return the tests of this folder that show each statement, as paths of nodes."""
    found: dict[str, list[str]] = {}
    for module in modules():
        path = f"tests/seeds/{module.__name__.rpartition('.')[2]}.py"
        for name, test in vars(module).items():
            marks = getattr(test, "pytestmark", []) if name.startswith("test_") else []
            for number in (each for mark in marks if mark.name == "shows" for each in mark.args):
                found.setdefault(number, []).append(f"{path}::{name}")
    return found


def page() -> str:
    """Return docs/statements.md."""
    return "\n".join([*_HEAD, *_sections()]) + "\n"


_HEAD = (
    "# Statements",
    "",
    "Graveler is built after these documents of lakeFS. The page quotes what they say, and names the tests",
    "that show it with real clients. [concepts.md](concepts.md) says what differs here.",
    "`python -m tests.seeds` writes this page.",
)


def _sections() -> Iterator[str]:
    shown_here = shown()
    rows = statements()
    for prefix, title in TITLES.items():
        yield from ("", f"## {title}", "", "| | statement | how it holds |", "|---|---|---|")
        for number, row in rows.items():
            if number.startswith(prefix):
                tests = [_link(each) for each in (*shown_here.get(number, ()), *row.tests)]
                how = ". ".join(filter(None, (row.difference, ", ".join(tests))))
                quote = re.sub(r"([\\`*_~|<])", r"\\\1", row.quote)
                yield f"| {number} | {quote} | {how} |"


def _link(node: str) -> str:
    path, _, name = node.partition("::")
    return f"[{name}](../{path})"
