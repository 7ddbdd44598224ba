"""Child processes that never outlive the process that started them."""

import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

# linux/prctl.h. The signal comes when the parent *thread* ends: start children from the main one.
_PR_SET_PDEATHSIG = 1

# A busy machine may need minutes for a start that usually takes seconds.
START_TIMEOUT_S = 300.0
STOP_TIMEOUT_S = 5.0
_POLL_INTERVAL_S = 0.02


class StartError(Exception):
    """The stack cannot run; the message is one line and says what to do."""


def die_with_parent(parent_pid: int) -> None:
    """Have the kernel kill this process when its parent ends for any reason.

    On Linux only. Elsewhere, this process survives a killed parent.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:  # the parent ended before the call above
        os._exit(1)


def parent_pid() -> int:
    """Return the ID of the process that started this one, even if it has ended since.

    A server's worker needs it: after that end, `os.getppid` returns the ID of another process.
    """
    parent = multiprocessing.parent_process()
    return os.getppid() if parent is None or parent.pid is None else parent.pid


class Child:
    """One process of the stack, with its output in a log file."""

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
            # In a session of its own, the child does not get the terminal's Ctrl-C; we stop it.
            self._process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=folder or log.parent,  # the user's folder may be deleted: no Java starts there
                start_new_session=True,
                preexec_fn=lambda: die_with_parent(parent_pid),  # noqa: PLW1509 - starts no thread
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def stop(
        self, number: signal.Signals = signal.SIGTERM, timeout_s: float = STOP_TIMEOUT_S
    ) -> int:
        """Ask the process to end, and kill it after the timeout; return its exit code."""
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
        """Check that the process runs.

        Raises:
            StartError: the process ended.
        """
        exit_code = self._process.poll()
        if exit_code is not None:
            raise StartError(f"{self.name} ended with exit code {exit_code}: {self._last_line()}")

    def wait_until_done(self) -> None:
        """Return when the process has succeeded.

        Raises:
            StartError: the process failed, or did not end in time.
        """
        try:
            if self._process.wait(START_TIMEOUT_S) != 0:
                raise StartError(self._last_line())
        except subprocess.TimeoutExpired as error:
            self.kill()
            raise StartError(f"{self.name} did not end in time: see {self.log}") from error

    def wait_until(self, is_ready: Callable[[], bool]) -> None:
        """Return when the process is ready.

        Raises:
            StartError: the process ended, or was not ready in time.
        """
        deadline = time.monotonic() + START_TIMEOUT_S
        while not is_ready():
            self.check_alive()
            if time.monotonic() > deadline:
                raise StartError(f"{self.name} was not ready in time: see {self.log}")
            time.sleep(_POLL_INTERVAL_S)

    def _last_line(self) -> str:
        # A user may have deleted the log.
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        lines = text.strip().splitlines() or ["no output"]
        return f"{lines[-1]} (more in {self.log})"
