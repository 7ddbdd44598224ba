"""README's first session and each page of docs/guides do what they show."""

import re
import shlex
from pathlib import Path
from textwrap import dedent

import pytest

from graveler.samples.files import sample_files
from graveler_embedded.config import ROOT
from tests.guides.downloads import place_downloads
from tests.guides.pages import LONG, PageError, Step, steps
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


def test_the_readme_of_the_sample_data_does_what_it_shows(stack, tmp_path):
    create = "graveler repo create lakefs://samples s3://graveler/samples --sample-data"
    found = [Step(0, 'lakectl() { graveler "$@" <<< y; }'), Step(0, create)]
    readme = next(sample_files("samples", "main")).content.decode()
    program = ""
    for block in re.findall(r"(?:^    .+\n)+", readme, re.MULTILINE):
        lines = dedent(block)
        if lines.startswith("lakectl"):
            found += [Step(0, line) for line in lines.splitlines()]
        else:
            program += lines
            found.append(Step(0, f"python -c {shlex.quote(program)}"))
    assert len(found) > 10
    run(found, tmp_path, variables(stack), installs=False)
