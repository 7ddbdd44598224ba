"""What is served is what the sources say: the committed build of the web page, and its types."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from functions.api.app import API_PREFIX
from functions.api.operations import document
from functions.web.handler import PAGE

pytestmark = pytest.mark.packages

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "webui"
REMEDY = "run `make page`, and commit functions/web/page with the sources"


def run(folder: Path, *command: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """A copy of the sources elsewhere, with the packages of its lock file and nothing else."""
    if shutil.which("npm") is None:
        pytest.fail("npm is missing, which builds the web page; on Debian: apt install nodejs npm")
    folder = tmp_path_factory.mktemp("page") / "webui"
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("node_modules"))
    run(folder, "npm", "ci", "--no-audit", "--no-fund")
    return folder


@pytest.fixture(scope="module")
def built(workplace):
    run(workplace, "npm", "run", "build")
    return workplace.parent / "functions" / "web" / "page"


def files_of(folder: Path) -> Mapping[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_the_committed_page_is_what_its_sources_build_byte_for_byte(built):
    expected, served = files_of(built), files_of(PAGE)
    assert served.keys() == expected.keys(), REMEDY
    assert [name for name in served if served[name] != expected[name]] == [], REMEDY


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
    run(workplace, "npx", "openapi-typescript", str(described), "--output", str(made))
    committed = SOURCES / "src" / "api" / "schema.d.ts"
    assert made.read_text() == committed.read_text(), REMEDY


def test_the_licence_of_every_package_in_the_build_is_served_with_it():
    texts = [path.read_text() for path in PAGE.glob("assets/licences-*.txt")]
    assert len(texts) == 1
    named = set(re.findall(r"^(\S+) [\d.]+ \(", texts[0], re.MULTILINE))
    assert {"preact", "preact-iso", "@preact/signals", "@radix-ui/colors"} <= named
    assert texts[0].count("Permission is hereby granted") >= 5
