"""The port that encrypts secrets, so that readers of the tables do not get them."""

from collections.abc import Mapping
from typing import Protocol


class Cipher(Protocol):
    """Encrypts small secrets under a key that the tables do not hold.

    The context names the record of the secret. Decrypting under another context fails, so a secret
    cannot be moved to another record.
    """

    def encrypt(self, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        """Return ciphertext that only `decrypt` under an equal context can decrypt."""

    def decrypt(self, ciphertext: bytes, context: Mapping[str, str]) -> bytes:
        """Return the plaintext.

        Raises:
            CorruptDataError: these bytes were not encrypted under this key and context.
        """
