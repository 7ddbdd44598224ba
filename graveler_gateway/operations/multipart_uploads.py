"""Multipart uploads: creating, completing, aborting and listing them, and their parts."""

from graveler.limits import UPLOAD_PARTS_MAX
from graveler.ports import ExpectedObject, UploadedPart
from graveler.staging.listing import CommonPrefix, PageQuery
from graveler_gateway.lake.port import ListedUpload
from graveler_gateway.operations.copies import source_of
from graveler_gateway.operations.request import S3Request
from graveler_gateway.operations.responses import S3Response, etag_of, xml_response
from graveler_gateway.operations.writes import (
    check_storage_class,
    description_of,
    requirement_of,
    send,
    size_of,
    stored_response,
)
from graveler_gateway.protocol import checksums, ranges
from graveler_gateway.protocol.documents import multipart_uploads as documents
from graveler_gateway.protocol.documents import results
from graveler_gateway.protocol.documents.multipart_uploads import (
    PartElement,
    UploadElement,
    UploadsPage,
)
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.listings import parts_query, uploads_query


def create_upload(request: S3Request) -> S3Response:
    """Begin an upload."""
    check_storage_class(request)
    description = description_of(request)
    request.lake.check_write(request.place)
    request.content.discard()
    begun = request.lake.create_upload(request.place, description)
    document = documents.upload_created(request.bucket, request.key, begun.id)
    return xml_response(document, headers={**description.headers.checksum, **begun.headers})


def complete_upload(request: S3Request) -> S3Response:
    """Make the uploaded parts the object; a repetition answers the same."""
    request.lake.check_write(request.place)
    expected = ExpectedObject(*checksums.expected(request.head))
    parts = documents.parse_completion(request.document())
    found = request.lake.complete_upload(
        request.place,
        request.parameters["uploadId"],
        [UploadedPart(part.number, part.etag, part.checksums) for part in parts],
        requirement_of(request),
        expected,
    )
    location = f"/{request.bucket}/{request.key}"
    if expected.headers or any(part.checksums for part in parts):
        kept = request.lake.data_headers(found, with_checksums=True)
    else:
        kept = {}
    document = documents.completed(
        location, request.bucket, request.key, found.checksum, checksums.as_elements(kept)
    )
    return xml_response(document, headers={"ETag": etag_of(found.checksum), **found.headers})


def abort_upload(request: S3Request) -> S3Response:
    """End the upload."""
    request.lake.abort_upload(request.place, request.parameters["uploadId"])
    return S3Response(204)


def list_uploads(request: S3Request) -> S3Response:
    """List the open uploads, by key and ID."""
    query = uploads_query(request.parameters)
    page = request.lake.uploads(
        request.bucket,
        PageQuery(
            amount=query.amount,
            prefix=_bytes(query.prefix),
            after=_bytes(query.key_marker),
            delimiter=_bytes(query.delimiter),
        ),
        query.upload_id_marker,
    )
    rows: list[UploadElement] = []
    prefixes: list[str] = []
    last: tuple[str, str] = ("", "")
    for item in page.results:
        if isinstance(item, CommonPrefix):
            prefixes.append(_text(item.path))
            last = (_text(item.path), "")
        else:
            rows.append(UploadElement(_key_of(item), item.id, item.created_ns))
            last = (_key_of(item), item.id)
    is_truncated = bool(page.next_after) and query.amount > 0
    markers = last if is_truncated else ("", "")
    found = UploadsPage(rows, prefixes, is_truncated, *markers)
    return xml_response(documents.uploads(request.bucket, query, found, request.user))


def _key_of(upload: ListedUpload) -> str:
    return f"{upload.ref}/{_text(upload.path)}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def upload_part(request: S3Request) -> S3Response:
    """Store the request's content as a part."""
    number = _number(request)
    size_bytes = size_of(request)
    writing = request.lake.part(request.place, request.parameters["uploadId"], number)
    return stored_response(request, send(request, size_bytes, writing))


def copy_part(request: S3Request) -> S3Response:
    """Copy an object, or a range of it, to a part."""
    number = _number(request)
    _, source = source_of(request)
    header = request.header("x-amz-copy-source-range")
    wanted = None if header is None else ranges.copy_range(header, source.size_bytes)
    request.lake.check_write(request.place)
    request.content.discard()
    byte_range = None if wanted is None else (wanted.first, wanted.last)
    copied = request.lake.copy_part(
        request.place, request.parameters["uploadId"], number, source, byte_range
    )
    document = results.copied(
        copied.checksum, request.now_s * 10**9, copied.checksums, is_part=True
    )
    return xml_response(document, copied.headers)


def list_parts(request: S3Request) -> S3Response:
    """List the parts that were uploaded so far."""
    query = parts_query(request.parameters)
    found, has_more = request.lake.parts(
        request.place, query.upload_id, query.number_marker, query.amount
    )
    rows = [
        PartElement(
            part.number, part.last_modified_ns, part.checksum, part.size_bytes, part.checksums
        )
        for part in found
    ]
    return xml_response(
        documents.parts(
            request.bucket, request.key, query, rows, is_truncated=has_more, owner_id=request.user
        )
    )


def _number(request: S3Request) -> int:
    text = request.parameters["partNumber"]
    if text.isascii() and text.isdigit() and 1 <= int(text[:19]) <= UPLOAD_PARTS_MAX:
        return int(text)
    raise S3ResponseError(
        Code.INVALID_ARGUMENT,
        f"Part number must be an integer between 1 and {UPLOAD_PARTS_MAX}, inclusive",
        details={"ArgumentName": "partNumber", "ArgumentValue": text},
    )
