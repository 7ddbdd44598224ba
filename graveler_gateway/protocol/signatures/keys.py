"""The keys of AWS Signature Version 4, and the comparison of signatures."""

import hashlib
import hmac
from collections.abc import Callable

SigningKeys = Callable[[str, str, str, str], bytes]
"""Returns the signing key of a secret, date (YYYYMMDD), region and service."""


def signing_key(secret: str, date: str, region: str, service: str) -> bytes:
    """Return the key that signs with the secret on this day; callers may cache it."""
    key = ("AWS4" + secret).encode()
    for part in (date, region, service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def signature(key: bytes, string_to_sign: str) -> str:
    """Return the Version 4 signature of the text, 64 hex digits."""
    return hmac.digest(key, string_to_sign.encode("latin-1"), "sha256").hex()


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of the data, 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def is_same(presented: str, computed: str) -> bool:
    """Return whether two signatures are equal, in constant time."""
    return hmac.compare_digest(presented.encode("utf-8", "surrogatepass"), computed.encode())
