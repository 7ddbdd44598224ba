"""A TCP proxy that puts a store far away: what clients send arrives a round trip later.

    python -m bench.beside.distance 9001:8001:15 9002:8002:4

Listens on port 9001 and puts the server on port 8001 15 ms away. Requests pay for both ways, and
answers come at once: a request and its answer take one round trip more than without the proxy,
however many packets they have. A new connection costs a round trip of its own. Bytes keep the
distances at which they were sent, so a pause between two parts of a request is not paid twice.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from graveler_embedded.processes import die_with_parent
from graveler_embedded.tcp_ports import HOST

_PIECE_BYTES = 256 * 1024
# Pieces on the way. A sender waits when so many have not arrived.
_PIECES_MAX = 64


@dataclass(frozen=True, slots=True)
class Distance:
    """The port of a proxy, the port of its store, and how far away the store is."""

    port: int
    target: int
    round_trip_ms: float

    def __str__(self) -> str:
        return f"{self.port}:{self.target}:{self.round_trip_ms:g}"

    @classmethod
    def parse(cls, text: str) -> "Distance":
        port, target, round_trip_ms = text.split(":")
        return cls(int(port), int(target), float(round_trip_ms))


async def listen(distance: Distance) -> asyncio.Server:
    """Accept connections for a store far away, until the server is closed."""
    delay_s = distance.round_trip_ms / 1000
    # The loop itself does not keep tasks alive, and those of connections refer to themselves only.
    served: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        served.add(task)
        with contextlib.suppress(OSError):
            # The client believes that it is connected; its first bytes wait for the connection.
            await asyncio.sleep(delay_s)
            there, to_store = await asyncio.open_connection(HOST, distance.target)
            try:
                await asyncio.gather(
                    carry(reader, to_store, delay_s),
                    carry(there, writer, 0),
                )
            finally:
                to_store.close()
        writer.close()
        served.discard(task)

    return await asyncio.start_server(serve, HOST, distance.port, backlog=512)


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay_s: float) -> None:
    """Write what is read, in order and so much later, to its end."""
    if not delay_s:
        while piece := await reader.read(_PIECE_BYTES):
            writer.write(piece)
            await writer.drain()
    else:
        await _carry_late(reader, writer, delay_s)
    writer.write_eof()


async def _carry_late(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay_s: float
) -> None:
    loop = asyncio.get_running_loop()
    on_the_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_PIECES_MAX)

    async def send() -> None:
        piece = b"-"
        while piece:
            piece = await reader.read(_PIECE_BYTES)
            await on_the_way.put((loop.time() + delay_s, piece))

    async def arrive() -> None:
        while True:
            due_s, piece = await on_the_way.get()
            await asyncio.sleep(due_s - loop.time())
            if not piece:
                return
            writer.write(piece)
            await writer.drain()

    await asyncio.gather(send(), arrive())


async def serve_all(distances: Sequence[Distance]) -> None:
    """Serve all proxies for ever."""
    servers = [await listen(distance) for distance in distances]
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    die_with_parent(os.getppid())
    asyncio.run(serve_all([Distance.parse(text) for text in sys.argv[1:]]))
