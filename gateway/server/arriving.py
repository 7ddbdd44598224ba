"""The body of a request, on its way from the event loop to the thread that reads it.

The loop asks the server for more only while less than _AHEAD_BYTES are waiting, so a client cannot
fill the memory: TCP makes it wait. The first read asks the client for the body at all.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from gateway.protocol.errors import Code, S3Error

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

_AHEAD_BYTES = 1024 * 1024
# A client that sends less holds a thread for too long.
_BYTES_PER_S_MIN = 1024
# What is read of the body of a refused request, so that its client gets the answer: one that still
# sends when the connection closes would get an error instead.
_DRAINED_BYTES_MAX = 64 * 1024 * 1024


class InMemory:
    """A body that arrived with its head, or why it did not arrive."""

    def __init__(self, body: bytes, refusal: Code | None = None) -> None:
        self._body = body
        self._refusal = refusal

    def read(self) -> bytes:
        """Return the whole body, then b"".

        Raises:
            S3Error: the client stopped sending, or the framing is broken.
        """
        if self._refusal is not None:
            raise S3Error(self._refusal)
        body, self._body = self._body, b""
        return body


class Streamed:
    """A body that arrives while it is read; `read` is for one thread that is not the loop's."""

    def __init__(self, receive: Receive, loop: asyncio.AbstractEventLoop, idle_s: float) -> None:
        self._receive = receive
        self._loop = loop
        self._idle_s = idle_s
        self._changed = threading.Condition()
        self._pieces: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._is_over = False
        self._is_broken = False
        self._is_draining = False
        self._pump: asyncio.Task[None] | None = None
        self._has_room = asyncio.Event()
        self._has_begun = False
        self._began_s = 0.0
        self._received_bytes = 0

    @property
    def has_begun(self) -> bool:
        """Whether the client was asked for the body."""
        return self._has_begun

    @property
    def is_over(self) -> bool:
        """Whether the body arrived whole."""
        return self._is_over

    async def read_ahead(self, size_bytes: int) -> None:
        """Take this much of the body, or all of it, while no thread waits; call it before `read`.

        A body that does not arrive in time is broken.
        """
        try:
            async with asyncio.timeout(self._idle_s):
                while self._waiting_bytes < size_bytes and await self._read_some():
                    pass
        except Exception:  # noqa: BLE001 - whatever the server raises of a broken body
            self._end(is_broken=True)

    def read(self) -> bytes:
        """Return the bytes that have arrived, b"" at the end.

        Raises:
            S3Error: the client stopped sending, or the framing is broken.
        """
        if not self._has_begun:
            self._has_begun = True
            self._began_s = time.monotonic()
            self._loop.call_soon_threadsafe(self._begin)
        with self._changed:
            arrived = self._changed.wait_for(
                lambda: self._pieces or self._is_over or self._is_broken, self._idle_s
            )
            if not arrived or self._is_too_slow():
                self._is_broken = True  # nothing more is read of it
                raise S3Error(Code.REQUEST_TIMEOUT)
            if not self._pieces:
                if self._is_broken:
                    raise S3Error(Code.INCOMPLETE_BODY)
                return b""
            pieces = list(self._pieces)
            self._pieces.clear()
            self._waiting_bytes = 0
        self._loop.call_soon_threadsafe(self._has_room.set)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _is_too_slow(self) -> bool:
        elapsed_s = time.monotonic() - self._began_s
        return self._received_bytes < (elapsed_s - self._idle_s) * _BYTES_PER_S_MIN

    async def finish(self, *, drains: bool) -> None:
        """Stop reading; before that, read and drop what a client is sending, if asked to.

        A message that arrives at a cancelled read would be lost, so the same task goes on.
        """
        if drains and not (self._is_over or self._is_broken):
            self._is_draining = True
            self._has_room.set()
            if self._pump is None:
                self._begin()
            assert self._pump is not None
            await asyncio.wait({self._pump}, timeout=self._idle_s)
        if self._pump is not None:
            self._pump.cancel()
            # Servers have one receiver at a time.
            await asyncio.wait([self._pump])

    def _begin(self) -> None:
        if self._is_over or self._is_broken:
            return
        self._pump = self._loop.create_task(self._read_all())

    async def _read_all(self) -> None:
        try:
            while await self._read_some():
                if self._is_draining:
                    self._pieces.clear()
                    if self._waiting_bytes >= _DRAINED_BYTES_MAX:
                        return
                elif self._waiting_bytes >= _AHEAD_BYTES:
                    self._has_room.clear()
                    if self._waiting_bytes >= _AHEAD_BYTES:
                        await self._has_room.wait()
        except asyncio.CancelledError:
            raise
        except Exception:  # noqa: BLE001 - whatever the server raises of a broken body
            self._end(is_broken=True)

    async def _read_some(self) -> bool:
        """Take the next message; return whether there are more."""
        message = await self._receive()
        if message["type"] != "http.request":
            self._end(is_broken=True)
            return False
        piece = message.get("body", b"")
        has_more = bool(message.get("more_body"))
        with self._changed:
            if piece:
                self._pieces.append(piece)
                self._waiting_bytes += len(piece)
                self._received_bytes += len(piece)
            self._is_over = not has_more
            self._changed.notify()
        return has_more

    def _end(self, *, is_broken: bool) -> None:
        with self._changed:
            self._is_broken = is_broken
            self._changed.notify()
