"""A Cipher under a key in memory: AES-GCM, with the context as associated data (NIST SP 800-38D).

A ciphertext is a nonce, the sealed bytes and the tag. Import this only where it is used:
`cryptography` takes 15 ms.
"""

import os
from collections.abc import Mapping

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from graveler.errors import CorruptDataError

KEY_BYTES = 32
_NONCE_BYTES = 12


class AesGcmCipher:
    """The accounts' Cipher under one key."""

    def __init__(self, key: bytes, place: str) -> None:
        """Use the key.

        Args:
            key: 32 bytes.
            place: where the key is kept, which errors name.
        """
        self._aead = AESGCM(key)
        self._place = place

    def encrypt(self, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._aead.encrypt(nonce, plaintext, _bytes_of(context))

    def decrypt(self, ciphertext: bytes, context: Mapping[str, str]) -> bytes:
        nonce, sealed = ciphertext[:_NONCE_BYTES], ciphertext[_NONCE_BYTES:]
        try:
            return self._aead.decrypt(nonce, sealed, _bytes_of(context))
        except (InvalidTag, ValueError) as error:
            raise CorruptDataError(
                "a stored secret was not encrypted under this key and context: restore "
                f"{self._place} if it was replaced"
            ) from error


def _bytes_of(context: Mapping[str, str]) -> bytes:
    return msgspec.json.encode(context, order="sorted")
