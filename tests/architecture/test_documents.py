"""Links in documents resolve, the files and messages that they name exist, README has every page."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.architecture.test_portability import ROOT, tracked_files
from tests.architecture.test_sizes_and_names import ROOMS
from tests.support.checks.cases import for_each

DOCUMENTS = [name for name in tracked_files() if name.endswith(".md")]
SOURCES = [name for name in tracked_files() if name.endswith((".py", "Makefile"))]
FOLDERS = (*ROOMS, "bench", "docs", "tests")
PAGES_OF_LAKEFS = {"docs/understand/data-structure.md"}  # named as the source of a format
CODE_BLOCK = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
# The first column of a table that quotes messages of the log.
QUOTED_IN = re.compile(
    r"^ *\| (?:the log says|error) \| (?:do|meaning) .*\n((?: *\|.*\n)+)", re.MULTILINE
)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def prose(path: Path) -> str:
    """Return a document without its blocks of code."""
    return CODE_BLOCK.sub("", path.read_text())


def anchors(path: Path) -> set[str]:
    """Return the anchors of a document's headings, as GitHub derives them."""
    headings = re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


def broken_links(path: Path) -> list[str]:
    """Return the relative links of a document whose file or anchor does not exist."""
    broken = []
    for link in LINK.findall(prose(path)):
        if link.startswith(("https://", "http://")):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    return broken


@for_each("name", DOCUMENTS)
def test_the_links_of_a_document_lead_somewhere(name):
    assert broken_links(ROOT / name) == []


def test_broken_links_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A `b` c\n[1](#a-b-c) [2](#d) [3](page.md#a-b-c) [4](e.md) [5](https://x)\n")
    assert broken_links(page) == ["#d", "e.md"]


def test_pages_that_sources_name_exist():
    named = {
        found
        for name in SOURCES
        for found in re.findall(r"\bdocs/[\w/.-]+\.(?:md|json)\b", (ROOT / name).read_text())
    }
    assert len(named) > 5
    assert {each for each in named if not (ROOT / each).exists()} == PAGES_OF_LAKEFS


def test_pages_that_the_web_page_names_exist():
    sources = [name for name in tracked_files() if name.endswith(".tsx")]
    texts = [(ROOT / name).read_text() for name in sources]
    named = {page for text in texts for page in re.findall(r'<Docs page="([^"]+)"', text)}
    assert "hooks.md" in named
    assert [page for page in named if not (ROOT / "docs" / page).exists()] == []


@for_each("name", DOCUMENTS)
def test_paths_and_tests_that_a_document_names_exist(name):
    text = (ROOT / name).read_text()
    paths = re.findall(rf"`((?:{'|'.join(FOLDERS)})/[\w./-]*)`", text)
    assert [each for each in paths if not any(ROOT.glob(f"{each}*"))] == []
    tests = set(re.findall(r"`(test_\w+)`", text))
    assert tests - names_of_tests() == set()


def test_the_readme_lists_every_page():
    folders = (ROOT / "docs", ROOT / "docs/guides")
    pages = {str(path.relative_to(ROOT)) for folder in folders for path in folder.glob("*.md")}
    linked = set(LINK.findall(prose(ROOT / "README.md")))
    assert pages - linked == set()


@cache
def names_of_tests() -> set[str]:
    """Return the names of all test functions."""
    texts = [
        (ROOT / name).read_text()
        for name in tracked_files()
        if name.startswith("tests/") and name.endswith(".py")
    ]
    return {found for text in texts for found in re.findall(r"def (test_\w+)", text)}


def quoted_messages() -> set[str]:
    """Return the pieces of messages, between the ellipses, in the tables of the runbook."""
    rows = [
        row
        for name in ("operations", "repairs")
        for table in QUOTED_IN.findall((ROOT / "docs" / f"{name}.md").read_text())
        for row in table.splitlines()
    ]
    quotes = [quote for row in rows for quote in re.findall(r"`([^`]+)`", row.split("|")[1])]
    pieces = {piece.strip(" ,") for quote in quotes for piece in quote.split("…")}
    return {piece for piece in pieces if " " in piece}


def texts_of_sources() -> str:
    """Return all string literals of the code that runs, one on each line."""
    trees = [
        ast.parse((ROOT / name).read_text())
        for name in tracked_files()
        if name.startswith(("graveler/", "graveler_functions/", "graveler_jobs/"))
        and name.endswith(".py")
    ]
    constants = (
        node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)
    )
    return "\n".join(value for value in constants if isinstance(value, str))


def test_messages_that_the_runbook_quotes_exist():
    messages, texts = quoted_messages(), texts_of_sources()
    assert len(messages) > 5
    # This one is a message of AWS.
    assert {each for each in messages if each not in texts} == {"Access Denied"}
