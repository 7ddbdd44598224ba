"""Child processes that never outlive the process that started them."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from local.ports import is_listening

# linux/prctl.h. The signal is sent when the parent *thread* ends: start children from the main one.
_PR_SET_PDEATHSIG = 1

STOP_TIMEOUT_S = 5.0


class StartError(Exception):
    """The stack cannot start; the message is one line that names the remedy."""


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
                env=None if environment is None else dict(environment),
                start_new_session=True,
                preexec_fn=lambda: die_with_parent(parent_pid),  # noqa: PLW1509 - starts no thread
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code; None while the process runs."""
        return self._process.poll()

    def stop(self, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Ask the process to end, kill it when it does not; returns once it has ended."""
        self._process.terminate()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End the process at once, with no chance to clean up."""
        self._process.kill()
        self._process.wait()

    def check_alive(self) -> None:
        """Pass while the process runs.

        Raises:
            StartError: it ended; the message quotes the end of its log.
        """
        if self.exit_code is not None:
            last_lines = self.log.read_text(errors="replace").strip().splitlines()[-3:]
            raise StartError(
                f"{self.name} ended with exit code {self.exit_code}: "
                f"{' | '.join(last_lines)} (all of it: {self.log})"
            )


def wait_until_listening(child: Child, port: int, timeout_s: float = 30.0) -> None:
    """Return when something accepts connections on 127.0.0.1:port.

    Raises:
        StartError: the child ended, or the time is over.
    """
    deadline = time.monotonic() + timeout_s
    while not is_listening(port):
        child.check_alive()
        if time.monotonic() > deadline:
            raise StartError(
                f"{child.name} does not listen on port {port} after {timeout_s:.0f} s; "
                f"see {child.log}"
            )
        time.sleep(0.02)
