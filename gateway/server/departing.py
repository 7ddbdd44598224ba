"""The content of an answer, on its way from the thread that reads it to the client.

One piece is sent while the next is read. A client that takes nothing for some time is given up.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future
from typing import Any

Send = Callable[[dict[str, Any]], Awaitable[None]]


class ClientGoneError(Exception):
    """The client closed the connection, or took nothing for too long."""


def send_pieces(
    pieces: Iterable[bytes],
    send: Send,
    loop: asyncio.AbstractEventLoop,
    idle_s: float,
) -> int:
    """Send the pieces, whose answer has begun, from a thread that is not the loop's.

    Returns:
        The number of bytes sent.

    Raises:
        ClientGoneError: the client does not take them.
        Exception: whatever the iterable raises; the answer is not complete then.
    """
    pending: Future[None] | None = None
    sent = 0
    for piece in pieces:
        _settle(pending, idle_s)
        message = {"type": "http.response.body", "body": piece, "more_body": True}
        pending = asyncio.run_coroutine_threadsafe(_sent(send, message), loop)
        sent += len(piece)
    _settle(pending, idle_s)
    return sent


async def _sent(send: Send, message: dict[str, Any]) -> None:
    await send(message)


def _settle(pending: "Future[None] | None", idle_s: float) -> None:
    if pending is None:
        return
    try:
        pending.result(idle_s)
    except TimeoutError as error:
        pending.cancel()
        raise ClientGoneError from error
    except Exception as error:
        raise ClientGoneError from error
