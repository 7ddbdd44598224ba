"""The Cipher of a deployment, on a KMS key. A secret access key fits into one request."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from graveler.aws.errors import repeated
from graveler.errors import CorruptDataError

if TYPE_CHECKING:
    from mypy_boto3_kms import KMSClient


class KmsCipher:
    """The accounts' Cipher on a symmetric KMS key."""

    def __init__(self, client: "KMSClient", key_id: str) -> None:
        self._client = client
        self._key_id = key_id

    def encrypt(self, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        return _call(
            lambda: self._client.encrypt(
                KeyId=self._key_id, Plaintext=plaintext, EncryptionContext=context
            )["CiphertextBlob"]
        )

    def decrypt(self, ciphertext: bytes, context: Mapping[str, str]) -> bytes:
        return _call(
            lambda: self._client.decrypt(
                KeyId=self._key_id, CiphertextBlob=ciphertext, EncryptionContext=context
            )["Plaintext"]
        )


def _call(request: Callable[[], bytes]) -> bytes:
    """Return KMS's answer.

    Raises:
        CorruptDataError: the ciphertext is damaged, or was made under another key or context.
        ThrottledError: KMS throttles, fails or does not answer.
    """
    try:
        return repeated("KMS", request)
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in ("InvalidCiphertextException", "IncorrectKeyException"):
            raise CorruptDataError("a stored secret is not what was encrypted") from error
        raise
