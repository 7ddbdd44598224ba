"""The Cipher of a deployment: a KMS key. A secret access key fits into one request."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as NoConnectionError

from graveler.aws.errors import THROTTLING_CODES
from graveler.errors import CorruptDataError, ThrottledError

if TYPE_CHECKING:
    from mypy_boto3_kms import KMSClient


class KmsCipher:
    """`graveler.aws.cipher.Cipher` by a symmetric KMS key."""

    def __init__(self, client: "KMSClient", key_id: str) -> None:
        self._client = client
        self._key_id = key_id

    def encrypt(self, plaintext: bytes, context: Mapping[str, str]) -> bytes:
        with _translated_errors():
            return self._client.encrypt(
                KeyId=self._key_id, Plaintext=plaintext, EncryptionContext=context
            )["CiphertextBlob"]

    def decrypt(self, ciphertext: bytes, context: Mapping[str, str]) -> bytes:
        with _translated_errors():
            return self._client.decrypt(
                KeyId=self._key_id, CiphertextBlob=ciphertext, EncryptionContext=context
            )["Plaintext"]


@contextmanager
def _translated_errors() -> Iterator[None]:
    """What outlasts boto3's own retries, in the engine's words."""
    try:
        yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in ("InvalidCiphertextException", "IncorrectKeyException"):
            raise CorruptDataError("a stored secret is not what was encrypted") from error
        if code in THROTTLING_CODES or error.response["ResponseMetadata"]["HTTPStatusCode"] >= 500:
            raise ThrottledError(f"KMS cannot serve this now, try again later: {error}") from error
        raise
    except (HTTPClientError, NoConnectionError) as error:
        raise ThrottledError(f"KMS does not answer, try again later: {error}") from error
