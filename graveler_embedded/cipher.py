"""The embedded stand-in for KMS: encrypts secrets with a key in a private file."""

import os
from dataclasses import dataclass
from pathlib import Path

from graveler.aws.aes_gcm import KEY_BYTES, AesGcmCipher
from graveler.aws.environment import FromEnvironment
from graveler_embedded.files import write_private


@dataclass(frozen=True, slots=True)
class _CipherSettings(FromEnvironment):
    cipher_key_file: str


def local_cipher() -> AesGcmCipher:
    """Return the cipher with the key in GRAVELER_CIPHER_KEY_FILE; a missing key is created.

    Raises:
        ValueError: the variable is not set.
    """
    path = Path(_CipherSettings.from_environment(os.environ).cipher_key_file)
    if not path.exists():
        write_private(path, os.urandom(KEY_BYTES))
    return AesGcmCipher(path.read_bytes(), "cipher.key of the data folder")
