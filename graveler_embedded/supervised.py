"""Processes of the stack that are started again when they end.

Theory of operation. A supervised process is ready, starting, or waiting for its next start. `watch`
advances this state and never blocks, so one process may wait for another. After a long run, the
process is started again at once; each end soon after a start doubles the delay. A start counts as
failed if the process ended before it was ready, or was not ready in time. Only consecutive failed
starts end the stack.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from graveler_embedded.files import bound_log
from graveler_embedded.processes import START_TIMEOUT_S, StartError

DELAY_FIRST_S = 0.5
DELAY_MAX_S = 8.0
# A process that was ready for this long is started again at once.
STABLE_S = 30.0
FAILED_STARTS_MAX = 8

Say = Callable[[str], None]


class Process(Protocol):
    """The interface of `graveler_embedded.processes.Child`."""

    @property
    def name(self) -> str: ...

    @property
    def log(self) -> Path: ...

    def check_alive(self) -> None: ...

    def wait_until(self, is_ready: Callable[[], bool]) -> None: ...

    def stop(self) -> int: ...

    def kill(self) -> None: ...


class Supervised:
    """One process, started again with a growing delay whenever it ends."""

    def __init__(
        self,
        start: Callable[[], Process],
        is_ready: Callable[[], bool],
        say: Say,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._start = start
        self._is_ready = is_ready
        self._say = say
        self._now_s = now_s
        self._process: Process | None = start()
        self._is_known_ready = False
        self._since_s = now_s()  # of the start, then of the readiness, then of the end
        self._delay_s = 0.0
        self._failed_starts = 0

    def wait_until_ready(self) -> None:
        """Return when the process is ready for the first time.

        Raises:
            StartError: the process ended, or was not ready in time.
        """
        if self._process is not None:
            self._process.wait_until(self._is_ready)
            self._become_ready()

    def watch(self) -> None:
        """Start the process again if it ended and its delay is over; bound its log.

        Raises:
            StartError: too many starts in a row failed.
        """
        process = self._process
        if process is None:
            if self._now_s() - self._since_s >= self._delay_s:
                self._process = self._start()
                self._since_s = self._now_s()
            return
        bound_log(process.log)
        try:
            process.check_alive()
            if not self._is_known_ready:
                self._check_start(process)
        except StartError as error:
            self._plan_start(str(error))

    def stop(self) -> None:
        """Stop the process if it runs."""
        if self._process is not None:
            self._process.stop()

    def _check_start(self, process: Process) -> None:
        if self._is_ready():
            self._say(f"{process.name} is ready again")
            self._become_ready()
        elif self._now_s() - self._since_s > START_TIMEOUT_S:
            process.kill()
            raise StartError(f"{process.name} was not ready in time: see {process.log}")

    def _become_ready(self) -> None:
        self._is_known_ready = True
        self._failed_starts = 0
        self._since_s = self._now_s()

    def _plan_start(self, reason: str) -> None:
        """Set the delay until the next start.

        Raises:
            StartError: too many starts in a row failed.
        """
        now_s = self._now_s()
        if self._is_known_ready and now_s - self._since_s >= STABLE_S:
            self._delay_s = 0.0
        else:
            self._delay_s = min(max(DELAY_FIRST_S, 2 * self._delay_s), DELAY_MAX_S)
        if not self._is_known_ready:
            self._failed_starts += 1
        if self._failed_starts >= FAILED_STARTS_MAX:
            raise StartError(f"{reason}; {self._failed_starts} starts in a row failed")
        self._say(f"{reason}; next start in {self._delay_s:g} s")
        self._process, self._is_known_ready, self._since_s = None, False, now_s
