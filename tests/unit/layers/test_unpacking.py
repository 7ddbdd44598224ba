"""A job's process unpacks the archive that Glue puts on its path."""

import importlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from layers.jobs import unpacking

# A stand-in at the root for each package, and the packages themselves in the folder.
SOURCES = {
    f"{unpacking.FOLDER}/graveler/__init__.py": "",
    f"{unpacking.FOLDER}/graveler/inner.py": "from brought import VALUE",
    f"{unpacking.FOLDER}/graveler_jobs/__init__.py": "",
    f"{unpacking.FOLDER}/brought/__init__.py": "VALUE = 'ours'",
}


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = tmp_path / "0a1b2c.zip"
    stand_in = Path(unpacking.__file__).read_text()
    with zipfile.ZipFile(path, "w") as packed:
        for name, source in SOURCES.items():
            packed.writestr(name, source)
        for package in unpacking.PACKAGES:
            packed.writestr(f"{package}/__init__.py", stand_in)
    return path


@pytest.fixture
def path_and_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = dict(sys.modules)
    yield
    sys.modules.clear()
    sys.modules.update(before)


@pytest.mark.parametrize("first", ["graveler.inner", "graveler_jobs"])
def test_either_package_is_imported_first_and_finds_what_the_archive_brings(
    first: str, archive: Path, tmp_path: Path
) -> None:
    program = f"import {first}; from graveler.inner import VALUE; print(VALUE)"
    environment = {"PYTHONPATH": str(archive), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "ours", done.stderr


def test_the_archive_is_unpacked_once(archive: Path) -> None:
    folder = unpacking.unpack(archive)
    (folder / "brought" / "__init__.py").write_text("VALUE = 'the same file'")
    assert unpacking.unpack(archive) == folder
    assert "the same file" in (folder / "brought" / "__init__.py").read_text()


def test_an_unpacking_that_was_killed_is_done_again(archive: Path) -> None:
    folder = unpacking.unpack(archive)
    (folder.parent / "done").unlink()
    (folder / "brought" / "__init__.py").write_text("VALUE =")
    unpacking.unpack(archive)
    assert (folder / "brought" / "__init__.py").read_text() == "VALUE = 'ours'"


def test_another_archive_gets_another_folder(archive: Path) -> None:
    folder = unpacking.unpack(archive)
    with zipfile.ZipFile(archive, "a") as packed:
        packed.writestr("new", "")
    assert unpacking.unpack(archive) != folder


def test_a_folder_that_somebody_else_made_is_not_trusted(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    with pytest.raises(PermissionError, match="belongs to another user"):
        unpacking.unpack(archive)


def test_what_was_imported_of_an_older_copy_is_imported_again(
    archive: Path, path_and_modules: None
) -> None:
    older = ModuleType("brought")
    sys.modules["brought"] = older
    unpacking.use(unpacking.unpack(archive))
    assert importlib.import_module("brought").VALUE == "ours"
    assert sys.modules["pytest"] is pytest  # of no package of the archive
