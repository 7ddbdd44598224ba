"""Reproducible archives: the same files give the same bytes at any time, on any machine."""

import os
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

# The earliest time in a ZIP file.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_FILE_MODE = 0o100644
_ON_UNIX = 3


class CompilerError(Exception):
    """There is an interpreter, but not of the requested version."""


def copy_sources(source: Path, target: Path) -> None:
    """Copy one file, or the modules of a folder and its subfolders."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=_but_modules)
    else:
        shutil.copyfile(source, target)


def _but_modules(folder: str, names: list[str]) -> list[str]:
    return [
        name
        for name in names
        if name == "__pycache__" or not (name.endswith(".py") or Path(folder, name).is_dir())
    ]


def find_compiler(version: str) -> str | None:
    """Return the command of an interpreter of that version; None if this machine has none."""
    command = shutil.which(f"python{version}")
    if command is None or not _is_version(command, version):
        return None
    return command


def _is_version(command: str, version: str) -> bool:
    code = f"import sys; sys.exit('%d.%d' % sys.version_info[:2] != {version!r})"
    # A version manager's shim fails if the version is not installed.
    return subprocess.run([command, "-c", code], capture_output=True, check=False).returncode == 0


def compile_sources(folder: Path, installed_at: str, compiler: str) -> None:
    """Put bytecode beside the sources. On Lambda they are read-only, so each start would compile.

    The bytecode is not checked against its source, whose modification time differs there.

    Raises:
        CalledProcessError: a source does not compile.
    """
    command = [
        *(compiler, "-m", "compileall", "-q", "-j", "1"),
        *("--invalidation-mode", "unchecked-hash"),
        *("-s", str(folder), "-p", installed_at, str(folder)),
    ]
    # Bytecode stores sets in the order of their hashes, so the seed must be fixed.
    subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": "0"}, check=True)


def write_zip(folder: Path, archive: Path) -> None:
    """Write all files of the folder into a ZIP file, by name, with one fixed time."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    unfinished = archive.with_name(f".{archive.name}.{os.getpid()}")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in files(folder):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = _FILE_MODE << 16
            entry.create_system = _ON_UNIX
            packed.writestr(entry, path.read_bytes())
    unfinished.replace(archive)


def files(folder: Path) -> Iterator[Path]:
    """Return the files of the folder and its subfolders, by name."""
    return (path for path in sorted(folder.rglob("*")) if path.is_file())
