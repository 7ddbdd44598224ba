"""The Cipher of a deployment: a KMS key. A secret access key fits into one request."""

import binascii
from collections.abc import Mapping

from graveler.aws.errors import RequestRefusedError
from graveler.aws.json_service import JsonService
from graveler.errors import CorruptDataError


class Kms(JsonService):
    """One endpoint of KMS."""

    name = "KMS"
    version = "1.1"
    target = "TrentService"
    reads = frozenset({"Encrypt", "Decrypt"})


class KmsCipher:
    """`graveler.aws.cipher.Cipher` by a symmetric KMS key."""

    def __init__(self, kms: Kms, key_id: str) -> None:
        self._kms = kms
        self._key_id = key_id

    def encrypt(self, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        request = {"KeyId": self._key_id, "Plaintext": plaintext, "EncryptionContext": context}
        return binascii.a2b_base64(self._kms.call("Encrypt", request)["CiphertextBlob"])

    def decrypt(self, ciphertext: bytes, context: Mapping[str, str]) -> bytes:
        request = {
            "KeyId": self._key_id,
            "CiphertextBlob": ciphertext,
            "EncryptionContext": context,
        }
        try:
            return binascii.a2b_base64(self._kms.call("Decrypt", request)["Plaintext"])
        except RequestRefusedError as error:
            if error.code in ("InvalidCiphertextException", "IncorrectKeyException"):
                raise CorruptDataError("a stored secret is not what was encrypted") from error
            raise
