"""Functions that run step by step: each stops after every call of a store until the next step.

Only one runs at a time, so every interleaving is repeatable. A stopped function can be killed: it
then does nothing more, not even its cleanup.
"""

import threading
from collections.abc import Callable
from typing import Any

from tests.support.faults.faults import Crash

# Reading files that never change is nothing that others could notice.
_UNNOTICED = ("files.", "staging.")


class SteppedRunner:
    """A function in a thread of its own, which runs only while `step` waits for it."""

    def __init__(self, name: str, work: Callable[["SteppedRunner"], None]) -> None:
        self.name = name
        self.is_done = False
        self.is_killed = False
        self.error: BaseException | None = None
        self._work = work
        self._go = threading.Semaphore(0)
        self._stopped = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._go.acquire()
        try:
            if not self.is_killed:
                self._work(self)
        except Crash:
            pass
        except BaseException as error:  # noqa: BLE001 - told to whoever steps
            self.error = error
        self.is_done = True
        self._stopped.release()

    def __call__(self, name: str, call: Callable[[], Any]) -> Any:
        """Make a call of a store, then stop; for `tests.support.faults.counting.engine_around`."""
        if self.is_killed:
            raise Crash(name)
        try:
            return call()
        finally:
            if not name.startswith(_UNNOTICED):
                self._stopped.release()
                self._go.acquire()
                if self.is_killed:
                    raise Crash(name)

    def step(self, count: int = 1) -> None:
        """Run until it has made that many calls."""
        for _ in range(count):
            if self.is_done:
                return
            self._go.release()
            self._stopped.acquire()

    def finish(self, steps_max: int = 100_000) -> None:
        """Run to the end."""
        self.step(steps_max)
        assert self.is_done, f"{self.name} never comes to its end"

    def kill(self) -> None:
        """Kill it at its current call."""
        self.is_killed = True
        self.step()
        self._thread.join()
