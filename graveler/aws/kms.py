"""The Cipher of a deployment, on a KMS key. A secret access key fits into one request."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from graveler.aws.errors import service_call
from graveler.errors import CorruptDataError

if TYPE_CHECKING:
    from mypy_boto3_kms import KMSClient


class KmsCipher:
    """`graveler.aws.cipher.Cipher` on a symmetric KMS key."""

    def __init__(self, client: "KMSClient", key_id: str) -> None:
        self._client = client
        self._key_id = key_id

    def encrypt(self, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        with _call():
            return self._client.encrypt(
                KeyId=self._key_id, Plaintext=plaintext, EncryptionContext=context
            )["CiphertextBlob"]

    def decrypt(self, ciphertext: bytes, context: Mapping[str, str]) -> bytes:
        with _call():
            return self._client.decrypt(
                KeyId=self._key_id, CiphertextBlob=ciphertext, EncryptionContext=context
            )["Plaintext"]


@contextmanager
def _call() -> Iterator[None]:
    """Translate the errors of a call of KMS: a damaged ciphertext is CorruptDataError."""
    try:
        with service_call("KMS"):
            yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in ("InvalidCiphertextException", "IncorrectKeyException"):
            raise CorruptDataError("a stored secret is not what was encrypted") from error
        raise
