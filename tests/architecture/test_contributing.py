"""The lists of CONTRIBUTING.md are true and complete, and docs/api.md names every operation."""

import ast
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from graveler.model.events import DETAIL_TYPES
from graveler_functions.api.all_operations import OPERATIONS
from graveler_functions.api.routes import (
    collection_runs,
    exports,
    prefixes,
    recorded_uploads,
    rights,
    sessions,
    tasks,
)
from graveler_functions.api.routing import ApiOperation
from graveler_functions.api.unserved import UNSERVED
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


def module_of(operation: ApiOperation) -> str:
    return operation.route.__module__.rpartition(".")[2]


def served() -> dict[str, set[str]]:
    """Return the operations of each route module."""
    by_module: dict[str, set[str]] = {}
    for operation in OPERATIONS:
        by_module.setdefault(module_of(operation), set()).add(operation.template.name)
    return by_module


def documented() -> dict[str, set[str]]:
    """Return the operations of each route module, as the tables of docs/api.md name them."""
    rows = re.findall(r"^\| [^|]+ \| ([^|]+) \| `(\w+)` \|$", section(API, "Served"), re.MULTILINE)
    by_module = {module: set(re.findall(r"\w+", names)) - {"deprecated"} for names, module in rows}
    for module, heading in (
        ("exports", "Continuous export"),
        ("tasks", "Tasks"),
        ("prefixes", "Copies and moves of prefixes"),
        ("recorded_uploads", "Recorded uploads"),
        ("rights", "Rights of users"),
        ("collection_runs", "Runs of garbage collection"),
        ("sessions", "Sessions"),
    ):
        ours = re.findall(r"^\| (\w+) \| `[A-Z]+ /", section(API, heading), re.MULTILINE)
        by_module[module] = set(ours)
    return by_module


def test_the_api_page_names_every_operation_with_its_module():
    assert documented() == served()


def test_the_counts_of_the_api_page_are_right():
    modules = (collection_runs, exports, tasks, prefixes, recorded_uploads, rights, sessions)
    ours = sum(len(module.operations.table) for module in modules)
    of_lakefs = len(OPERATIONS) - ours
    assert f"## Served: {of_lakefs} operations" in API
    assert f"its {of_lakefs + len(UNSERVED)} operations" in API
    assert f"The other {len(UNSERVED)} operations" in API


def test_every_route_module_is_registered():
    declaring = {
        path.stem
        for path in (ROOT / "graveler_functions/api/routes").glob("*.py")
        if "@operations.add(" in path.read_text()
    }
    assert declaring == served().keys()
