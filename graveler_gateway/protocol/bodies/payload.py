"""The kind of body that x-amz-content-sha256 declares."""

import re
from dataclasses import dataclass
from enum import Enum

from graveler_gateway.protocol.errors import Code, S3ResponseError

HEADER = "x-amz-content-sha256"

_SHA256 = re.compile("[0-9a-fA-F]{64}")
_INVALID = (
    "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, "
    "STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER, "
    "or a valid sha256 value."
)


class PayloadKind(Enum):
    """The framing of a body, and its signed parts. The value is the header's."""

    HASHED = "a SHA-256"
    UNSIGNED = "UNSIGNED-PAYLOAD"
    UNSIGNED_CHUNKS_AND_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
    SIGNED_CHUNKS = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
    SIGNED_CHUNKS_AND_TRAILER = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"


_NAMED = {kind.value: kind for kind in PayloadKind if kind is not PayloadKind.HASHED}
_NOT_IMPLEMENTED = {
    "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD",
    "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER",
}


@dataclass(frozen=True)
class Payload:
    """A kind of body; sha256 (lower-case hex) is set if the kind is HASHED."""

    kind: PayloadKind
    sha256: str = ""

    @property
    def has_chunks(self) -> bool:
        """Whether the content is framed as aws-chunked."""
        return self.kind not in {PayloadKind.HASHED, PayloadKind.UNSIGNED}

    @property
    def has_signed_chunks(self) -> bool:
        """Whether each chunk carries a signature."""
        return self.kind in {PayloadKind.SIGNED_CHUNKS, PayloadKind.SIGNED_CHUNKS_AND_TRAILER}

    @property
    def has_trailer(self) -> bool:
        """Whether header lines may follow the last chunk."""
        return self.has_chunks and self.kind is not PayloadKind.SIGNED_CHUNKS


UNSIGNED = Payload(PayloadKind.UNSIGNED)


def parse_payload(content_sha256: str) -> Payload:
    """Return the payload that a value of x-amz-content-sha256 describes.

    Raises:
        S3ResponseError: NOT_IMPLEMENTED for elliptic curves, else INVALID_ARGUMENT.
    """
    if _SHA256.fullmatch(content_sha256):
        return Payload(PayloadKind.HASHED, content_sha256.lower())
    if kind := _NAMED.get(content_sha256):
        return Payload(kind)
    if content_sha256 in _NOT_IMPLEMENTED:
        raise S3ResponseError(
            Code.NOT_IMPLEMENTED, "ECDSA signatures are not implemented: use HMAC-SHA256"
        )
    raise S3ResponseError(
        Code.INVALID_ARGUMENT,
        _INVALID,
        details={"ArgumentName": HEADER, "ArgumentValue": content_sha256},
    )
