"""README's first session and each page of docs/guides do what they show."""

import re
from pathlib import Path

import pytest

from graveler_embedded.config import ROOT
from tests.guides.downloads import place_downloads
from tests.guides.pages import LONG, PageError, steps
from tests.guides.sessions import run, variables

pytestmark = pytest.mark.server

GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))


def marked(page: Path):
    marks = [pytest.mark.long] if LONG in page.read_text() else []
    return pytest.param(page, id=page.stem, marks=marks)


def judge(page: Path, text: str, first_line: int, folder: Path, stack) -> None:
    """Fail with the place of the first step that does something else."""
    try:
        found = steps(text, first_line)
        assert found
        given = variables(stack) | place_downloads(text, folder)
        run(found, folder, given, installs=LONG in text)
    except PageError as error:
        failure = f"{page.relative_to(ROOT)}:{error}"
    else:
        return
    pytest.fail(failure, pytrace=False)


@pytest.mark.parametrize("page", [marked(page) for page in GUIDES])
def test_a_guide_does_what_it_shows(stack, tmp_path, page):
    judge(page, page.read_text(), 1, tmp_path, stack)


def test_the_first_session_of_the_readme_does_what_it_shows(stack, tmp_path):
    page = ROOT / "README.md"
    text = page.read_text()
    session = re.search(r"^## A first session\n.*?(?=^## )", text, re.DOTALL | re.MULTILINE)
    assert session
    judge(page, session[0], 1 + text.count("\n", 0, session.start()), tmp_path, stack)
