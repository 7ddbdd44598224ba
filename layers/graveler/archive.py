"""Reproducible archives: equal files give equal bytes at any time, on any machine."""

import os
import shutil
import struct
import subprocess
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import cramjam

# Level 6 of 9, as zlib's default.
_COMPRESSION_LEVEL = 6

# The ZIP format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3.
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_CENTRAL_HEADER = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_VERSION = 20
_MADE_ON_UNIX = 3 << 8 | _VERSION
_UTF8_NAMES = 0x800
_DEFLATED = 8
_TIME = 0
_DATE = 1 << 5 | 1  # 1 January 1980, the earliest date
_FILE_MODE = 0o100644 << 16
_ENTRIES_MAX = 0xFFFF


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
    found = (_interpreter(command, version) for command in _candidates(version))
    return next((path for path in found if path is not None), None)


def _candidates(version: str) -> Iterator[str]:
    """Yield commands that may be an interpreter of the version: from the path, pyenv or uv."""
    command = shutil.which(f"python{version}")
    if command is not None:
        yield command
    # pyenv's shim on the path fails if another version is selected.
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for path in sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"), reverse=True):
        yield str(path)
    uv = shutil.which("uv")
    if uv is not None:
        found = subprocess.run(
            [uv, "python", "find", "--no-python-downloads", "--no-project", version],
            capture_output=True,
            text=True,
            check=False,
        )
        if found.returncode == 0:
            yield found.stdout.strip()


def _interpreter(command: str, version: str) -> str | None:
    """Return the path of the interpreter that the command runs; None for another version."""
    code = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"
    done = subprocess.run([command, "-c", code], capture_output=True, text=True, check=False)
    found, _, path = done.stdout.strip().partition(" ")
    return path if done.returncode == 0 and found == version else None


def compile_sources(folder: Path, installed_at: str, compiler: str) -> None:
    """Put bytecode beside the sources. On Lambda they are read-only, so each start would compile.

    The bytecode is not checked against its source, whose modification time differs there.

    Raises:
        CalledProcessError: a source does not compile.
    """
    command = [
        *(compiler, "-S", "-s", "-m", "compileall", "-q", "-j", "1"),
        *("--invalidation-mode", "unchecked-hash"),
        *("-s", str(folder), "-p", installed_at, str(folder)),
    ]
    # Bytecode stores sets in the order of their hashes, so the seed is fixed. No other variable,
    # such as PYTHONOPTIMIZE or PYTHONPYCACHEPREFIX, may have an effect.
    subprocess.run(command, env={"PYTHONHASHSEED": "0"}, check=True)


def has_bytecode(names: Iterable[str]) -> bool:
    """Whether the names of an archive's files include bytecode."""
    return any(name.endswith(".pyc") for name in names)


def write_zip(folder: Path, archive: Path) -> None:
    """Write all files of the folder into a ZIP file, by name, with one fixed time and mode.

    The standard library's `zipfile` compresses with the machine's zlib, and builds of zlib differ.
    cramjam contains its own compressor, so one version of cramjam gives the same bytes everywhere.

    Raises:
        ValueError: there are more files than the format allows.
    """
    archive.parent.mkdir(parents=True, exist_ok=True)
    unfinished = archive.with_name(f".{archive.name}.{os.getpid()}")
    central: list[bytes] = []
    with unfinished.open("wb") as packed:
        for path in files(folder):
            name, content = path.relative_to(folder).as_posix().encode(), path.read_bytes()
            deflated = bytes(cramjam.deflate.compress(content, _COMPRESSION_LEVEL))
            about = (_VERSION, _UTF8_NAMES, _DEFLATED, _TIME, _DATE)
            sizes = (zlib.crc32(content), len(deflated), len(content))
            where = packed.tell()
            local = _LOCAL_HEADER.pack(b"PK\3\4", *about, *sizes, len(name), 0)
            packed.write(local + name + deflated)
            more = (len(name), 0, 0, 0, 0, _FILE_MODE, where)
            central.append(
                _CENTRAL_HEADER.pack(b"PK\1\2", _MADE_ON_UNIX, *about, *sizes, *more) + name
            )
        if len(central) >= _ENTRIES_MAX:
            raise ValueError(f"{archive.name} would have {len(central):,} files: too many")
        where, listed = packed.tell(), b"".join(central)
        end = _END.pack(b"PK\5\6", 0, 0, len(central), len(central), len(listed), where, 0)
        packed.write(listed + end)
    unfinished.replace(archive)


def holds_sources(archive: zipfile.ZipFile, sources: Path, packages: Iterable[str]) -> bool:
    """Whether the archive holds the files of the folder, and no other source in the packages."""
    wanted = {path.relative_to(sources).as_posix(): path.read_bytes() for path in files(sources)}
    names = set(archive.namelist())
    packed = {
        name for name in names if name.startswith(tuple(packages)) and not name.endswith(".pyc")
    }
    return packed <= wanted.keys() <= names and all(
        archive.read(name) == content for name, content in wanted.items()
    )


def files(folder: Path) -> Iterator[Path]:
    """Return the files of the folder and its subfolders, by name."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return iter(sorted(found, key=lambda path: path.relative_to(folder).as_posix()))
