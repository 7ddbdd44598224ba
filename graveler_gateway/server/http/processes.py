"""Several processes that serve one address.

Theory of operation. The first process accepts connections and hands them to the others in turn, by
sockets that carry descriptors (SCM_RIGHTS). So long-lived connections are spread evenly, which the
kernel does not do for processes that accept themselves. The first worker starts alone, so that it
serves early; the others start when it can serve. A worker that ends is started again. A worker ends
when its socket does, so none outlives the first process. The first signal lets requests finish, and
the second one kills the workers.

A worker is `python -m graveler_gateway.server.http.worker MODULE:FUNCTION DESCRIPTOR`; the function
returns the handler of one process.
"""

import contextlib
import logging
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass

logger = logging.getLogger(__name__)

# How many connections the kernel holds until they are accepted.
_BACKLOG = 2048
_WATCH_S = 0.5
# If a worker ends soon after its start, the restart delay doubles.
_SOON_S = 10.0
_DELAY_S_MAX = 8.0
# How long a connection is offered to the workers, and how often.
_HAND_ON_S = 1.0
_AGAIN_S = 0.01
# What a worker sends when it can serve, and what it gets with each connection: a byte each.
READY = b"\1"
CONNECTION = b"\2"


@dataclass(slots=True)
class _Worker:
    """A worker, and when it is started again if it has ended."""

    process: subprocess.Popen[bytes]
    sender: socket.socket
    began_s: float
    delay_s: float = 0.0
    is_ready: bool = False
    restart_at_s: float | None = None


class CannotStartError(Exception):
    """A worker ended before it could serve."""


class Processes:
    """The first process: `serve` returns after a signal, with an exit code."""

    def __init__(self, target: str, listener: socket.socket, workers: int, stop_s: float) -> None:
        self._target = target
        self._listener = listener
        self._stop_s = stop_s
        self._signals = 0
        self._was_ready = False
        self._next = 0
        self._count = workers
        self._workers = [self._started() for _ in range(min(workers, 1))]

    def serve(self) -> int:
        """Hand on connections until SIGTERM or SIGINT; return the exit code of the process."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        self._listener.settimeout(_WATCH_S)
        watched_s = time.monotonic()
        try:
            while not self._signals:
                self._accept()
                if time.monotonic() - watched_s >= _WATCH_S:
                    self._watch()
                    watched_s = time.monotonic()
        except CannotStartError as error:
            logger.error("%s", error)  # noqa: TRY400 - the worker wrote why
            return 1
        finally:
            self._listener.close()
            self._end()
        return 0

    def _stop(self, *_: object) -> None:
        self._signals += 1

    def _accept(self) -> None:
        try:
            connected, _ = self._listener.accept()
        except (TimeoutError, ConnectionError):
            return
        except OSError as error:  # such as no descriptor, or no memory: it may pass
            logger.warning("no connection can be accepted: %s", error)
            time.sleep(_WATCH_S)
            return
        with connected:
            self._hand_on(connected)

    def _hand_on(self, connected: socket.socket) -> None:
        """Give the connection to the next worker that takes it; drop it if none does in time."""
        until_s = time.monotonic() + _HAND_ON_S
        while not self._offer(connected) and time.monotonic() < until_s and not self._signals:
            time.sleep(_AGAIN_S)
            self._watch()

    def _offer(self, connected: socket.socket) -> bool:
        # A worker that is still starting holds connections until it is ready: only if none is.
        for is_ready in (True, False):
            for _ in self._workers:
                self._next = (self._next + 1) % len(self._workers)
                worker = self._workers[self._next]
                if worker.is_ready is is_ready:
                    with contextlib.suppress(OSError):  # it takes none, or has ended
                        socket.send_fds(worker.sender, [CONNECTION], [connected.fileno()])
                        return True
        return False

    def _watch(self) -> None:
        """Start workers again that have ended, and the others once the first one is ready.

        Raises:
            CannotStartError: one ended, and none was ever ready.
        """
        now_s = time.monotonic()
        for at, worker in enumerate(self._workers):
            worker.is_ready = worker.is_ready or _is_ready(worker.sender)
            self._was_ready = self._was_ready or worker.is_ready
            if worker.process.poll() is None:
                continue
            if worker.restart_at_s is None:
                if not self._was_ready:
                    raise CannotStartError(f"{self._target} cannot serve: see above")
                was_soon = now_s - worker.began_s < _SOON_S
                worker.delay_s = min(2 * worker.delay_s or 0.5, _DELAY_S_MAX) if was_soon else 0.0
                worker.restart_at_s = now_s + worker.delay_s
                logger.warning("a worker ended with %s", worker.process.returncode)
            if now_s >= worker.restart_at_s:
                self._restart(at, worker)
        if self._was_ready:
            with contextlib.suppress(OSError):  # such as no memory: the next time
                while len(self._workers) < self._count:
                    self._workers.append(self._started())

    def _restart(self, at: int, ended: _Worker) -> None:
        try:
            self._workers[at] = self._started(ended.delay_s)
        except OSError as error:  # such as no memory: it may pass
            logger.warning("a worker cannot be started: %s", error)
            ended.restart_at_s = time.monotonic() + _DELAY_S_MAX
        else:
            ended.sender.close()

    def _started(self, delay_s: float = 0.0) -> _Worker:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)  # noqa: FBT003 - socket's own
        module = "graveler_gateway.server.http.worker"
        try:
            with theirs:
                process = subprocess.Popen(  # noqa: S603 - our own module
                    [sys.executable, "-m", module, self._target, str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                )
        except OSError:
            ours.close()
            raise
        return _Worker(process, ours, time.monotonic(), delay_s)

    def _end(self) -> None:
        """End all workers: they finish what they have begun, until a time or the next signal."""
        # Counted before a worker ends: its end may cause the next signal at once.
        signals = self._signals
        for worker in self._workers:
            worker.sender.close()
        until_s = time.monotonic() + self._stop_s
        while any(worker.process.poll() is None for worker in self._workers):
            if time.monotonic() >= until_s or self._signals > max(signals, 1):
                for worker in self._workers:
                    worker.process.kill()
                    worker.process.wait()
                return
            time.sleep(_AGAIN_S)


def _is_ready(sender: socket.socket) -> bool:
    try:
        return sender.recv(1) == READY
    except OSError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at the address.

    Raises:
        OSError: another process does, or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=_BACKLOG)


def serve(target: str, host: str, port: int, *, workers: int, stop_s: float) -> int:
    """Serve the handler that the target makes, in so many processes; return the exit code.

    target: `module:function`; the function returns the handler and the limits of one process.

    Raises:
        OSError: another process listens there, or the address is not this machine's.
    """
    return Processes(target, listen(host, port), workers, stop_s).serve()
