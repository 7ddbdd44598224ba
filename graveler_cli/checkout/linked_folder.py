"""Adds files to a linked folder and removes them: never outside of it, nor over a fresh change."""

import os
import shutil
import stat
from hashlib import sha256
from pathlib import Path

from graveler_cli.checkout.index import INDEX_NAME
from graveler_cli.checkout.walk import PARTIAL_NAME
from graveler_cli.errors import CommandError

try:
    import fcntl
except ImportError:  # without it, on Windows, two processes can change a folder at once
    fcntl = None  # type: ignore[assignment]


class LinkedFolder:
    """A linked folder that is being changed."""

    def __init__(self, root: Path, *, keeps_folders: bool) -> None:
        """Prepare changes.

        Args:
            root: the folder, which has an index.
            keeps_folders: whether emptied folders stay.
        """
        self.root = root
        self._keeps_folders = keeps_folders
        self._partial = root / PARTIAL_NAME
        self._since_ns = 0
        self._descriptor: int | None = None

    def begin(self) -> None:
        """Lock the folder, and keep whatever others change in it from now on.

        Raises:
            CommandError: the folder cannot be written, or another process changes it.
        """
        index = self.root / INDEX_NAME
        try:
            self._lock()
            # Later changes are recognized by the clock of the file system.
            os.utime(index)
            self._since_ns = index.stat().st_ctime_ns
        except OSError as error:
            raise _failed(error) from error

    def partial(self, path: str, checksum: str) -> Path:
        """Return where the content for a path is to be stored until it is complete.

        A later run gets the same file for the same content, so that it can continue.
        """
        try:
            self._partial.mkdir(exist_ok=True)
        except OSError as error:
            raise _failed(error) from error
        return self._partial / sha256(f"{path}\0{checksum}".encode()).hexdigest()

    def place(self, partial: Path, path: str) -> None:
        """Move a complete file to its path.

        Raises:
            CommandError: the file at the path changed meanwhile, or another thing is in the way.
        """
        target = self._at(path, make=True)
        try:
            self._require_unchanged(target)
            if target.is_dir() and not target.is_symlink():
                _remove_empty(target)
            partial.replace(target)
        except OSError as error:
            raise _failed(error) from error

    def link(self, path: str, to: str) -> None:
        """Make a link; as `place`."""
        partial = self.partial(path, to)
        try:
            partial.unlink(missing_ok=True)
            partial.symlink_to(to)
        except OSError as error:
            raise _failed(error) from error
        self.place(partial, path)

    def make(self, path: str) -> None:
        """Make a folder; as `place`."""
        target = self._at(path, make=True)
        try:
            target.mkdir(exist_ok=True)
        except OSError as error:
            raise _failed(error) from error

    def remove(self, path: str) -> None:
        """Remove a file, and the folders that become empty; it need not exist.

        Raises:
            CommandError: the file changed meanwhile, or cannot be removed.
        """
        target = self._at(path, make=False)
        try:
            if path.endswith("/"):
                if not os.listdir(target):  # noqa: PTH208 - a folder with files stays
                    target.rmdir()
                return
            if stat.S_ISDIR(target.lstat().st_mode):
                return  # the user replaced the file by a folder
            self._require_unchanged(target)
            target.unlink(missing_ok=True)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise _failed(error) from error
        if not self._keeps_folders:
            self._prune(target.parent)

    def clear_partial(self) -> None:
        """Remove the incomplete files."""
        shutil.rmtree(self._partial, ignore_errors=True)

    def _at(self, path: str, *, make: bool) -> Path:
        """Return the file of a path; make the folders above it.

        Raises:
            CommandError: a link is above it, which may lead out of the folder, or a file.
        """
        current = self.root
        *folders, name = path.removesuffix("/").split("/")
        for each in folders:
            current /= each
            try:
                mode = current.lstat().st_mode
            except FileNotFoundError:
                if not make:
                    break
                mode = _made(current)
            except OSError as error:
                raise _failed(error) from error
            if not stat.S_ISDIR(mode):
                kind = "a link" if stat.S_ISLNK(mode) else "not a folder"
                raise CommandError(f"cannot change {path!r}: {current} is {kind}: move it away")
        return self.root.joinpath(*folders, name)

    def _lock(self) -> None:
        """Keep other processes from changing the folder until this one ends."""
        if fcntl is None:
            return
        self._descriptor = os.open(self.root, os.O_RDONLY)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CommandError(
                f"another process changes {self.root}: wait until it ends"
            ) from error
        except OSError:
            pass  # the file system has no locks

    def __del__(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)

    def _require_unchanged(self, target: Path) -> None:
        try:
            found = target.lstat()
        except FileNotFoundError:
            return
        if not stat.S_ISDIR(found.st_mode) and found.st_ctime_ns > self._since_ns:
            raise CommandError(
                f"{target} was changed meanwhile, or the file system takes it for another name "
                "that differs by case only: it stays as it is"
            )

    def _prune(self, folder: Path) -> None:
        while folder != self.root:
            try:
                folder.rmdir()
            except OSError:
                return  # it is not empty
            folder = folder.parent


def _made(folder: Path) -> int:
    """Make a folder unless another thread made something there; return the mode."""
    try:
        folder.mkdir(exist_ok=True)
        return folder.lstat().st_mode
    except OSError as error:
        raise _failed(error) from error


def _remove_empty(folder: Path) -> None:
    """Remove a folder that has no files.

    Raises:
        OSError: it has files.
    """
    for name, _, _ in os.walk(folder, topdown=False):
        os.rmdir(name)  # noqa: PTH106


def _failed(error: OSError) -> CommandError:
    return CommandError(f"cannot change {error.filename}: {error.strerror}")
