"""Serves the connections of one process.

Theory of operation. One thread, the caller's, waits for all connections on which nothing arrives. A
connection on which something arrives goes to a thread. The thread serves its requests one after the
other with blocking calls. It waits at most _LINGER_S for the next request, the rest of a head, the
start of a body, or a refused body. Then it gives the connection back. So only a request that has
arrived holds a thread, never an idle client.

A client that sends its next request at once keeps its thread, so such requests cost no hand-over.

A connection belongs to the caller's thread, which has it in `_parked`, or to another thread. It
returns through `_returned`. Only its owner touches it.
"""

import contextlib
import logging
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context

from graveler_gateway.server.http.client import ClientSocket
from graveler_gateway.server.http.connection import ClientConnection, Limits
from graveler_gateway.server.http.exchange import ClientGoneError, Exchange, plain_answer
from graveler_gateway.server.http.heads import HeadRefusedError, HttpHead

logger = logging.getLogger(__name__)

Handler = Callable[[Exchange], None]

# How long a thread waits for the next bytes.
_LINGER_S = 0.05
_NO_LINGER_S = 0.001
# How often overdue connections are sought.
_SWEEP_S = 5.0


class HttpServer:
    """Serves connections that others accept; `run` returns after `stop`.

    next_connection: reads one from the intake; returns None if there will be no more, and raises
        OSError if one was lost.
    """

    def __init__(
        self,
        handler: Handler,
        next_connection: Callable[[], socket.socket | None],
        intake: socket.socket,
        limits: Limits,
    ) -> None:
        self._handler = handler
        self._next_connection = next_connection
        self._intake = intake
        self._limits = limits
        self._selector = selectors.DefaultSelector()
        self._wake_receiver, self._wake_sender = socket.socketpair()
        self._wake_receiver.setblocking(False)  # noqa: FBT003 - socket's own
        self._wake_sender.setblocking(False)  # noqa: FBT003 - the same
        self._parked: dict[ClientConnection, None] = {}  # the longest waiting first
        self._returned: deque[ClientConnection] = deque()
        self._threads = ThreadPoolExecutor(limits.threads, thread_name_prefix="connection")
        # Half of the threads wait for clients that take their answers slowly, at most.
        self._waiting_sends = threading.BoundedSemaphore(max(1, limits.threads // 2))
        self._lock = threading.Lock()  # for the fields below
        self._open = 0  # connections
        self._unserved = 0  # connections that have no thread yet
        self._is_finishing = False
        self._is_stopping = False  # set in signal handlers, so without the lock

    # In the caller's thread.

    def run(self) -> None:
        """Serve until `stop`; requests that have begun then are served to their end."""
        self._selector.register(self._wake_receiver, selectors.EVENT_READ)
        self._selector.register(self._intake, selectors.EVENT_READ)
        sweep_s = min(_SWEEP_S, self._limits.idle_s)
        sweep_at_s = time.monotonic() + sweep_s
        while not self._is_stopping:
            self._dispatch_ready(max(0.0, sweep_at_s - time.monotonic()))
            self._take_back()
            if time.monotonic() >= sweep_at_s:
                self._sweep()
                sweep_at_s = time.monotonic() + sweep_s
        self._finish()

    def stop(self) -> None:
        """Let `run` return; safe in a signal handler and in any thread."""
        self._is_stopping = True
        self._wake()

    def _dispatch_ready(self, limit_s: float) -> None:
        for key, _ in self._selector.select(limit_s):
            if key.fileobj is self._intake:
                self._accept()
            elif key.data in self._parked:  # and was not closed for a new one meanwhile
                self._dispatch(key.data)

    def _accept(self) -> None:
        try:
            connected = self._next_connection()
        except OSError as error:
            logger.warning("a connection is lost: %s", error)
            self._make_room()
            return
        if connected is None:
            self.stop()
            return
        if self._open >= self._limits.connections:
            self._make_room()
        if self._open >= self._limits.connections:  # all are served
            connected.close()
            return
        try:
            client = ClientSocket(connected, self._limits.idle_s, self._waiting_sends)
        except OSError:  # it ended meanwhile
            connected.close()
            return
        with self._lock:
            self._open += 1
        self._park(ClientConnection(client, self._limits))

    def _make_room(self) -> None:
        """Close the connection that waits longest: its client can connect again."""
        if self._parked:
            self._close(self._unparked(next(iter(self._parked))))

    def _take_back(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._wake_receiver.recv(4096):
                pass
        while self._returned:
            self._park(self._returned.popleft())

    def _sweep(self) -> None:
        """Close overdue connections; those with a head get their answer first."""
        for connection in [each for each in self._parked if each.is_overdue]:
            if connection.has_head:  # the handler answers, and reports it
                connection.stop_awaiting_body(is_late=True)
                self._dispatch(connection)
            else:
                self._close(self._unparked(connection))

    def _finish(self) -> None:
        """Serve what has begun to its end, and close all connections."""
        self._dispatch_ready(0)
        with self._lock:
            self._is_finishing = True  # from here on, none returns
        self._take_back()
        for connection in list(self._parked):
            if connection.has_head:
                connection.stop_awaiting_body(is_late=False)
                self._dispatch(connection)
            else:
                self._close(self._unparked(connection))
        self._threads.shutdown(wait=True)
        self._selector.close()
        self._wake_receiver.close()
        self._wake_sender.close()

    def _park(self, connection: ClientConnection) -> None:
        self._parked[connection] = None
        self._selector.register(connection.client.socket, selectors.EVENT_READ, connection)

    def _unparked(self, connection: ClientConnection) -> ClientConnection:
        del self._parked[connection]
        self._selector.unregister(connection.client.socket)
        return connection

    def _dispatch(self, connection: ClientConnection) -> None:
        self._unparked(connection)
        with self._lock:
            self._unserved += 1
        # If the system refuses a new thread, one of the others will serve it.
        with contextlib.suppress(RuntimeError):
            self._threads.submit(self._serve, connection)

    # In the other threads.

    def _serve(self, connection: ClientConnection) -> None:
        with self._lock:
            self._unserved -= 1
        try:
            while self._serve_next(connection):
                pass
        except Exception:
            logger.exception("a connection failed")
            self._close(connection)

    def _serve_next(self, connection: ClientConnection) -> bool:
        """Serve a request; return whether to look for another one in this thread."""
        try:
            if connection.has_ended:
                connection.drain(self._linger_s)
                self._close(connection)
                return False
            http_head = connection.request(self._linger_s)
        except BlockingIOError:
            return self._give_back(connection)
        except HeadRefusedError as refused:
            with contextlib.suppress(OSError):
                connection.client.send(plain_answer(refused.status, str(refused)))
                return self._end(connection)
        except OSError:
            pass
        else:
            return self._answer(connection, http_head)
        self._close(connection)
        return False

    def _answer(self, connection: ClientConnection, http_head: HttpHead) -> bool:
        """Answer a request; return whether to look for another one in this thread."""
        exchange = Exchange(connection.client, http_head, connection.idle_s)
        if self._is_stopping:
            exchange.end_connection()
        try:
            # The next request must not see this one's context variables.
            Context().run(self._handler, exchange)
        except ClientGoneError:
            self._close(connection)
            return False
        except Exception:
            logger.exception("a request failed")
            if not exchange.has_begun:
                exchange.end_connection()
                with contextlib.suppress(ClientGoneError):
                    exchange.answer(500, ())
        if exchange.keeps_alive:
            connection.begin_next()
            return True
        # Closing with unread bytes sends a reset, which may overtake the answer.
        may_send = connection.client.has_buffered or not exchange.body.is_over
        if exchange.is_over and may_send:
            return self._end(connection)
        self._close(connection)
        return False

    def _linger_s(self) -> float:
        return _NO_LINGER_S if self._unserved else _LINGER_S

    def _end(self, connection: ClientConnection) -> bool:
        """End the connection after its answer; return whether this thread drains it."""
        try:
            connection.end()
        except OSError:
            self._close(connection)
            return False
        return True

    def _give_back(self, connection: ClientConnection) -> bool:
        """Give the connection back; return True if this thread must finish it instead."""
        with self._lock:
            if not self._is_finishing:
                self._returned.append(connection)
                self._wake()
                return False
        if connection.has_head:
            connection.stop_awaiting_body(is_late=False)
            return True
        self._close(connection)
        return False

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # it is awake already, or has ended
            self._wake_sender.send(b"\0")

    def _close(self, connection: ClientConnection) -> None:
        connection.client.close()
        with self._lock:
            self._open -= 1
