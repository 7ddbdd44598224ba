"""The signatures of chunks and of the trailer; each one covers the one before it.

https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
"""

import hashlib

from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.signatures import keys
from graveler_gateway.protocol.signatures.verified import ChunkSeed

_SHA256_OF_NOTHING = keys.sha256_hex(b"")


class ChunkSignatures:
    """The chain of a body's signatures."""

    def __init__(self, seed: ChunkSeed) -> None:
        self._seed = seed
        self._previous = seed.signature
        self._presented = ""
        self._sha256 = hashlib.sha256()

    def begin(self, presented: str) -> None:
        """Begin the chunk with this signature."""
        self._presented = presented
        self._sha256 = hashlib.sha256()

    def update(self, content: bytes | memoryview) -> None:
        """Append to the chunk."""
        self._sha256.update(content)

    def end(self) -> None:
        """Verify the chunk."""
        covered = f"{_SHA256_OF_NOTHING}\n{self._sha256.hexdigest()}"
        self._verify("AWS4-HMAC-SHA256-PAYLOAD", covered, self._presented)

    def verify_trailer(self, lines: bytes, presented: str) -> None:
        """Verify the trailer; lines are "name:value", each with a line feed at its end."""
        self._verify("AWS4-HMAC-SHA256-TRAILER", keys.sha256_hex(lines), presented)

    def _verify(self, algorithm: str, covered: str, presented: str) -> None:
        seed = self._seed
        text = "\n".join((algorithm, seed.timestamp, seed.scope, self._previous, covered))
        if not keys.is_same(presented, keys.signature(seed.signing_key, text)):
            raise S3ResponseError(
                Code.SIGNATURE_DOES_NOT_MATCH,
                details={"StringToSign": text, "SignatureProvided": presented},
            )
        self._previous = presented
