"""docs/security.md names tests that exist, and tells of every test in this folder."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
DOCUMENT = (TESTS.parent / "docs" / "security.md").read_text()
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)::(\w+)`", DOCUMENT)))


def names_in(path: Path) -> set[str]:
    """The names of the tests in a file, inside of classes as well."""
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def test_the_document_names_tests():
    assert len(NAMED) > 100
    assert DOCUMENT.count("::") == len(re.findall(r"`[\w/]+\.py::\w+`", DOCUMENT))


def test_the_tests_that_the_document_names_exist():
    there = {file: names_in(TESTS / file) for file, _ in NAMED}
    assert [(file, name) for file, name in NAMED if name not in there[file]] == []


def test_every_threat_that_is_tried_here_is_in_the_document():
    here = set(Path(__file__).parent.glob("test_*.py")) - {Path(__file__)}
    tried = {(f"security/{path.name}", name) for path in here for name in names_in(path)}
    assert tried == {each for each in NAMED if each[0].startswith("security/")}


def test_every_threat_has_its_test():
    """A threat is a paragraph that begins in bold, or a section without such paragraphs."""
    threats = [text for text in DOCUMENT.split("\n\n") if text.startswith("**")]
    assert len(threats) > 20
    assert [text for text in threats if "::" not in text] == []
    sections = DOCUMENT.split("\n## ")[4:]  # the first three say what there is
    assert [text.partition("\n")[0] for text in sections if "::" not in text] == []
