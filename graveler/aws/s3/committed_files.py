"""The CommittedFiles on S3, at `_lakefs/<id>` under the storage namespace."""

from graveler.aws.s3.client import S3, S3Error
from graveler.aws.s3.responses import find
from graveler.aws.s3.uris import Location
from graveler.errors import CorruptDataError, ThrottledError, UnknownOutcomeError
from graveler.layout import committed_uri


class S3CommittedFiles:
    """`graveler.ports.CommittedFiles` over S3."""

    def __init__(self, s3: S3) -> None:
        self._s3 = s3

    def forget(self) -> None:
        """Do nothing: this store keeps no copies."""

    def read_tail(self, namespace: str, file_id: str, length: int) -> tuple[bytes, int]:
        return self._get(committed_uri(namespace, file_id), f"bytes=-{length}")

    def _get(self, uri: str, byte_range: str | None) -> tuple[bytes, int]:
        """Return the bytes of the range, and the size of the whole file.

        Raises:
            CorruptDataError: the file is missing, or ends before the range.
        """
        optional = {} if byte_range is None else {"Range": byte_range}
        try:
            answer = self._s3.call("get_object", Location.of(uri), **optional)
        except S3Error as error:
            if error.status == 404:
                raise CorruptDataError(f"{uri} is missing") from error
            if error.status == 416:
                raise CorruptDataError(f"{uri} ends before {byte_range}") from error
            raise
        content: bytes = answer["Body"]
        size = answer.get("ContentRange", "").rpartition("/")[2]
        return content, int(size) if size.isdecimal() else len(content)

    def read(self, namespace: str, file_id: str, offset: int, length: int) -> bytes:
        if length == 0:
            return b""
        uri = committed_uri(namespace, file_id)
        content, _ = self._get(uri, f"bytes={offset}-{offset + length - 1}")
        if len(content) != length:
            raise CorruptDataError(f"{uri} at {offset}: {len(content)} bytes instead of {length}")
        return content

    def read_all(self, namespace: str, file_id: str) -> bytes:
        return self._get(committed_uri(namespace, file_id), None)[0]

    def is_stored(self, namespace: str, file_id: str) -> bool:
        return find(self._s3, Location.of(committed_uri(namespace, file_id))) is not None

    def write(self, namespace: str, file_id: str, content: bytes) -> bool:
        try:
            self._s3.call(
                "put_object",
                Location.of(committed_uri(namespace, file_id)),
                Body=content,
                ContentType="application/octet-stream",
                IfNoneMatch="*",
            )
        except S3Error as error:
            if error.status != 412:
                raise
            return False
        except UnknownOutcomeError as error:
            # Nothing names the file yet, and the next attempt stores the same.
            raise ThrottledError(error.message) from error
        return True
