"""Child processes that never outlive the process that started them."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

# linux/prctl.h. The signal is sent when the parent *thread* ends: start children from the main one.
_PR_SET_PDEATHSIG = 1

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 5.0
_POLL_INTERVAL_S = 0.02


class StartError(Exception):
    """The stack cannot run; the message is one line that names the remedy."""


def die_with_parent(parent_pid: int) -> None:
    """Have the kernel kill this process when its parent ends, however the parent ends.

    Linux only; elsewhere a killed parent leaves this process behind.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:  # the parent ended before the kernel knew of our wish
        os._exit(1)


class Child:
    """One process of the stack, its output in a log file."""

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        log: Path,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        self.name = name
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        parent_pid = os.getpid()
        with log.open("ab") as output:
            # A session of its own keeps the terminal's Ctrl-C away: we decide who stops when.
            self._process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=folder,
                start_new_session=True,
                preexec_fn=lambda: die_with_parent(parent_pid),  # noqa: PLW1509 - starts no thread
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(
        self, number: signal.Signals = signal.SIGTERM, timeout_s: float = STOP_TIMEOUT_S
    ) -> int:
        """Ask the process to end, kill it when it does not; its exit code."""
        self._process.send_signal(number)
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            return self._process.returncode

    def kill(self) -> None:
        """End the process at once, with no chance to clean up."""
        self._process.kill()
        self._process.wait()

    def check_alive(self) -> None:
        """Pass while the process runs.

        Raises:
            StartError: it ended.
        """
        exit_code = self._process.poll()
        if exit_code is not None:
            raise StartError(f"{self.name} ended with exit code {exit_code}: {self._last_words()}")

    def wait_until_done(self) -> None:
        """Return when the process has ended well.

        Raises:
            StartError: it failed, or the time is over.
        """
        try:
            if self._process.wait(START_TIMEOUT_S) != 0:
                raise StartError(self._last_words())
        except subprocess.TimeoutExpired as error:
            self.kill()
            raise StartError(f"{self.name} is not done in time; see {self.log}") from error

    def wait_until(self, is_ready: Callable[[], bool]) -> None:
        """Return when the process is ready.

        Raises:
            StartError: it ended, or the time is over.
        """
        deadline = time.monotonic() + START_TIMEOUT_S
        while not is_ready():
            self.check_alive()
            if time.monotonic() > deadline:
                raise StartError(f"{self.name} is not ready in time; see {self.log}")
            time.sleep(_POLL_INTERVAL_S)

    def _last_words(self) -> str:
        lines = self.log.read_text(errors="replace").strip().splitlines() or ["no output"]
        return f"{lines[-1]} (more in {self.log})"
