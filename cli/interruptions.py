"""Commands that clean up after themselves, also when a signal ends them."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

# Windows has no SIGHUP, which others send when a terminal closes.
_SIGNALS = tuple(
    signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class Interruption:
    """Notes signals; one is raised only inside of a block that can be interrupted."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._is_open = False
        self._is_pending = False
        self.is_cleaning = False

    @contextmanager
    def open(self) -> Iterator[None]:
        """Raise KeyboardInterrupt in the block if a signal comes, or came before it."""
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
            # Python ignores what is raised amid a clean-up of its own, such as that of a
            # connection: the next block raises it again.
            self._is_pending = not self.is_cleaning
            raise KeyboardInterrupt
        if self.is_cleaning:
            # Only the next one interrupts the clean-up.
            self._is_open = True
            with suppress(OSError):  # the terminal may be closed
                self._warn("deleting what the run has created; interrupt again to leave it there")
            return
        self._is_pending = True

    def begin_cleaning(self) -> None:
        """Let the steps' signals be over."""
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
