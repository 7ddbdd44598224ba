"""Folders: walks in the order of listings, and names of objects that become names of files."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from graveler_cli.errors import CommandError

# Names that lakectl leaves out of every walk.
IGNORED = frozenset({".lakefs_ref.yaml", ".DS_Store"})

PARTIAL_SUFFIX = ".graveler-part"
JOURNAL_SUFFIX = ".graveler-parts"

# The number of folders whose checks are cached.
_FOLDERS_MAX = 1000


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file of a walk: its name relative to the root, with slashes, and its state."""

    name: str
    path: Path
    state: os.stat_result

    @property
    def key(self) -> bytes:
        """The key by which listings are ordered."""
        return os.fsencode(self.name)

    @property
    def is_link(self) -> bool:
        """Whether this is a symbolic link."""
        return stat.S_ISLNK(self.state.st_mode)


@dataclass(frozen=True, slots=True)
class Links:
    """lakectl's settings for files that are not regular."""

    are_skipped: bool = False  # local.skip_non_regular_files
    are_stored: bool = False  # local.symlink_support


def walk(root: Path, links: Links, *, has_folders: bool = False) -> Iterator[LocalFile]:
    """Yield the files below a folder in the order of a listing, one folder in memory at a time.

    Args:
        root: the folder.
        links: the settings for files that are not regular.
        has_folders: whether folders are yielded as well, with a slash at the end of the name.

    Raises:
        CommandError: a folder cannot be read, or holds a link, a pipe, a socket or a device.
    """
    yield from _below(root, "", links, has_folders=has_folders)


def _below(folder: Path, prefix: str, links: Links, *, has_folders: bool) -> Iterator[LocalFile]:
    try:
        with os.scandir(folder) as entries:
            found = sorted(
                (os.fsencode(each.name) + b"/" * each.is_dir(follow_symlinks=False), each.name)
                for each in entries
                if each.name not in IGNORED and not is_partial(each.name)
            )
    except OSError as error:
        raise CommandError(f"cannot read {folder}: {_reason(error)}") from error
    for key, name in found:
        path = folder / name
        state = _state(path)
        if state is None:
            continue  # deleted since the folder was read
        if key.endswith(b"/"):
            inner = f"{prefix}{name}/"
            if has_folders:
                yield LocalFile(inner, path, state)
            yield from _below(path, inner, links, has_folders=has_folders)
        elif stat.S_ISREG(state.st_mode) or (links.are_stored and stat.S_ISLNK(state.st_mode)):
            yield LocalFile(prefix + name, path, state)
        elif not links.are_skipped:
            raise CommandError(
                f"{path} is not a regular file: set local.skip_non_regular_files, or "
                "local.symlink_support for links, to true in the configuration"
            )


def is_left_out(name: str) -> bool:
    """Whether walks leave out a name, which is relative to the root."""
    return any(part in IGNORED or is_partial(part) for part in name.split("/"))


def is_partial(name: str) -> bool:
    """Whether a file belongs to an interrupted download."""
    return name.startswith(".") and name.endswith((PARTIAL_SUFFIX, JOURNAL_SUFFIX))


def _state(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CommandError(f"cannot read {path}: {_reason(error)}") from error


class Shadows:
    """The files of a listing so far, each of which hides the objects below its name."""

    def __init__(self) -> None:
        self._files: list[str] = []  # which later names may have as a folder

    def hide(self, name: str) -> bool:
        """Return whether an earlier object is a file where the next one's folder would be.

        Names are given in the order of the listing, and may repeat.
        """
        self._files = [each for each in self._files if each <= name < f"{each}0"]  # after the slash
        if any(name.startswith(f"{each}/") for each in self._files):
            return True
        if not name.endswith("/"):
            self._files.append(name)
        return False


class TargetFolder:
    """A folder to download into; nothing is ever stored outside of it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.shadows = Shadows()
        self._checked: set[Path] = set()
        self._made: set[Path] = set()

    def target(self, name: str) -> Path:
        """Return the file for an object's name relative to the folder, in the order of a listing.

        Raises:
            CommandError: no file of that name can be in the folder.
        """
        if self.shadows.hide(name):
            raise CommandError(
                "another object is a file where its folder would be: download it alone"
            )
        parts = name.split("/")
        if any(part in {"", ".", ".."} for part in parts) or "\0" in name:
            raise CommandError(f"{name!r} cannot be the name of a file below {self.root}")
        if any(is_partial(part) for part in parts):
            raise CommandError(f"{name!r} is the name of an unfinished download: rename the object")
        if os.sep != "/" and any(os.sep in part or ":" in part for part in parts):
            raise CommandError(f"{name!r} cannot be the name of a file below {self.root}")
        folder = self.root.joinpath(*parts[:-1])
        if folder not in self._checked:
            self._check(folder)
        return folder / parts[-1]

    def make_for(self, target: Path) -> None:
        """Make the folders above a target, and check that none is a link.

        None becomes a link later: other threads of the run make links only where nothing is yet.

        Raises:
            CommandError: a link or a file is among them.
            OSError: they cannot be made.
        """
        folder = target.parent
        if folder in self._made:
            return
        self.root.mkdir(parents=True, exist_ok=True)
        current = self.root
        for part in folder.relative_to(self.root).parts:
            current /= part
            with suppress(FileExistsError):
                current.mkdir()
            if not stat.S_ISDIR(current.lstat().st_mode):
                kind = "symbolic link" if current.is_symlink() else "file"
                raise CommandError(f"{current} is a {kind}, not a folder: move it away")
        if len(self._made) > _FOLDERS_MAX:
            self._made.clear()
        self._made.add(folder)

    def _check(self, folder: Path) -> None:
        """Refuse links on the path: they may lead out of the folder."""
        for each in (folder, *folder.parents):
            if each == self.root:
                break
            if each.is_symlink():
                raise CommandError(f"{each} is a symbolic link: it may lead out of {self.root}")
        # A listing visits one folder after another: a small cache is enough.
        if len(self._checked) > _FOLDERS_MAX:
            self._checked.clear()
        self._checked.add(folder)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
