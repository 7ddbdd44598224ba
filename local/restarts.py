"""Processes of the stack that are started again when they end.

A process that was ready may be killed at any time: it is started again, after a pause that doubles
from one end to the next, and begins anew when the process has run for a while. A process that ends
several times before it is ready cannot start, and then the stack ends.
"""

import time
from collections.abc import Callable
from pathlib import Path

from local.processes import START_TIMEOUT_S, Child, StartError

FIRST_PAUSE_S = 0.5
PAUSE_S_MAX = 10.0
# A process that has run for so long counts as sound.
STEADY_S = 60.0
FAILED_STARTS_MAX = 3

Say = Callable[[str], None]


class Restarted:
    """A process that `watch` starts again when it has ended; call it from the main thread."""

    def __init__(self, start: Callable[[], Child], is_ready: Callable[[], bool], say: Say) -> None:
        """Start the process for the first time; return when it is ready.

        Raises:
            StartError: it ended, or was not ready in time.
        """
        self._start = start
        self._is_ready = is_ready
        self._say = say
        self._child = start()
        self._started_s = time.monotonic()
        self._was_ready = False
        self._pause_s = FIRST_PAUSE_S
        self._failed_starts = 0
        self._due_s: float | None = None  # when to start it again, None while it runs
        try:
            self._child.wait_until(is_ready)
        except BaseException:
            self._child.stop()
            raise
        self._was_ready = True

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def log(self) -> Path:
        return self._child.log

    def stop(self) -> None:
        """Stop the process."""
        self._child.stop()

    def watch(self) -> None:
        """Start the process again if it has ended and its pause is over.

        Raises:
            StartError: it ended several times before it was ready.
        """
        now_s = time.monotonic()
        if self._due_s is not None:
            if now_s >= self._due_s:
                self._child, self._started_s = self._start(), now_s
                self._was_ready, self._due_s = False, None
            return
        try:
            self._child.check_alive()
        except StartError as error:
            self._note_end(error, now_s)
            return
        if not self._was_ready:
            self._was_ready = self._is_ready()
            if not self._was_ready and now_s - self._started_s > START_TIMEOUT_S:
                self._child.kill()  # the next look finds that it has ended
        elif now_s - self._started_s > STEADY_S:
            self._pause_s, self._failed_starts = FIRST_PAUSE_S, 0

    def _note_end(self, error: StartError, now_s: float) -> None:
        self._failed_starts = 0 if self._was_ready else self._failed_starts + 1
        if self._failed_starts >= FAILED_STARTS_MAX:
            raise StartError(f"{self._child.name} cannot start: {error}") from error
        self._say(f"{error}: it starts again in {self._pause_s:g} s")
        self._due_s = now_s + self._pause_s
        self._pause_s = min(2 * self._pause_s, PAUSE_S_MAX)
