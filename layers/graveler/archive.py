"""Archives that are the same bytes whenever and wherever they are made of the same files."""

import os
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

# The first moment that a ZIP file can name.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_FILE_MODE = 0o100644
_ON_UNIX = 3


class CompilerError(Exception):
    """There is an interpreter, but not the one that was asked for."""


def copy_sources(source: Path, target: Path) -> None:
    """Copy the modules of a folder and of all below it, or one file."""
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
    """The command of an interpreter of that version, if this machine has one."""
    command = shutil.which(f"python{version}")
    if command is None or not _is_version(command, version):
        return None
    return command


def _is_version(command: str, version: str) -> bool:
    code = f"import sys; sys.exit('%d.%d' % sys.version_info[:2] != {version!r})"
    # A version manager's stand-in fails where it has no such version to stand in for.
    return subprocess.run([command, "-c", code], capture_output=True, check=False).returncode == 0


def compile_sources(folder: Path, installed_at: str, compiler: str) -> None:
    """Put bytecode beside the sources: where code lies is not writable, each start would compile.

    It is taken as it is and never held against its source, whose time is not the same again.
    """
    command = [
        *(compiler, "-m", "compileall", "-q", "-j", "1"),
        *("--invalidation-mode", "unchecked-hash"),
        *("-s", str(folder), "-p", installed_at, str(folder)),
    ]
    # Sets are stored in the order of their hashes.
    subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": "0"}, check=True)


def write_zip(folder: Path, archive: Path) -> None:
    """Write all files of the folder into a ZIP file, by name, all as old as each other."""
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
    """The files of the folder and of all below it, by name."""
    return (path for path in sorted(folder.rglob("*")) if path.is_file())
