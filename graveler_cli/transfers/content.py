"""The content of an upload: a file that must not change meanwhile, or bytes."""

import os
import stat
import threading
from collections.abc import Iterator
from hashlib import md5
from pathlib import Path
from typing import Self

from graveler_cli.errors import CommandError

BLOCK_BYTES = 1024 * 1024

_local = threading.local()


def stored_blocks(descriptor: int, first: int, size_bytes: int) -> Iterator[memoryview]:
    """Yield a range of a file in blocks, less at the file's end.

    A block is valid until this thread reads the next one.
    """
    try:
        buffer = _local.buffer
    except AttributeError:
        buffer = _local.buffer = memoryview(bytearray(BLOCK_BYTES))
    done = 0
    while done < size_bytes:
        block = buffer[: min(BLOCK_BYTES, size_bytes - done)]
        read = os.preadv(descriptor, [block], first + done)
        if not read:
            return
        yield block[:read]
        done += read


class LocalContent:
    """Reads ranges of a file, or of bytes."""

    def __init__(self, source: Path | bytes) -> None:
        """Open a file.

        Raises:
            CommandError: it cannot be read.
        """
        self._source = source
        self._descriptor = -1
        self._state: tuple[int, ...] = ()
        self._ctime_ns = 0
        if isinstance(source, bytes):
            self.size_bytes = len(source)
            return
        try:
            # Without O_NONBLOCK, opening a pipe waits for a writer.
            self._descriptor = os.open(source, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
            found = os.fstat(self._descriptor)
        except OSError as error:
            self.close()
            raise CommandError(f"cannot read {source}: {_reason(error)}") from error
        if not stat.S_ISREG(found.st_mode):
            self.close()
            raise CommandError(f"{source} is not a regular file: give it as standard input")
        self._state = (found.st_size, found.st_mtime_ns, found.st_ino)
        self._ctime_ns = found.st_ctime_ns
        self.size_bytes = found.st_size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    @property
    def identity(self) -> dict[str, str]:
        """The facts by which a changed file is recognized."""
        size_bytes, mtime_ns, inode = self._state
        return {
            "size_bytes": str(size_bytes),
            "mtime_ns": str(mtime_ns),
            # After a change in place, programs can reset mtime_ns, but not this time.
            "ctime_ns": str(self._ctime_ns),
            "inode": str(inode),
        }

    def whole(self) -> bytes:
        """Return the whole content.

        Raises:
            CommandError: the file changed, or cannot be read.
        """
        if isinstance(self._source, bytes):
            return self._source
        try:
            found = os.pread(self._descriptor, self.size_bytes + 1, 0)
        except OSError as error:
            raise CommandError(f"cannot read {self._source}: {_reason(error)}") from error
        if len(found) != self.size_bytes:
            raise self._changed()
        self.check()
        return found

    def blocks(self, first: int, size_bytes: int) -> Iterator[memoryview]:
        """Yield a range in blocks; each is valid until the next one is read.

        Raises:
            CommandError: the file became shorter, or cannot be read.
        """
        if isinstance(self._source, bytes):
            yield memoryview(self._source)[first : first + size_bytes]
            return
        left = size_bytes
        try:
            for block in stored_blocks(self._descriptor, first, size_bytes):
                left -= len(block)
                yield block
        except OSError as error:
            raise CommandError(f"cannot read {self._source}: {_reason(error)}") from error
        if left:
            raise self._changed()

    def md5(self, first: int, size_bytes: int) -> bytes:
        """Return the checksum of a range; raises as `blocks`."""
        digest = md5(usedforsecurity=False)
        for block in self.blocks(first, size_bytes):
            digest.update(block)
        return digest.digest()

    def check(self) -> None:
        """Check that the file has not changed since it was opened.

        Raises:
            CommandError: it has changed.
        """
        if self._state:
            found = os.fstat(self._descriptor)
            if (found.st_size, found.st_mtime_ns, found.st_ino) != self._state:
                raise self._changed()

    def _changed(self) -> CommandError:
        return CommandError(f"{self._source!s} changed while it was read: upload it again")


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
