"""The Cipher of a deployment without a KMS key of its own: keys derived from one secret.

A KMS key costs a dollar a month, most of the cost of an idle deployment. The functions' layer has
no library with AES. So HMAC-SHA256 makes both the key stream and the tag, with a key for each:
encrypt, then authenticate. A ciphertext is a nonce, the tag and the sealed bytes.
"""

import hmac
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass

from graveler.aws.environment import FromEnvironment
from graveler.errors import CorruptDataError

_SECRET_CHARACTERS_MIN = 32
_NONCE_BYTES = 16
_TAG_BYTES = 32


@dataclass(frozen=True, slots=True, repr=False)
class _Settings(FromEnvironment):
    cipher_secret: str


class SecretCipher:
    """The accounts' Cipher under keys that are derived from a secret."""

    def __init__(self, secret: str) -> None:
        self._stream_key = _hmac(secret.encode(), b"graveler: key stream")
        self._tag_key = _hmac(secret.encode(), b"graveler: tag")

    def encrypt(self, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._xor(plaintext, nonce)
        return nonce + self._tag(nonce, sealed, context) + sealed

    def decrypt(self, ciphertext: bytes, context: Mapping[str, str]) -> bytes:
        nonce, rest = ciphertext[:_NONCE_BYTES], ciphertext[_NONCE_BYTES:]
        tag, sealed = rest[:_TAG_BYTES], rest[_TAG_BYTES:]
        if not hmac.compare_digest(tag, self._tag(nonce, sealed, context)):
            raise CorruptDataError(
                "a stored secret was not encrypted under this key and context: restore the secret "
                "of the deployment if it was replaced"
            )
        return self._xor(sealed, nonce)

    def _xor(self, text: bytes, nonce: bytes) -> bytes:
        """Return the text combined with the key stream of the nonce."""
        stream = b"".join(
            _hmac(self._stream_key, nonce + block.to_bytes(4))
            for block in range(len(text) // _TAG_BYTES + 1)
        )
        return bytes(one ^ two for one, two in zip(text, stream, strict=False))

    def _tag(self, nonce: bytes, sealed: bytes, context: Mapping[str, str]) -> bytes:
        about = json.dumps(context, sort_keys=True).encode()
        return _hmac(self._tag_key, nonce + len(about).to_bytes(4) + about + sealed)


def secret_cipher() -> SecretCipher:
    """Return the cipher under the secret in GRAVELER_CIPHER_SECRET.

    Raises:
        ValueError: the variable is not set, or the secret can be guessed.
    """
    secret = _Settings.from_environment(os.environ).cipher_secret
    if len(secret) < _SECRET_CHARACTERS_MIN:
        raise ValueError(
            f"GRAVELER_CIPHER_SECRET has {len(secret)} characters: set {_SECRET_CHARACTERS_MIN} or "
            "more, chosen at random"
        )
    return SecretCipher(secret)


def _hmac(key: bytes, text: bytes) -> bytes:
    return hmac.digest(key, text, "sha256")
