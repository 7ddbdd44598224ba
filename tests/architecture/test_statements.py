"""Each statement of lakeFS's documents has its proof or its difference, and a row in docs/statements.md."""

import ast
from functools import cache

import pytest

from tests.architecture.test_portability import ROOT
from tests.seeds import statements

TABLE = statements.statements()
SHOWN = statements.shown()


@cache
def names_in(path: str) -> set[str]:
    """Return the names of the tests of a module."""
    nodes = ast.parse((ROOT / path).read_text()).body
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


def test_every_statement_is_shown_named_or_differs():
    bare = {
        number
        for number, row in TABLE.items()
        if not (row.tests or row.difference or number in SHOWN)
    }
    assert bare == set()


def test_every_number_that_a_test_shows_is_in_a_table():
    assert SHOWN.keys() - TABLE.keys() == set()


@pytest.mark.parametrize("prefix", statements.TITLES)
def test_the_statements_of_a_document_are_numbered_without_gaps(prefix):
    numbers = [number for number in TABLE if number.startswith(prefix)]
    assert numbers == [f"{prefix}.{number:02}" for number in range(1, len(numbers) + 1)]


def test_every_test_that_a_statement_names_exists():
    named = {node.partition("::")[::2] for row in TABLE.values() for node in row.tests}
    assert {(path, name) for path, name in named if name not in names_in(path)} == set()


def test_the_page_is_made_from_the_tables():
    assert statements.PAGE.read_text() == statements.page(), "run python -m tests.seeds"
