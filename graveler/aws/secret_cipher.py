"""The Cipher of a deployment without a KMS key of its own: keys derived from one secret.

A KMS key costs a dollar a month, most of the cost of an idle deployment.

Ciphertexts have two forms. AES-GCM's begins with four fixed bytes. The older one is a nonce, a tag
and the sealed bytes, where HMAC-SHA256 makes both the key stream and the tag. This release writes
the older form, so that the release before it can read what this one wrote; the next one writes
AES-GCM's.
"""

import hmac
import json
import os
from collections.abc import Mapping

from graveler.errors import CorruptDataError

_SECRET_CHARACTERS_MIN = 32
_AES_GCM = b"gcm1"

_NONCE_BYTES = 16
_TAG_BYTES = 32


class SecretCipher:
    """The accounts' Cipher under keys that are derived from a secret."""

    def __init__(self, secret: str) -> None:
        """Derive the keys.

        Raises:
            ValueError: the secret can be guessed.
        """
        if len(secret) < _SECRET_CHARACTERS_MIN:
            raise ValueError(
                f"the secret of the cipher has {len(secret)} characters: restore the one with "
                "which users' secrets were encrypted, which was chosen at random"
            )
        self._secret = secret.encode()
        self._stream_key = _hmac(self._secret, b"graveler: key stream")
        self._tag_key = _hmac(self._secret, b"graveler: tag")

    def encrypt(self, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._xor(plaintext, nonce)
        return nonce + self._tag(nonce, sealed, context) + sealed

    def decrypt(self, ciphertext: bytes, context: Mapping[str, str]) -> bytes:
        nonce, rest = ciphertext[:_NONCE_BYTES], ciphertext[_NONCE_BYTES:]
        tag, sealed = rest[:_TAG_BYTES], rest[_TAG_BYTES:]
        if hmac.compare_digest(tag, self._tag(nonce, sealed, context)):
            return self._xor(sealed, nonce)
        if ciphertext.startswith(_AES_GCM):
            return self._decrypt_aes_gcm(ciphertext[len(_AES_GCM) :], context)
        raise CorruptDataError(
            "a stored secret was not encrypted under this key and context: restore the secret "
            "of the deployment if it was replaced"
        )

    def _decrypt_aes_gcm(self, ciphertext: bytes, context: Mapping[str, str]) -> bytes:
        from graveler.aws.aes_gcm import AesGcmCipher  # noqa: PLC0415 - takes long

        key = _hmac(self._secret, b"graveler: AES-GCM")
        return AesGcmCipher(key, "the secret of the deployment").decrypt(ciphertext, context)

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


def _hmac(key: bytes, text: bytes) -> bytes:
    return hmac.digest(key, text, "sha256")
