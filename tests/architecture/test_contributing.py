"""The lists of CONTRIBUTING.md are true and complete, and docs/api.md describes our own operations."""

import ast
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from graveler.model.events import DETAIL_TYPES
from graveler_functions.api.all_operations import OPERATIONS
from tests.architecture.page_tables import OWN, operations_by_module
from tests.architecture.test_portability import ROOT, tracked_files

GUIDE = (ROOT / "CONTRIBUTING.md").read_text()
API = (ROOT / "docs" / "api.md").read_text()
LISTS = ("Add an operation", "Add an event", "Add a permission")
# Tests and measurements name operations and kinds of events as examples.
EXAMPLES = ("tests/", "bench/")


def section(document: str, heading: str) -> str:
    """Return the text under a heading of the second level, which may be its beginning only."""
    found = re.search(rf"^## {heading}.*?\n(.*?)(?=^## |\Z)", document, re.DOTALL | re.MULTILINE)
    assert found, heading
    return found[1]


def listed(title: str) -> list[str]:
    """Return the paths that a list names, as patterns: `<resource>` stands for any name."""
    named = re.findall(r"`([\w.<>-]+(?:/[\w.<>-]*)+)`", section(GUIDE, title))
    return [re.sub(r"<\w+>", "*", path) + ("*" if path.endswith("/") else "") for path in named]


def files_with(words: set[str], files: list[str]) -> set[str]:
    """Return the files that name one of the words in double quotes."""
    return {name for name in files if words & literals(ROOT / name)}


def literals(path: Path) -> set[str]:
    """Return the string literals of a module, or the quoted words of another file."""
    if path.suffix != ".py":
        return set(re.findall(r'"(\w+)"', path.read_text()))
    nodes = ast.walk(ast.parse(path.read_text()))
    return {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def not_listed(title: str, words: set[str]) -> set[str]:
    """Return the files that name one of the words and that a list does not cover."""
    files = [
        name
        for name in tracked_files()
        if name.endswith((".py", ".json", ".md")) and not name.startswith(EXAMPLES)
    ]
    patterns = listed(title)
    return {
        name
        for name in files_with(words, files)
        if not any(fnmatch(name, pattern) for pattern in patterns)
    }


@pytest.mark.parametrize("title", LISTS)
def test_every_path_in_a_list_exists(title):
    patterns = listed(title)
    assert len(patterns) >= 4
    missing = [each for each in patterns if not any(ROOT.glob(each))]
    assert missing == []


def test_every_file_that_names_a_kind_of_event_is_in_the_list():
    assert not_listed("Add an event", set(DETAIL_TYPES)) == set()


def test_every_file_that_names_an_operation_is_in_the_list():
    # Those that are one word in lower case ("commit", "login") are other things elsewhere.
    names = {each.template.name for each in OPERATIONS if not each.template.name.islower()}
    assert not_listed("Add an operation", names) == set()


def test_the_make_target_that_records_permissions_exists():
    target, path = "actions", "tests/infra/actions.txt"
    makefile = (ROOT / "Makefile").read_text()
    text = section(GUIDE, "Add a permission")
    assert f"`make {target}`" in text
    assert f"`{path}`" in text
    assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    assert f"ACTIONS := {path}" in makefile


@pytest.mark.parametrize("module", OWN)
def test_the_api_page_describes_every_operation_that_lakefs_does_not_have(module):
    described = re.findall(r"^\| (\w+) \| `[A-Z]+ /", section(API, OWN[module]), re.MULTILINE)
    assert sorted(described) == sorted(operations_by_module()[module])


def test_every_route_module_is_registered():
    declaring = {
        path.stem
        for path in (ROOT / "graveler_functions/api/routes").glob("*.py")
        if "@operations.add(" in path.read_text()
    }
    assert declaring == operations_by_module().keys()
