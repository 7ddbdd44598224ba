"""How secrets are kept from whoever reads the tables."""

from collections.abc import Mapping
from typing import Protocol


class Cipher(Protocol):
    """Encrypts small secrets under a key that the tables do not hold.

    The context says what the secret belongs to: decrypting under another context fails, so that
    nobody can put one record's secret into another.
    """

    def encrypt(self, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        """Bytes that only `decrypt` under an equal context turns back."""

    def decrypt(self, ciphertext: bytes, context: Mapping[str, str]) -> bytes:
        """The plaintext.

        Raises:
            CorruptDataError: these bytes were not encrypted under this key and context.
        """
