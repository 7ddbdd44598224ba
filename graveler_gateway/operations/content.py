"""The body of a request: decoded, checked, and handed on piece by piece.

The last piece is held back until everything is checked. S3 expects the whole length, so it stores
nothing of a body that breaks off or has a wrong checksum.
"""

from collections.abc import Iterator, Mapping
from typing import Protocol

from graveler_gateway.protocol.bodies.algorithms import Algorithm
from graveler_gateway.protocol.bodies.decoder import Decoder
from graveler_gateway.protocol.bodies.plan import BodyPlan
from graveler_gateway.protocol.errors import Code, S3ResponseError

# Some clients send a document with defaults.
_DISCARDED_BYTES_MAX = 64 * 1024


class BodyStream(Protocol):
    """The body as it arrives."""

    def read(self) -> bytes:
        """Return the next bytes, b"" at the end; the first call sends an awaited 100 Continue.

        Raises:
            S3ResponseError: the client stopped sending, or the framing is broken.
        """


class RequestContent:
    """A request's content, which can be read once."""

    def __init__(self, plan: BodyPlan, body: BodyStream) -> None:
        self.plan = plan
        self._body = body
        # The client's checksum as a header. It is verified once the content is read, and unknown
        # before that if it is in a trailer.
        self.checksums: Mapping[str, str] = plan.checksums

    @property
    def size_bytes(self) -> int | None:
        """The size that the client announced; None if it did not."""
        return self.plan.decoded_length_bytes

    @property
    def trailer(self) -> Algorithm | None:
        """The algorithm of the checksum in the trailer; None if there is none."""
        expected = self.plan.checksum
        return expected.algorithm if expected and expected.value is None else None

    def pieces(self, *, checks_digests: bool) -> Iterator[bytes]:
        """Yield the content; the last piece comes after all checks.

        checks_digests is False where S3 checks SHA-256 and MD5, which are slow.

        Raises:
            S3ResponseError: the body is incomplete, or a checksum or signature is wrong.
        """
        decoder = Decoder(self.plan, check_sha256=checks_digests, check_md5=checks_digests)
        held = b""
        while data := self._body.read():
            decoded = decoder.feed(data)
            if decoded:
                if held:
                    yield held
                held = decoded
        checked = decoder.finish().checksum
        self.checksums = {} if checked is None else dict([checked])
        if held:
            yield held

    def whole(self, bytes_max: int) -> bytes:
        """Return the content, for documents and small objects.

        Raises:
            S3ResponseError: it is larger, incomplete, or a checksum or signature is wrong.
        """
        if (self.size_bytes or 0) > bytes_max:
            raise S3ResponseError(Code.ENTITY_TOO_LARGE)
        pieces: list[bytes] = []
        size_bytes = 0
        for piece in self.pieces(checks_digests=True):
            pieces.append(piece)
            size_bytes += len(piece)
            if size_bytes > bytes_max:
                raise S3ResponseError(Code.ENTITY_TOO_LARGE)
        return b"".join(pieces)

    def discard(self) -> None:
        """Read the body of an operation that takes none."""
        self.whole(_DISCARDED_BYTES_MAX)
