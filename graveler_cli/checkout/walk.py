"""The files of a folder, in the order of a ref's listing."""

import heapq
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import msgspec

from graveler_cli.checkout.index import INDEX_NAME, NEW_INDEX_NAME
from graveler_cli.configuration import Configuration
from graveler_cli.errors import CommandError

# Holds the incomplete files of a run; it stays if the run is killed.
PARTIAL_NAME = ".graveler.partial"
_IGNORED = frozenset({INDEX_NAME, NEW_INDEX_NAME, ".DS_Store", PARTIAL_NAME})

# Up to this many names of a folder are sorted in memory; more are sorted in files.
_RUN_LENGTH = 50_000


@dataclass(frozen=True)
class TrackingRules:
    """The settings of which files take part, and which attributes are compared."""

    skips_irregular: bool = False
    has_links: bool = False
    has_permissions: bool = False
    has_users: bool = False
    has_groups: bool = False

    @classmethod
    def of(cls, configuration: Configuration) -> "TrackingRules":
        """Return the rules of a configuration, under lakectl's names."""
        posix = "experimental.local.posix_permissions"
        return cls(
            configuration.is_on("local.skip_non_regular_files"),
            configuration.is_on("local.symlink_support"),
            configuration.is_on(f"{posix}.enabled"),
            configuration.is_on(f"{posix}.include_uid"),
            configuration.is_on(f"{posix}.include_gid"),
        )

    def include(self, path: str) -> bool:
        """Return whether an object or a file of this name takes part."""
        if path.endswith("/"):
            return self.has_permissions and path != "/"
        return not any(is_ignored(part) for part in path.split("/"))


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file, a link or, with permissions, a folder; a folder's path ends with a slash."""

    path: str
    size_bytes: int
    mtime_s: int
    mode: int
    user: int
    group: int
    ctime_ns: int  # changes with every change of the file
    link: str | None = None  # where a link points to
    fraction_ns: int = 0  # the rest of the modification time, below a second


def walk(root: Path, rules: TrackingRules) -> Iterator[FileEntry]:
    """Yield the entries of a folder, sorted by their whole path.

    Links are not followed. A file that disappears during the walk is left out.

    Raises:
        CommandError: something is neither a file nor a folder, cannot be read, or has a name that
            is not UTF-8.
    """
    with ExitStack() as files:
        stack = [("", _names(root, "", files))]
        while stack:
            folder, names = stack[-1]
            name = next(names, None)
            if name is None:
                stack.pop()
                continue
            path = folder + name
            if is_ignored(name.rstrip("/")):
                continue
            if name.endswith("/"):
                stack.append((path, _names(root, path, files)))
                if not rules.has_permissions:
                    continue
            entry = entry_of(root, path, rules)
            if entry is not None:
                yield entry


def is_ignored(name: str) -> bool:
    """Return whether a file or a folder of this name is left out, with all below it."""
    return name in _IGNORED or (name.startswith(".") and ".graveler-part" in name)


def entry_of(root: Path, path: str, rules: TrackingRules) -> FileEntry | None:
    """Return the entry at a path; None if there is none, or it does not take part.

    Raises:
        CommandError: as `walk`.
    """
    full = os.path.join(root, path.rstrip("/"))  # noqa: PTH118 - many times faster than Path
    link = None
    try:
        found = os.lstat(full)
        if stat.S_ISLNK(found.st_mode) and rules.has_links and not rules.skips_irregular:
            link = os.readlink(full)  # noqa: PTH115
        elif not (stat.S_ISREG(found.st_mode) or path.endswith("/")):
            if rules.skips_irregular:
                return None
            raise CommandError(
                f"{full}: not a regular file: set local.skip_non_regular_files to leave it out, "
                "or local.symlink_support to store links"
            )
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(error) from error
    size = 0 if link is not None or path.endswith("/") else found.st_size
    return FileEntry(
        path,
        size,
        found.st_mtime_ns // 10**9,
        found.st_mode,
        found.st_uid,
        found.st_gid,
        found.st_ctime_ns,
        link,
        found.st_mtime_ns % 10**9,
    )


def _names(root: Path, path: str, files: ExitStack) -> Iterator[str]:
    """Yield the names in a folder, sorted, those of folders with a slash."""
    names: list[str] = []
    runs: list[Iterator[str]] = []
    try:
        with os.scandir(os.path.join(root, path)) as found:  # noqa: PTH118
            for each in found:
                name = each.name
                _require_utf8(each)
                names.append(f"{name}/" if each.is_dir(follow_symlinks=False) else name)
                if len(names) == _RUN_LENGTH:
                    runs.append(_stored(sorted(names), files))
                    names = []
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unreadable(error) from error
    names.sort()
    # Texts sort like their UTF-8, as listings do.
    yield from heapq.merge(*runs, names) if runs else names


def _stored(names: list[str], files: ExitStack) -> Iterator[str]:
    file: IO[bytes] = files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
    file.writelines(msgspec.json.encode(name) + b"\n" for name in names)
    file.seek(0)
    return (msgspec.json.decode(line, type=str) for line in file)


def _require_utf8(found: os.DirEntry[str]) -> None:
    try:
        found.name.encode()
    except UnicodeEncodeError as error:
        raise CommandError(f"the name {found.path!r} is not UTF-8: rename it") from error


def _unreadable(error: OSError) -> CommandError:
    return CommandError(f"cannot read {error.filename}: {error.strerror}")
