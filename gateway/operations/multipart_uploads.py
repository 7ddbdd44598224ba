"""Multipart uploads: creating, completing, aborting and listing them, and their parts."""

from gateway.lake.port import Upload
from gateway.operations.copies import source_of
from gateway.operations.request import Call
from gateway.operations.responses import Answer, etag_of, of_document
from gateway.operations.writes import (
    check_storage_class,
    description_of,
    requirement_of,
    send,
    size_of,
    stored_answer,
)
from gateway.protocol import checksums, ranges
from gateway.protocol.documents import multipart_uploads as documents
from gateway.protocol.documents import results
from gateway.protocol.documents.multipart_uploads import PartRow, UploadRow, UploadsPage
from gateway.protocol.errors import Code, S3Error
from gateway.protocol.listings import parts_query, uploads_query
from graveler.limits import UPLOAD_PARTS_MAX
from graveler.ports import ExpectedObject, UploadedPart
from graveler.staging.listing import CommonPrefix, PageQuery


def create_upload(call: Call) -> Answer:
    """Begin an upload."""
    check_storage_class(call)
    description = description_of(call)
    call.lake.check_write(call.place)
    call.content.discard()
    begun = call.lake.create_upload(call.place, description)
    document = documents.upload_created(call.bucket, call.key, begun.id)
    return of_document(document, headers={**description.headers.checksum, **begun.headers})


def complete_upload(call: Call) -> Answer:
    """Make the uploaded parts the object; a repetition answers the same."""
    call.lake.check_write(call.place)
    expected = ExpectedObject(*checksums.expected(call.head))
    parts = documents.parse_completion(call.document())
    found = call.lake.complete_upload(
        call.place,
        call.parameters["uploadId"],
        [UploadedPart(part.number, part.etag, part.checksums) for part in parts],
        requirement_of(call),
        expected,
    )
    location = f"/{call.bucket}/{call.key}"
    if expected.headers or any(part.checksums for part in parts):
        kept = call.lake.data_headers(found, with_checksums=True)
    else:
        kept = {}
    document = documents.completed(
        location, call.bucket, call.key, found.checksum, checksums.as_elements(kept)
    )
    return of_document(document, headers={"ETag": etag_of(found.checksum), **found.headers})


def abort_upload(call: Call) -> Answer:
    """End the upload."""
    call.lake.abort_upload(call.place, call.parameters["uploadId"])
    return Answer(204)


def list_uploads(call: Call) -> Answer:
    """List the open uploads, by key and ID."""
    query = uploads_query(call.parameters)
    page = call.lake.uploads(
        call.bucket,
        PageQuery(
            amount=query.amount,
            prefix=_bytes(query.prefix),
            after=_bytes(query.key_marker),
            delimiter=_bytes(query.delimiter),
        ),
        query.upload_id_marker,
    )
    rows: list[UploadRow] = []
    prefixes: list[str] = []
    last: tuple[str, str] = ("", "")
    for item in page.results:
        if isinstance(item, CommonPrefix):
            prefixes.append(_text(item.path))
            last = (_text(item.path), "")
        else:
            rows.append(UploadRow(_key_of(item), item.id, item.created_ns))
            last = (_key_of(item), item.id)
    is_truncated = bool(page.next_after) and query.amount > 0
    markers = last if is_truncated else ("", "")
    found = UploadsPage(rows, prefixes, is_truncated, *markers)
    return of_document(documents.uploads(call.bucket, query, found, call.user))


def _key_of(upload: Upload) -> str:
    return f"{upload.ref}/{_text(upload.path)}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def upload_part(call: Call) -> Answer:
    """Store the request's content as a part."""
    number = _number(call)
    size_bytes = size_of(call)
    sending = call.lake.part(call.place, call.parameters["uploadId"], number)
    return stored_answer(call, send(call, size_bytes, sending))


def copy_part(call: Call) -> Answer:
    """Copy an object, or a range of it, to a part."""
    number = _number(call)
    _, source = source_of(call)
    header = call.header("x-amz-copy-source-range")
    wanted = None if header is None else ranges.copy_range(header, source.size_bytes)
    call.lake.check_write(call.place)
    call.content.discard()
    byte_range = None if wanted is None else (wanted.first, wanted.last)
    copied = call.lake.copy_part(
        call.place, call.parameters["uploadId"], number, source, byte_range
    )
    document = results.copied(copied.checksum, call.now_s * 10**9, copied.checksums, is_part=True)
    return of_document(document, copied.headers)


def list_parts(call: Call) -> Answer:
    """List the parts that were uploaded so far."""
    query = parts_query(call.parameters)
    found, has_more = call.lake.parts(
        call.place, query.upload_id, query.number_marker, query.amount
    )
    rows = [
        PartRow(part.number, part.last_modified_ns, part.checksum, part.size_bytes, part.checksums)
        for part in found
    ]
    return of_document(
        documents.parts(
            call.bucket, call.key, query, rows, is_truncated=has_more, owner_id=call.user
        )
    )


def _number(call: Call) -> int:
    text = call.parameters["partNumber"]
    if text.isascii() and text.isdigit() and 1 <= int(text[:19]) <= UPLOAD_PARTS_MAX:
        return int(text)
    raise S3Error(
        Code.INVALID_ARGUMENT,
        f"Part number must be an integer between 1 and {UPLOAD_PARTS_MAX}, inclusive",
        details={"ArgumentName": "partNumber", "ArgumentValue": text},
    )
