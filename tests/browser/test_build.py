"""What is served is what the sources say: the committed build of the web page, and its types."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from graveler_functions.api.all_operations import document
from graveler_functions.api.app import API_PREFIX
from graveler_functions.web.handler import PAGE

pytestmark = pytest.mark.packages

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "webui"
PACKAGES = SOURCES / "node_modules"
SNIPPETS = Path("graveler_cli/snippets.json")  # which the page and the command share
INSTALLATION = "npm ci --no-audit --no-fund"
REMEDY = "run `make page`, and commit graveler_functions/web/page with the sources"


def run(folder: Path, *command: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """A copy of the sources elsewhere, with the packages that `make` has installed."""
    if not PACKAGES.exists():
        pytest.fail(f"the packages of webui/ are missing: run `{INSTALLATION} --prefix webui`")
    folder = tmp_path_factory.mktemp("page") / "webui"
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("node_modules"))
    (folder / "node_modules").symlink_to(PACKAGES.resolve())
    (folder.parent / SNIPPETS.parent).mkdir()
    shutil.copy(ROOT / SNIPPETS, folder.parent / SNIPPETS)
    return folder


@pytest.fixture(scope="module")
def built(workplace):
    run(workplace, "npx", "vite", "build")  # `npm run check` compiles
    return workplace.parent / "graveler_functions" / "web" / "page"


def files_of(folder: Path) -> Mapping[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_the_committed_page_is_what_its_sources_build_byte_for_byte(built):
    expected, served = files_of(built), files_of(PAGE)
    assert served.keys() == expected.keys(), REMEDY
    assert [name for name in served if served[name] != expected[name]] == [], REMEDY


@pytest.mark.long
def test_packages_that_are_installed_anew_build_the_same_page(workplace, tmp_path):
    folder = tmp_path / "webui"
    shutil.copytree(workplace, folder, ignore=shutil.ignore_patterns("node_modules", "build"))
    shutil.copytree(workplace.parent / SNIPPETS.parent, tmp_path / SNIPPETS.parent)
    run(folder, *INSTALLATION.split())
    run(folder, "npm", "run", "build")
    assert files_of(tmp_path / "graveler_functions" / "web" / "page") == files_of(PAGE), REMEDY


def test_no_file_of_the_page_names_the_folder_it_was_built_in(built):
    folder = str(built.parents[2]).encode()
    assert [name for name, content in files_of(built).items() if folder in content] == []


def test_the_sources_pass_the_compiler_and_the_linter(workplace):
    run(workplace, "npm", "run", "check")


def test_the_rules_of_the_page_pass_their_own_tests(workplace):
    run(workplace, "npm", "test")


def test_the_types_of_the_page_are_those_of_the_api(workplace, tmp_path):
    described = tmp_path / "openapi.json"
    described.write_text(document(API_PREFIX))
    made = tmp_path / "schema.d.ts"
    run(workplace, "npm", "run", "types", "--", str(described), "--output", str(made))
    committed = SOURCES / "src" / "api" / "schema.d.ts"
    assert made.read_text() == committed.read_text(), REMEDY


def test_the_licence_of_every_package_in_the_build_is_served_with_it():
    texts = [path.read_text() for path in PAGE.glob("assets/licences-*.txt")]
    assert len(texts) == 1
    named = set(re.findall(r"^(\S+) [\d.]+ \(", texts[0], re.MULTILINE))
    assert {"preact", "preact-iso", "@preact/signals", "@radix-ui/colors"} <= named
    assert texts[0].count("Permission is hereby granted") >= 5
