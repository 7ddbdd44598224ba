"""An operation is added by the steps of CONTRIBUTING.md alone: here, to a copy of the project."""

import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.architecture.test_contributing import listed
from tests.architecture.test_portability import ROOT, tracked_files

# What each step adds, by file: the text, and the line that it follows. Without a line: at the end.
STEPS = {
    "graveler/operations/tags.py": (
        '''

def count(engine: Engine, repository: str) -> int:
    """Return the number of the repository's tags, of a thousand at most.

    Raises:
        InvalidInputError: the name is malformed.
        NotFoundError: the repository does not exist.
    """
    page = list_page(engine, repository, prefix="", after="", amount=1000)
    return len(page.results)
''',
        "",
    ),
    "graveler/http/schemas/tags.py": (
        """

class TagCount(Struct, frozen=True):
    count: int
""",
        "",
    ),
    "graveler_functions/api/routes/tags.py": (
        """

@operations.add(
    "GET", "/repositories/<repository>/tag_count", "countTags", answers={200: schemas.TagCount}
)
@checked(Needs.on(Action.LIST_TAGS, named.REPOSITORY))
def count_tags(request: Request) -> ApiAnswer:
    found = tags.count(request.engine, request.repository)
    return answers.of_json(schemas.TagCount(found))
""",
        "",
    ),
    "tests/support/worlds/valid_requests.py": (
        '    table.add("countTags")\n',
        '    table.add("getTag")\n',
    ),
    "tests/support/worlds/access_examples.py": (
        '    "countTags": _repository("GET", "/tag_count", "fs:ListTags"),\n',
        '    "listTags": _repository("GET", "/tags", "fs:ListTags"),\n',
    ),
    "tests/integration/test_api_tag_count.py": (
        '''"""Tags are counted."""

from tests.support.clients.api import ApiClient


def test_the_tags_of_a_repository_are_counted():
    api = ApiClient()
    api.repository()
    for name in ("v1", "v2"):
        api.ask("POST", "/repositories/repo/tags", {"id": name, "ref": "main"})
    assert api.ask("GET", "/repositories/repo/tag_count").json == {"count": 2}
''',
        "",
    ),
}
SUITES = (
    "tests/architecture/test_contributing.py",
    "tests/architecture/test_page_tables.py",
    "tests/integration/test_api_contracts.py",
    "tests/integration/test_api_tag_count.py",
    "tests/security/test_access_matrix.py",
)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    for name in tracked_files():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def run(folder: Path, *arguments: str) -> str:
    """Return the output of Python with the arguments in the folder, which must succeed."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_an_operation_that_was_added_by_the_five_steps_is_served_checked_and_documented(copied):
    patterns = listed("Add an operation")
    for name, (text, line) in STEPS.items():
        assert any(fnmatch(name, pattern) for pattern in patterns)
        path = copied / name
        before = path.read_text() if path.exists() else ""
        assert line in before
        path.write_text(before.replace(line, line + text, 1) if line else before + text)
    run(copied, "-m", "tests.architecture.page_tables")
    subprocess.run(["git", "init", "-q"], cwd=copied, check=True)
    subprocess.run(["git", "add", "-A"], cwd=copied, check=True)
    assert " passed" in run(
        copied, "-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", *SUITES
    )
    for page in ("api.md", "access.md"):
        assert "countTags" in (copied / "docs" / page).read_text()
