"""The embedded stand-in for KMS: encrypts secrets with a key in a private file."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from graveler.aws.environment import FromEnvironment
from graveler.errors import CorruptDataError
from graveler_embedded.files import write_private

_KEY_BITS = 256
_NONCE_BYTES = 12


@dataclass(frozen=True, slots=True)
class _CipherSettings(FromEnvironment):
    cipher_key_file: str


class LocalCipher:
    """The accounts' Cipher with AES-GCM; ciphertext is a nonce and the sealed bytes."""

    def __init__(self, key: bytes) -> None:
        self._aead = AESGCM(key)

    def encrypt(self, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._aead.encrypt(nonce, plaintext, _bytes_of(context))

    def decrypt(self, ciphertext: bytes, context: Mapping[str, str]) -> bytes:
        nonce, sealed = ciphertext[:_NONCE_BYTES], ciphertext[_NONCE_BYTES:]
        try:
            return self._aead.decrypt(nonce, sealed, _bytes_of(context))
        except (InvalidTag, ValueError) as error:
            raise CorruptDataError(
                "a stored secret was not encrypted under this key and context: restore cipher.key "
                "of the data folder if it was replaced"
            ) from error


def local_cipher() -> LocalCipher:
    """Return the cipher with the key in GRAVELER_CIPHER_KEY_FILE; a missing key is created.

    Raises:
        ValueError: the variable is not set.
    """
    path = Path(_CipherSettings.from_environment(os.environ).cipher_key_file)
    if not path.exists():
        write_private(path, AESGCM.generate_key(_KEY_BITS))
    return LocalCipher(path.read_bytes())


def _bytes_of(context: Mapping[str, str]) -> bytes:
    return msgspec.json.encode(context, order="sorted")
