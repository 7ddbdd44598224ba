"""Modules and functions stay small, and names are specific."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.checks.cases import for_each

ROOT = Path(__file__).parents[2]
PAGE_SOURCES = ROOT / "webui"
ROOMS = (
    "graveler",
    "graveler_cli",
    "graveler_embedded",
    "graveler_functions",
    "graveler_gateway",
    "graveler_jobs",
    "infra",
    "layers",
)
MODULE_LINES_MAX = 400
FUNCTION_LINES_MAX = 70
VAGUE_NAMES = {
    stem + ending
    for stem in ("util", "helper", "common", "manager", "misc", "shared")
    for ending in ("", "s")
}
NAMES_OF_CLIENTS = {"lakefs", "lakefs_sdk"}  # our acceptance tests import the real ones


def modules() -> list[Path]:
    rooms = (*ROOMS, "bench")
    written = (path for room in rooms for path in sorted((ROOT / room).rglob("*.py")))
    return [path for path in written if not path.stem.endswith("_pb2")]


def page_modules() -> list[Path]:
    """Return the modules of the web page that people write: its types are generated."""
    found = [*(PAGE_SOURCES / "src").rglob("*.ts*"), *(PAGE_SOURCES / "plugins").rglob("*.ts")]
    return sorted(path for path in found if path.name != "schema.d.ts")


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def functions(source: str) -> Iterator[tuple[str, int]]:
    """Yield the name and the number of lines of each function and method."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.name, node.end_lineno - node.lineno + 1


def test_modules_are_found():
    assert {"graveler/model/__init__.py", "graveler/refs/log.py"} <= set(map(shown, modules()))


def test_modules_of_the_page_are_found():
    assert {"webui/src/main.tsx", "webui/src/parts/list.tsx"} <= set(map(shown, page_modules()))


@for_each("path", page_modules(), ids=shown)
def test_a_module_of_the_page_is_short(path):
    assert len(path.read_text().splitlines()) <= MODULE_LINES_MAX


@for_each("path", modules(), ids=shown)
def test_a_module_and_its_functions_are_short(path):
    source = path.read_text()
    assert len(source.splitlines()) <= MODULE_LINES_MAX
    assert [found for found in functions(source) if found[1] > FUNCTION_LINES_MAX] == []


def test_functions_are_measured_from_their_first_line_to_their_last():
    body = "    x = 1\n" * FUNCTION_LINES_MAX
    source = f"class A:\n  def short(self):\n    pass\n\n\nasync def long(\n):\n{body}"
    assert list(functions(source)) == [("long", FUNCTION_LINES_MAX + 2), ("short", 2)]


def test_no_module_or_package_has_a_vague_name():
    found = {
        shown(path): part
        for path in (*modules(), *page_modules())
        for part in (*path.relative_to(ROOT).parts[:-1], path.stem)
        if part in VAGUE_NAMES | NAMES_OF_CLIENTS
    }
    assert found == {}
