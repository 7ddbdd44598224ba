"""A client's socket, with the bytes that arrived on it and are unread.

The socket blocks, and the kernel limits for how long. With a timeout of Python's own, each call
would poll first, and release the interpreter's lock twice.
"""

import socket
from threading import Semaphore

from graveler.aws.exchanges.sockets import WHOLE, kernel_time

# A client that sends or takes less, on average, holds a thread for too long.
BYTES_PER_S_MIN = 1024

# The kernel gets this much of an answer at a time.
_SENT_BYTES = 512 * 1024


class ClientSocket:
    """The socket of a connected client; address is its network address.

    waiting_sends: the places of threads that wait until clients take answers. There are fewer of
        them than threads, so clients that take nothing cannot hold all threads.

    Raises:
        OSError: the client is gone.
    """

    def __init__(self, connected: socket.socket, send_s: float, waiting_sends: Semaphore) -> None:
        self.socket = connected
        self.address: str = connected.getpeername()[0]
        self._buffer = b""
        self._limit_s = -1.0
        self._send_s = send_s
        self._waiting_sends = waiting_sends
        connected.setblocking(True)  # noqa: FBT003 - socket's own
        if connected.family in {socket.AF_INET, socket.AF_INET6}:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, kernel_time(send_s))

    @property
    def has_buffered(self) -> bool:
        """Whether there are unread bytes."""
        return bool(self._buffer)

    @property
    def buffered(self) -> bytes:
        """The unread bytes."""
        return self._buffer

    @property
    def buffered_bytes(self) -> int:
        """The number of unread bytes."""
        return len(self._buffer)

    def find(self, text: bytes) -> int:
        """Return where the text is in the buffer; -1 if it is not."""
        return self._buffer.find(text)

    def skip(self, letters: bytes) -> None:
        """Remove these letters from the beginning of the buffer."""
        self._buffer = self._buffer.lstrip(letters)

    def wait_at_most(self, limit_s: float) -> None:
        """Limit how long a receive may wait; after that, it raises BlockingIOError."""
        if limit_s != self._limit_s:
            self._limit_s = limit_s
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, kernel_time(limit_s))

    def receive_more(self, most_bytes: int) -> bool:
        """Add to the buffer what arrives; return False if the client sends no more.

        Raises:
            OSError: nothing arrives in time, or the client is gone.
        """
        received = self.socket.recv(most_bytes)
        self._buffer += received
        return bool(received)

    def receive(self, most_bytes: int) -> bytes:
        """Return what arrives, past the buffer; b"" if the client sends no more.

        Raises:
            OSError: nothing arrives in time, or the client is gone.
        """
        return self.socket.recv(most_bytes)

    def receive_all(self, size_bytes: int) -> bytes:
        """Return so many bytes, past the buffer; fewer if no more arrive in time.

        Raises:
            OSError: nothing arrives in time, or the client is gone.
        """
        return self.socket.recv(size_bytes, WHOLE)

    def take(self, most_bytes: int) -> bytes:
        """Remove bytes from the buffer and return them."""
        taken, self._buffer = self._buffer[:most_bytes], self._buffer[most_bytes:]
        return taken

    def take_all(self) -> bytes:
        """Remove all bytes from the buffer and return them."""
        return self.take(len(self._buffer))

    def give_back(self, data: bytes) -> None:
        """Put bytes in front of the buffer."""
        self._buffer = data + self._buffer

    def send(self, data: bytes) -> None:
        """Send all of the data.

        Raises:
            OSError: the client takes too little in time, or is gone, or too many others are slow.
        """
        try:
            sent_bytes = self.socket.send(data, socket.MSG_DONTWAIT)
        except BlockingIOError:
            sent_bytes = 0
        if sent_bytes < len(data):
            if not self._waiting_sends.acquire(blocking=False):
                raise TimeoutError("too many clients take their answers slowly")
            try:
                self._send_slowly(memoryview(data)[sent_bytes:])
            finally:
                self._waiting_sends.release()

    def _send_slowly(self, rest: memoryview) -> None:
        while rest:
            part = rest[:_SENT_BYTES]
            sent_bytes = self.socket.send(part)  # all of it, or what was taken in time
            if sent_bytes < min(len(part), self._send_s * BYTES_PER_S_MIN):
                raise TimeoutError("the client takes its answer too slowly")
            rest = rest[sent_bytes:]

    def close(self) -> None:
        """End the connection."""
        self.socket.close()
