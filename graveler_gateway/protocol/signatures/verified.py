"""A signature before it is verified, and what it proves afterwards."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from graveler_gateway.protocol.bodies.payload import Payload
from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.protocol.signatures import keys


class SignatureKind(Enum):
    """Where a signature was found, and its version."""

    VERSION_4_HEADER = "AWS4-HMAC-SHA256 header"
    VERSION_4_QUERY = "AWS4-HMAC-SHA256 query"
    VERSION_2_HEADER = "AWS header"
    VERSION_2_QUERY = "AWS query"


@dataclass(frozen=True)
class ChunkSeed:
    """Where the chain of signed chunks begins: each signature covers the one before it."""

    signing_key: bytes = field(repr=False)
    timestamp: str
    scope: str
    signature: str


@dataclass(frozen=True)
class VerifiedSignature:
    """A head whose signature is right; seed is set if its chunks are signed."""

    access_key_id: str
    payload: Payload
    seed: ChunkSeed | None = None


class PresentedSignature(Protocol):
    """A well-formed signature, not yet verified."""

    @property
    def access_key_id(self) -> str:
        """The key whose secret verify needs."""

    @property
    def kind(self) -> SignatureKind:
        """Where the signature was found, and its version."""

    def verify(
        self,
        head: RequestHead,
        secret: str,
        now_s: int,
        *,
        bucket_of_host: str = "",
        signing_key: keys.SigningKeys = keys.signing_key,
    ) -> VerifiedSignature:
        """Return what the signature proves.

        bucket_of_host is the bucket that the Host header names: only Version 2 signs it.

        Raises:
            S3ResponseError: The signature is wrong, expired, or not yet valid.
        """
