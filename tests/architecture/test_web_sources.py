"""Each commit has the build of its own sources, so an old one serves the page that it describes."""

import subprocess

from tests.architecture.test_portability import ROOT
from tests.architecture.web_sources import BUILT, SOURCES, WEBUI, digest

REMEDY = "run `make page`, and commit graveler_functions/web/page with the sources"


def commits(*paths: object) -> list[str]:
    """Return the commits that changed one of the paths, the newest first."""
    command = ["git", "log", "--no-merges", "--format=%h %s", "--", *map(str, paths)]
    return subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()


def test_the_committed_page_was_built_from_the_present_sources():
    assert BUILT.read_text() == f"{digest()}\n", REMEDY


def test_every_commit_that_changes_the_sources_of_the_page_has_its_build():
    built = set(commits(BUILT))
    changed = commits(BUILT, *(WEBUI / name for name in SOURCES))
    since_the_first = changed[: max(map(changed.index, built), default=0)]
    assert [commit for commit in since_the_first if commit not in built] == [], REMEDY
