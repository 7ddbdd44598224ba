"""The web page stays small: what a browser fetches of it, compressed as it is served.

`python -m bench.page` measures the same in chromium.
"""

import re

import pytest

from graveler_functions.web.app import build_app
from graveler_functions.web.handler import PAGE
from tests.support.worlds.page import show

FIRST_LOAD_BYTES_MAX = 150_000
# Of a page or a preview, after the first load.
PART_BYTES_MAX = 60_000
# SQLite, which the worker of a query loads and nothing else (ADR 44).
SQL_WORKER = re.compile(r"sql-worker-.*\.js")
SQL_WORKER_BYTES_MAX = 540_000

APP = build_app(PAGE, ())
SHELL = PAGE / "index.html"
ASSETS = PAGE / "assets"

# An import as the build writes it, and the list of what is fetched with a part (its style sheets).
STATIC_IMPORT = re.compile(r"""(?:from|import)["'`]\./([^"'`]+\.js)["'`]""")
PART = re.compile(r"""import\([`"']\./([^`"']+\.js)[`"']\)(?:,__vite__mapDeps\(\[([\d,]*)\]\))?""")
FETCHED_WITH_PARTS = re.compile(r"m\.f=\[([^]]*)\]")
NAMED = re.compile(r"/assets/([^\"'`?#]+\.(?:svg|js))")  # pictures and workers
LIST_OF_REPOSITORIES = re.compile(r"path:[`\"']/repositories[`\"'],.*?(import\(.*?\]\))")


def size_of(name: str) -> int:
    path = "/" if name == SHELL.name else f"/assets/{name}"
    answer = show(APP, path, accept_encoding="gzip")
    assert answer.status == 200, name
    return len(answer.content)


def total(names: set[str]) -> int:
    return sum(map(size_of, names))


def with_imports(names: set[str]) -> set[str]:
    """The files, all that they import, the pictures they show and the workers they start."""
    found: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        found.add(name)
        if name.endswith(".js"):
            text = (ASSETS / name).read_text()
            waiting |= {*STATIC_IMPORT.findall(text), *NAMED.findall(text)} - found
    return found


def parts_of(text: str, module: str) -> dict[str, set[str]]:
    """The parts that this piece of the module loads on demand: their files by their modules."""
    listed = FETCHED_WITH_PARTS.search(module)
    names = re.findall(r'"assets/([^"]+)"', listed[1]) if listed else []
    return {
        part: with_imports({part, *(names[int(each)] for each in numbers.split(",") if each)})
        for part, numbers in PART.findall(text)
    }


@pytest.fixture(scope="module")
def first_load() -> set[str]:
    """The log-in and the list of repositories."""
    entry = with_imports(set(re.findall(r'(?:src|href)="/assets/([^"]+)"', SHELL.read_text())))
    texts = [(ASSETS / name).read_text() for name in entry if name.endswith(".js")]
    found = [(route, text) for text in texts for route in LIST_OF_REPOSITORIES.findall(text)]
    assert found, "the route of /repositories is written in another way"
    [(route, module)] = found
    [listed] = parts_of(route, module).values()
    return {SHELL.name} | entry | listed


@pytest.fixture(scope="module")
def parts() -> dict[str, set[str]]:
    """All parts that load on demand, by their modules."""
    texts = [path.read_text() for path in ASSETS.glob("*.js")]
    return {name: files for text in texts for name, files in parts_of(text, text).items()}


def test_the_first_load_stays_within_its_budget(first_load):
    kinds = {name.rsplit(".", 1)[1] for name in first_load}
    assert kinds == {"html", "js", "css", "svg"}
    size_bytes = total(first_load)
    assert size_bytes <= FIRST_LOAD_BYTES_MAX, (
        f"log-in and list of repositories: {size_bytes:,} bytes of {FIRST_LOAD_BYTES_MAX:,}: "
        f"{ {name: size_of(name) for name in sorted(first_load)} }"
    )


def test_the_first_load_has_no_page_but_the_list(first_load, parts):
    """A static import of a page would pull it into every first load."""
    loaded_early = {name for name in parts if name in first_load}
    assert len(loaded_early) == 1, loaded_early


def test_no_part_that_loads_on_demand_is_large(first_load, parts):
    assert len(parts) > 25
    workers = {path.name for path in ASSETS.glob("*.js") if SQL_WORKER.fullmatch(path.name)}
    sizes = {name: total(files - first_load - workers) for name, files in parts.items()}
    assert {name: size for name, size in sizes.items() if size > PART_BYTES_MAX} == {}
    assert total(workers) <= SQL_WORKER_BYTES_MAX
