"""Lets commands clean up when a signal ends them."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

# Windows has no SIGHUP, which a terminal sends when it closes.
_SIGNALS = tuple(
    signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class Interruption:
    """Keeps signals, and raises them only in a block that can be interrupted."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._is_open = False
        self._is_pending = False
        self.is_cleaning = False

    @contextmanager
    def open(self) -> Iterator[None]:
        """Raise KeyboardInterrupt in the block if a signal comes, or has come before."""
        if self._is_pending:
            raise KeyboardInterrupt
        self._is_open = True
        try:
            yield
        finally:
            self._is_open = False

    def notice(self, _number: int, _frame: FrameType | None) -> None:
        """Handle a signal."""
        if self._is_open:
            # Python drops an exception in a finalizer, such as a connection's: the next block
            # raises it again.
            self._is_pending = not self.is_cleaning
            raise KeyboardInterrupt
        if self.is_cleaning:
            # Only the next one interrupts the clean-up.
            self._is_open = True
            with suppress(OSError):  # the terminal may be closed
                self._warn("deleting what the run has created; interrupt again to keep it")
            return
        self._is_pending = True

    def begin_cleaning(self) -> None:
        """Drop earlier signals; from now on, the first one warns and the second one interrupts."""
        self._is_pending = self._is_open = False
        self.is_cleaning = True


@contextmanager
def interruptible(warn: Callable[[str], None]) -> Iterator[Interruption]:
    """Handle SIGINT, SIGTERM and SIGHUP in the block, unless the process ignores them."""
    state = Interruption(warn)
    kept = {
        number: signal.signal(number, state.notice)
        for number in _SIGNALS
        # As under nohup, which lets a run survive its terminal.
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield state
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
