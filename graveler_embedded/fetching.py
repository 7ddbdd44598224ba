"""Fetches pinned files of Maven Central into the cache: at the first start, or by `make jars`.

Theory of operation. A file is written as `<name>.partial`. It gets its name when its size and its
SHA-256 are right. The next attempt continues a partial file, also that of a killed process. A lock
admits one process at a time. The next process finds the files that the first one fetched.
"""

import fcntl
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import IO
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from graveler_embedded.jars import SERVED, Jar, cache_folder, missing
from graveler_embedded.processes import StartError

CENTRAL = "https://repo1.maven.org/maven2"

AT_ONCE = 4
TIMEOUT_S = 30.0
# Attempts without progress, before the fetch fails. The wait between them doubles.
ATTEMPTS = 4
WAIT_S = 0.5

_BLOCK_BYTES = 256 * 1024
_SHOWN_EVERY_S = 0.2
_LATER = frozenset({408, 416, 429, 500, 502, 503, 504})


class _NetworkError(Exception):
    """An attempt failed; another one may succeed."""


def fetch(folders: Iterable[str], say: Callable[[str], None]) -> None:
    """Fetch the files of these folders that are not in the cache.

    Raises:
        StartError: a file cannot be fetched or stored.
    """
    wanted = tuple(folders)
    try:
        if not missing(wanted):
            return
        with _lock(say):
            if left := missing(wanted):
                _Fetch(sorted(left, key=lambda jar: -jar.size_bytes)).run(say)
    except OSError as error:
        raise StartError(
            f"cannot write to {cache_folder()}: {error.strerror}: free some space, or set "
            "GRAVELER_JARS to another folder"
        ) from error


@contextmanager
def _lock(say: Callable[[str], None]) -> Iterator[None]:
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"Waiting for another process, which fetches into {folder}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


class _Fetch:
    """One fetch of several files, a few at a time."""

    def __init__(self, jars: Sequence[Jar]) -> None:
        self._jars = jars
        self._waiting = iter(jars)
        self._source = (os.environ.get("GRAVELER_MAVEN_URL") or CENTRAL).rstrip("/")
        self._stopping = Event()
        self._ended: SimpleQueue[Exception | None] = SimpleQueue()

    def run(self, say: Callable[[str], None]) -> None:
        """Fetch all files, and show the progress.

        Raises:
            OSError: a file cannot be stored.
            StartError: a file cannot be fetched.
        """
        total = sum(jar.size_bytes for jar in self._jars)
        say(
            f"Fetching {len(self._jars)} files ({total / 1e6:.0f} MB) from {self._source} into "
            f"{cache_folder()}, once"
        )
        # Daemons, so that Ctrl-C does not wait for an answer of the network.
        threads = [Thread(target=self._work, daemon=True) for _ in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        try:
            with _progress(total, say) as show:
                left = len(self._jars)
                while left:
                    with suppress(Empty):
                        if error := self._ended.get(timeout=_SHOWN_EVERY_S):
                            raise error
                        left -= 1
                    show(sum(_stored_bytes(jar) for jar in self._jars))
        finally:
            self._stopping.set()

    def _work(self) -> None:
        """Fetch files until none is left; report the end of each."""
        for jar in self._waiting:
            try:
                self._fetch(jar)
            except Exception as error:  # noqa: BLE001 - the main thread raises it
                self._ended.put(error)
                return
            self._ended.put(None)

    def _fetch(self, jar: Jar) -> None:
        url = f"{self._source}/{jar.maven_path}"
        partial = _partial(jar)
        partial.parent.mkdir(parents=True, exist_ok=True)
        failures = most_bytes = 0
        reason = ""
        with partial.open("a+b", buffering=0) as file:
            while not _is_whole(file, jar):
                if failures > ATTEMPTS:
                    raise StartError(_failure(url, reason))
                if failures and self._stopping.wait(WAIT_S * 2 ** (failures - 1)):
                    return
                most_bytes = max(most_bytes, _size_bytes(file))
                reason = self._receive(url, file, jar.size_bytes)
                has_progressed = most_bytes < _size_bytes(file) < jar.size_bytes
                failures = 0 if has_progressed else failures + 1
            os.fsync(file.fileno())
        partial.replace(jar.path)

    def _receive(self, url: str, file: IO[bytes], size_bytes: int) -> str:
        """Append what an answer adds to the file; return the reason if the file is not whole then.

        Raises:
            StartError: no later attempt can succeed.
        """
        held_bytes = _size_bytes(file)
        headers = {"Range": f"bytes={held_bytes}-"} if held_bytes else {}
        try:
            with _network(url):
                answer = urlopen(Request(url, headers=headers), timeout=TIMEOUT_S)  # noqa: S310 - the user's mirror
            with answer:
                if answer.status != 206:  # all bytes, from the start
                    file.truncate(0)
                while _size_bytes(file) <= size_bytes and not self._stopping.is_set():
                    with _network(url):
                        block = answer.read1(_BLOCK_BYTES)
                    if not block:
                        break
                    file.write(block)
        except _NetworkError as error:
            return str(error)
        return "the answer has other bytes than the file of the list"


@contextmanager
def _network(url: str) -> Iterator[None]:
    try:
        yield
    except HTTPError as error:
        with error:
            if error.code in _LATER:
                raise _NetworkError(f"HTTP {error.code}") from error
            raise StartError(_failure(url, f"HTTP {error.code}")) from error
    except (OSError, HTTPException, ValueError) as error:
        cause = getattr(error, "reason", error)
        raise _NetworkError(getattr(cause, "strerror", None) or str(cause)) from error


def _failure(url: str, reason: str) -> str:
    return (
        f"cannot fetch {url}: {reason}: try again with a network, or set GRAVELER_MAVEN_URL to a "
        "mirror of Maven Central, or GRAVELER_JARS to a filled folder"
    )


def _partial(jar: Jar) -> Path:
    return jar.path.with_name(jar.path.name + ".partial")


def _size_bytes(file: IO[bytes]) -> int:
    return os.fstat(file.fileno()).st_size


def _stored_bytes(jar: Jar) -> int:
    for path in (jar.path, _partial(jar)):
        with suppress(FileNotFoundError):
            return path.stat().st_size
    return 0


def _is_whole(file: IO[bytes], jar: Jar) -> bool:
    """Whether the file has the bytes of the list. One that has as many others becomes empty."""
    if _size_bytes(file) < jar.size_bytes:
        return False
    file.seek(0)
    if jar.has_bytes_of(file):
        return True
    file.truncate(0)
    return False


@contextmanager
def _progress(total: int, say: Callable[[str], None]) -> Iterator[Callable[[int], None]]:
    """Yield a function that shows how many bytes are there: a bar, or lines without a terminal."""
    if not sys.stderr.isatty():
        shown = 0

        def show_line(stored: int) -> None:
            nonlocal shown
            if stored * 10 // total > shown:
                shown = stored * 10 // total
                say(f"  {shown * 10} %")

        yield show_line
        return
    # Imported late, because only a first start needs it.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn  # noqa: PLC0415

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=total)
        yield lambda stored: bar.update(task, completed=stored)


if __name__ == "__main__":
    try:
        fetch(sys.argv[1:] or SERVED, lambda text: print(text, flush=True))
    except StartError as failed:
        sys.exit(f"error: {failed}")
