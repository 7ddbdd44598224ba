"""The parts of multipart uploads: UploadPart, UploadPartCopy, ListParts."""

from gateway.operations.answers import Answer, of_document
from gateway.operations.call import Call
from gateway.operations.copies import source_of
from gateway.operations.writes import send, size_of, stored_answer
from gateway.protocol import ranges
from gateway.protocol.documents import answers as documents
from gateway.protocol.documents import multipart
from gateway.protocol.documents.multipart import PartRow
from gateway.protocol.errors import Code, S3Error
from gateway.protocol.listings import parts_query
from graveler.limits import UPLOAD_PARTS_MAX


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
    document = documents.copied(copied.checksum, call.now_s * 10**9, copied.checksums, is_part=True)
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
        multipart.parts(
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
