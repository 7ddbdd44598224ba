"""The body of a request: decoded, checked, and handed on piece by piece.

The last piece is held back until everything is checked. So S3, which was promised the whole length,
stores nothing of a body that breaks off or has a wrong checksum.
"""

from collections.abc import Iterator, Mapping
from typing import Protocol

from gateway.protocol.bodies.decoder import Decoder
from gateway.protocol.bodies.plan import BodyPlan
from gateway.protocol.errors import Code, S3Error


class Arriving(Protocol):
    """The body as it arrives."""

    def read(self) -> bytes:
        """Return the next bytes, b"" at the end; the first call asks the client for the body.

        Raises:
            S3Error: the client stopped sending, or the framing is broken.
        """


class Content:
    """A request's content, which can be read once."""

    def __init__(self, plan: BodyPlan, arriving: Arriving, decoder: Decoder) -> None:
        self._plan = plan
        self._arriving = arriving
        self._decoder = decoder
        # The checksums that were checked, as headers, once the content was read.
        self.checksums: Mapping[str, str] = {}
        self.size_bytes = 0

    @property
    def plan(self) -> BodyPlan:
        return self._plan

    def pieces(self) -> Iterator[bytes]:
        """Yield the content; the last piece comes after all checks.

        Raises:
            S3Error: the body is incomplete, or a checksum or signature is wrong.
        """
        held = b""
        while data := self._arriving.read():
            decoded = self._decoder.feed(data)
            if decoded:
                self.size_bytes += len(decoded)
                if held:
                    yield held
                held = decoded
        self.checksums = self._decoder.finish()
        if held:
            yield held

    def whole(self, bytes_max: int) -> bytes:
        """Return the content, for documents and small objects.

        Raises:
            S3Error: it is larger, incomplete, or a checksum or signature is wrong.
        """
        pieces: list[bytes] = []
        for piece in self.pieces():
            pieces.append(piece)
            if self.size_bytes > bytes_max:
                raise S3Error(Code.ENTITY_TOO_LARGE)
        return b"".join(pieces)

    def check_is_empty(self) -> None:
        """Read the body of an operation that takes none; documents of defaults do no harm."""
        self.whole(64 * 1024)
