"""Connections that are kept open between exchanges, shared by threads."""

import threading
from collections import defaultdict
from collections.abc import Callable

from graveler.aws.exchanges.connection import Host, HttpConnection, opened
from graveler.aws.exchanges.time_budget import TimeBudget
from graveler.aws.retries import CONNECT_TIMEOUT_S
from graveler.aws.system import moment
from graveler.times import Moment

# Stores close idle connections after some time. A request sent while they close may or may not
# have been read, so old connections are not used.
IDLE_S_MAX = 20.0
# Idle connections to one host. More would hardly be used again before the store closes them.
_IDLE_MAX = 64


class Pool:
    """Idle connections by host. The one used last is taken first: it is the most likely alive.

    A connection carries one exchange at a time. The pool keeps it only if its answer was read to
    the end. Else the rest of it could be read as the next answer.
    """

    def __init__(
        self, budget: Callable[[], TimeBudget], connect_s: float = CONNECT_TIMEOUT_S
    ) -> None:
        """Budget returns a new exchange's; connect_s is the time to connect to one address."""
        self._budget = budget
        self._connect_s = connect_s
        self._lock = threading.Lock()
        # Each with the moment at which it became idle.
        self._idle: dict[Host, list[tuple[HttpConnection, Moment]]] = defaultdict(list)
        self._swept_at = moment()

    def take(self, host: Host) -> HttpConnection:
        """Return a connection to the host for an exchange that begins now.

        Raises:
            OSError: no connection can be made.
        """
        connection = self._idle_one(host) or opened(host, self._connect_s)
        connection.budget = self._budget()
        return connection

    def _idle_one(self, host: Host) -> HttpConnection | None:
        while True:
            with self._lock:
                idle = self._idle[host]
                if not idle:
                    return None
                connection, since = idle.pop()
            if since.is_within(IDLE_S_MAX, moment()) and connection.is_open_and_silent():
                return connection
            connection.close()

    def give_back(self, connection: HttpConnection) -> None:
        """Keep the connection for the next exchange, or close it if none may follow."""
        self._sweep()
        if connection.is_reusable:
            with self._lock:
                idle = self._idle[connection.host]
                if len(idle) < _IDLE_MAX:
                    idle.append((connection, moment()))
                    return
        connection.close()

    def _sweep(self) -> None:
        """Close connections that are too old; `take` may never reach those."""
        now = moment()
        with self._lock:
            if self._swept_at.is_within(IDLE_S_MAX, now):
                return
            self._swept_at = now
            old = []
            for host, idle in list(self._idle.items()):
                old += [each for each, since in idle if not since.is_within(IDLE_S_MAX, now)]
                self._idle[host] = [each for each in idle if each[1].is_within(IDLE_S_MAX, now)]
                if not self._idle[host]:
                    del self._idle[host]
        for connection in old:
            connection.close()

    def close(self) -> None:
        """Close the connections that carry no exchange."""
        with self._lock:
            idle, self._idle = self._idle, defaultdict(list)
        for connection in (each for some in idle.values() for each, _ in some):
            connection.close()
