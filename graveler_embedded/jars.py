"""The files of Maven Central that the stack needs, by the list jars.txt, in a cache of the user.

A file is in the cache under its own name only after its bytes matched the list.
"""

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from graveler_embedded.files import home
from graveler_embedded.processes import StartError

# What `graveler serve` needs; the others are for the tests.
SERVED = ("dynamodb", "s3proxy", "spark")

LIST = Path(__file__).with_name("jars.txt")


@dataclass(frozen=True, slots=True)
class Jar:
    """A file of Maven Central, and the folder of the cache that holds it."""

    sha256: str
    size_bytes: int
    folder: str
    maven_path: str

    @property
    def path(self) -> Path:
        return cache_folder() / self.folder / self.maven_path.rpartition("/")[2]

    @property
    def is_cached(self) -> bool:
        return self.path.is_file() and self.path.stat().st_size == self.size_bytes

    def has_bytes_of(self, file: IO[bytes]) -> bool:
        """Whether a file, read from its start, has the bytes of the list."""
        return hashlib.file_digest(file, "sha256").hexdigest() == self.sha256  # type: ignore[arg-type]


@cache
def pinned() -> tuple[Jar, ...]:
    """Return all files of the list."""
    lines = (line.split() for line in LIST.read_text().splitlines() if line[:1] != "#")
    return tuple(Jar(sha256, int(size), *rest) for sha256, size, *rest in lines)


def cache_folder() -> Path:
    """Return the cache: GRAVELER_JARS, else the user's cache of Graveler.

    Raises:
        StartError: the user has no home, or Java cannot read the folder.
    """
    folder = Path(os.environ.get("GRAVELER_JARS") or _user_caches() / "graveler").absolute()
    if os.pathsep in str(folder):  # which ends a name of Java's class path
        raise StartError(f"GRAVELER_JARS: {folder} has a {os.pathsep!r}: use another folder")
    return folder


def _user_caches() -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification: a relative path is invalid.
    return folder if folder.is_absolute() else home("GRAVELER_JARS") / ".cache"


def missing(folders: Iterable[str]) -> list[Jar]:
    """Return the files of these folders that are still to be fetched."""
    wanted = set(folders)
    return [jar for jar in pinned() if jar.folder in wanted and not jar.is_cached]


def drop_damaged(folders: Iterable[str]) -> list[Path]:
    """Delete the files of these folders whose bytes changed in the cache; return their paths."""
    wanted, damaged = set(folders), []
    for jar in pinned():
        if jar.folder in wanted and jar.is_cached:
            with jar.path.open("rb") as file:
                if not jar.has_bytes_of(file):
                    jar.path.unlink()
                    damaged.append(jar.path)
    return damaged


def paths(folder: str) -> list[Path]:
    """Return the files of the folder.

    Raises:
        StartError: one was not fetched yet.
    """
    if left := missing([folder]):
        raise StartError(
            f"{left[0].path} is missing: run `python -m graveler_embedded.fetching {folder}`"
        )
    return [jar.path for jar in pinned() if jar.folder == folder]
