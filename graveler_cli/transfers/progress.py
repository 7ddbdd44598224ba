"""The progress of transfers, on a terminal on standard error: rate and time left."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread

_REFRESH_S = 0.5
_NARROW_COLUMNS = 70


class TransferProgress:
    """Counts of known and of finished work; any thread may add to the latter."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.known_bytes = 0
        self.done_bytes = 0
        self.known_jobs = 0
        self.done_jobs = 0
        self.is_all_known = False

    def expect(self, size_bytes: int) -> None:
        """Count a job that will be done."""
        self.known_jobs += 1
        self.known_bytes += size_bytes

    def advance(self, size_bytes: int) -> None:
        """Count bytes that were sent or received."""
        with self._lock:
            self.done_bytes += size_bytes

    def finish_one(self) -> None:
        """Count a job that is done."""
        with self._lock:
            self.done_jobs += 1

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Draw the counts while the block runs, if standard error is a terminal."""
        if not sys.stderr.isatty():
            yield
            return
        # Imported late, because only terminals need it.
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import (  # noqa: PLC0415
            BarColumn,
            DownloadColumn,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )
        from rich.progress import Progress as Bar  # noqa: PLC0415

        console = Console(stderr=True)
        # A narrow terminal shows the counts alone: the rates would need a second line.
        rates = (DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(None if console.width < _NARROW_COLUMNS else 40),
            *(() if console.width < _NARROW_COLUMNS else rates),
            console=console,
            transient=True,
            auto_refresh=False,
        )
        task = bar.add_task("", total=None)
        is_over = Event()

        def draw() -> None:
            while not is_over.wait(_REFRESH_S):
                more = "" if self.is_all_known else "+"
                bar.update(
                    task,
                    description=f"{self.done_jobs:,} of {self.known_jobs:,}{more}",
                    completed=self.done_bytes,
                    total=self.known_bytes if self.is_all_known else None,
                )
                bar.refresh()

        with bar:
            thread = Thread(target=draw, daemon=True)
            thread.start()
            try:
                yield
            finally:
                is_over.set()
                thread.join()
