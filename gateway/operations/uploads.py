"""Multipart uploads: beginning, completing, aborting and listing them."""

from gateway.lake.port import Upload
from gateway.operations.answers import Answer, etag_of, of_document
from gateway.operations.call import Call
from gateway.operations.writes import check_storage_class, description_of, requirement_of
from gateway.protocol import checksums
from gateway.protocol.documents import multipart
from gateway.protocol.documents.multipart import UploadRow, UploadsPage
from gateway.protocol.listings import uploads_query
from graveler.ports import ExpectedObject, UploadedPart
from graveler.staging.listing import CommonPrefix, PageQuery


def create_upload(call: Call) -> Answer:
    """Begin an upload."""
    check_storage_class(call)
    description = description_of(call)
    call.lake.check_write(call.place)
    call.content.discard()
    begun = call.lake.create_upload(call.place, description)
    document = multipart.upload_created(call.bucket, call.key, begun.id)
    return of_document(document, headers={**description.headers.checksum, **begun.headers})


def complete_upload(call: Call) -> Answer:
    """Make the uploaded parts the object; a repetition answers the same."""
    call.lake.check_write(call.place)
    expected = ExpectedObject(*checksums.expected(call.head))
    parts = multipart.parse_completion(call.document())
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
    document = multipart.completed(
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
    return of_document(multipart.uploads(call.bucket, query, found, call.user))


def _key_of(upload: Upload) -> str:
    return f"{upload.ref}/{_text(upload.path)}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
