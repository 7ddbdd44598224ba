"""Digests of secret access keys, against which presented secrets are checked.

A digest is an HMAC under a key that no table holds in clear. So a reader of the tables can neither
compute a secret from it nor try guesses. It covers the key pair's ID and user: a digest that is
moved to another record matches nothing there. Checking one takes no request to any service.
"""

import hashlib
import hmac
from functools import lru_cache

DIGEST_BYTES = hashlib.sha256().digest_size


def secret_digest(
    signing_key: bytes, access_key_id: str, user: str, user_uid: str, secret: str
) -> bytes:
    """Return the digest of a secret of the user's key pair; signing_key is the installation's."""
    # Lengths keep the parts apart: names may contain any character.
    parts = [part.encode() for part in (access_key_id, user, user_uid, secret)]
    content = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return hmac.digest(_key_of_digests(signing_key), content, hashlib.sha256)


@lru_cache(maxsize=1)  # each request with a key needs it
def _key_of_digests(signing_key: bytes) -> bytes:
    return hmac.digest(signing_key, b"graveler secret access key", hashlib.sha256)
