"""Journals of data in parts: the stored parts, so that the next run continues.

A journal is a file of JSON lines; each stored part appends one. Lines are not flushed to the disk,
so a journal survives its process, but not a crash of the machine. Journals of downloads are not
used after a crash. Only one process at a time works with a journal.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import mkstemp
from threading import Lock

import msgspec

from graveler_cli.errors import CommandError

try:
    import fcntl
except ImportError:  # Windows has none: processes do not exclude each other there
    fcntl = None  # type: ignore[assignment]


class StoredPart(msgspec.Struct, frozen=True):
    """A part that is stored: its number, from 1, and its checksum or entity tag."""

    number: int
    tag: str


class PartsJournal:
    """The journal of one object; close it, or delete it when all is stored."""

    def __init__(self, file: Path, *, is_kept: bool = True) -> None:
        """Open a journal, or begin one.

        Args:
            file: the journal.
            is_kept: whether a next run can find it.

        Raises:
            CommandError: another process works with it, or it cannot be written.
        """
        self._file = file
        self._is_kept = is_kept
        self._lock = Lock()
        self.parts: dict[int, str] = {}
        self.about: dict[str, str] = {}
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = lock(file, os.O_APPEND)
            self._read()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise CommandError(f"cannot write {file}: {reason}") from error

    def continues(self, about: Mapping[str, str]) -> bool:
        """Whether the journal has these facts; its other facts may differ."""
        return all(self.about.get(key) == value for key, value in about.items())

    def begin(self, about: Mapping[str, str]) -> None:
        """Start the journal again, with these facts."""
        self.about = dict(about)
        self.parts = {}
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, msgspec.json.encode(self.about) + b"\n")

    def add(self, part: StoredPart) -> None:
        """Record a stored part."""
        with self._lock:
            self.parts[part.number] = part.tag
            os.write(self._descriptor, msgspec.json.encode(part) + b"\n")

    def delete(self) -> None:
        """Delete the journal: all parts are stored, or useless."""
        with suppress(OSError):
            self._file.unlink()
        os.close(self._descriptor)

    def close(self) -> None:
        """Close the journal; keep it for the next run if it has parts."""
        if not (self.parts and self._is_kept):
            with suppress(OSError):
                self._file.unlink()
        os.close(self._descriptor)

    def _read(self) -> None:
        with os.fdopen(os.dup(self._descriptor), "rb") as stream:
            stream.seek(0)
            content = stream.read()
        whole, _, half = content.rpartition(b"\n")
        if half:  # the process was killed
            os.ftruncate(self._descriptor, len(content) - len(half))
        lines = whole.split(b"\n") if whole else []
        with suppress(msgspec.DecodeError):
            if lines:
                self.about = msgspec.json.decode(lines[0], type=dict[str, str])
            for line in lines[1:]:
                part = msgspec.json.decode(line, type=StoredPart)
                self.parts[part.number] = part.tag


def lock(file: Path, flags: int = 0) -> int:
    """Return a descriptor of a file, with an exclusive lock.

    Raises:
        CommandError: another process works with it.
        OSError: it cannot be opened.
    """
    flags |= os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    while True:
        descriptor = os.open(file, flags, 0o666)
        if fcntl is None:
            return descriptor
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_ino == file.lstat().st_ino:
                return descriptor
        except BlockingIOError as error:
            os.close(descriptor)
            raise CommandError(f"another process works with {file}") from error
        except FileNotFoundError:
            pass
        os.close(descriptor)  # another process renamed or deleted it meanwhile


def boot_id() -> str:
    """Return the ID of the machine's boot: after a crash, files may have lost bytes."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def open_upload_journal(*names: str) -> PartsJournal:
    """Return an upload's journal, in the user's folder of caches.

    If the folder cannot be written, as in many containers, the next run cannot continue.
    """
    cache = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    name = sha256("\0".join(names).encode(errors="surrogateescape")).hexdigest()[:32]
    folder = Path(cache) / "graveler" / "uploads"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_writable = os.access(folder, os.W_OK)
    except OSError:
        is_writable = False
    if is_writable:
        return PartsJournal(folder / f"{name}.parts")
    handle, temporary = mkstemp(prefix="graveler-")
    os.close(handle)
    return PartsJournal(Path(temporary), is_kept=False)
