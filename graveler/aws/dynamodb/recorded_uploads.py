"""Records of multipart uploads in DynamoDB.

They are stored in the partition of the repository, in the order of their keys. A key is any bytes,
but a sort key is text of at most 1,024 bytes. So the text of a long key is truncated. The few
uploads with equal texts are sorted when they are read.
"""

from collections.abc import Iterator
from itertools import groupby

import msgspec

from graveler.aws.dynamodb.models import UPLOAD, UploadItem, partition_of
from graveler.aws.dynamodb.records import RefsRecords
from graveler.aws.dynamodb.tables import Raw, Request, Tables, key
from graveler.aws.errors import ConditionFailedError
from graveler.errors import UnknownOutcomeError, UploadNotFoundError
from graveler.model import Repository
from graveler.model.recorded_uploads import Upload, upload_key

# The rest of a sort key holds the kind, the end of the text and the ID.
_TEXT_BYTES_MAX = 980

# Bytes become characters of the same order. The first character ends the text, so that a key sorts
# before its continuations. Three bytes are escaped, because no sort key should contain NUL.
_END = "\x01"
# No key has this character.
_LAST = "\u0100"
_ESCAPES = {0: "\x02\x02", 1: "\x02\x03", 2: "\x02\x04"}

_UPLOAD = msgspec.json.Decoder(Upload)


def text_of_key(upload_key: bytes) -> str:
    """Return the beginning of a key as text that sorts like the key."""
    text = upload_key.decode("latin-1").translate(_ESCAPES)
    return text.encode()[:_TEXT_BYTES_MAX].decode(errors="ignore")


def _sort_of(upload_key: bytes, upload_id: str) -> str:
    return f"{UPLOAD}{text_of_key(upload_key)}{_END}{upload_id}"


def _upload_of(raw: Raw) -> Upload:
    return _UPLOAD.decode(raw["upload"]["S"])


def _item_of(repository: Repository, upload: Upload) -> UploadItem:
    return UploadItem(
        partition_of(repository),
        _sort_of(upload.key, upload.id),
        upload=msgspec.json.encode(upload).decode(),
        parts=upload.completed.parts_digest if upload.completed else None,
        expires_at=upload.expires_s,
    )


_IS_OPEN = UploadItem.upload.exists() & UploadItem.parts.does_not_exist()


def upload_completion(tables: Tables, repository: Repository, completed: Upload) -> Request:
    """Return the parameters that replace the open upload by the completed one."""
    return tables.put(_item_of(repository, completed), _IS_OPEN)


def has_completed(tables: Tables, repository: Repository, completed: Upload) -> bool:
    """Return whether an attempt whose answer was lost completed the upload.

    Raises:
        UploadNotFoundError: the upload was deleted, or another request completed it.
    """
    raw = tables.get(partition_of(repository), _sort_of(completed.key, completed.id))
    now = None if raw is None else _upload_of(raw)
    if now is None or now.completed not in (None, completed.completed):
        raise UploadNotFoundError(f"upload {completed.id} is not open any more")
    return now.completed is not None


class UploadRecords(RefsRecords):
    """`graveler.ports.UploadStore` over the refs table."""

    __slots__ = ()

    def upload(
        self, repository: Repository, branch: str, path: bytes, upload_id: str
    ) -> Upload | None:
        sort = _sort_of(upload_key(branch, path), upload_id)
        raw = self.tables.get(partition_of(repository), sort)
        found = None if raw is None else _upload_of(raw)
        return found if found and (found.branch, found.path) == (branch, path) else None

    def put_upload(self, repository: Repository, upload: Upload) -> None:
        item = _item_of(repository, upload)
        try:
            put = self.tables.put(item, UploadItem.sort.does_not_exist())
            self.tables.dynamodb.call("PutItem", put)
        except ConditionFailedError:
            return  # a late attempt must not reopen a completed upload
        except UnknownOutcomeError:
            if not self._exists(item):
                raise

    def delete_upload(self, repository: Repository, upload: Upload) -> bool:
        item_key = key(partition_of(repository), _sort_of(upload.key, upload.id))
        is_absent = UploadItem.parts.does_not_exist()
        try:
            self.tables.dynamodb.call("DeleteItem", self.tables.delete(item_key, is_absent))
        except ConditionFailedError:
            return False
        except UnknownOutcomeError:
            if self.upload(repository, upload.branch, upload.path, upload.id) is not None:
                raise
        return True

    def uploads(self, repository: Repository, start: bytes, end: bytes | None) -> Iterator[Upload]:
        found = self._uploads_from(repository, text_of_key(start))
        for text, alike in groupby(found, key=lambda upload: text_of_key(upload.key)):
            if end is not None and text > text_of_key(end):
                return
            for upload in sorted(alike, key=lambda upload: upload.place):
                if upload.key >= start and (end is None or upload.key < end):
                    yield upload

    def _uploads_from(self, repository: Repository, text: str) -> Iterator[Upload]:
        """Yield the uploads from the text on."""
        request = self.tables.query(partition_of(repository), "")
        request["KeyConditionExpression"] += " AND #s BETWEEN :from AND :to"
        request["ExpressionAttributeNames"]["#s"] = "sort"
        request["ExpressionAttributeValues"] |= {
            ":from": {"S": UPLOAD + text},
            ":to": {"S": UPLOAD + _LAST},
        }
        for raws in self.tables.pages(request):
            yield from map(_upload_of, raws)
