"""Reading objects: GetObject, HeadObject and GetObjectAttributes."""

from collections.abc import Mapping

from graveler.http import untrusted
from graveler.user_metadata import s3_metadata
from graveler_gateway.lake.port import Object
from graveler_gateway.operations.redirects import redirect_response
from graveler_gateway.operations.request import S3Request
from graveler_gateway.operations.responses import S3Response, etag_of, xml_response
from graveler_gateway.operations.tagging import tag_count_headers, without_tags
from graveler_gateway.protocol import checksums, conditions, dates, metadata, ranges
from graveler_gateway.protocol.conditions import ConditionVerdict
from graveler_gateway.protocol.documents.results import Attributes, object_attributes
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.ranges import ByteRange
from graveler_gateway.transfer.store import DataChangedError, Reading

# A content of this size is read before the answer begins. It costs no second thread, and missing
# data become an error instead of a broken connection.
_SMALL_BYTES = 64 * 1024
_ATTRIBUTES = frozenset({"ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"})


def get_object(request: S3Request) -> S3Response:
    """Stream an object, or a range of its bytes, or redirect the reader to them."""
    found, overrides, not_modified = _found(request)
    return not_modified or redirect_response(request, found) or _content(request, found, overrides)


def head_object(request: S3Request) -> S3Response:
    """Describe an object as GetObject would."""
    found, overrides, not_modified = _found(request)
    if not_modified:
        return not_modified
    wanted = _wanted(request, found)
    kept = request.lake.data_headers(found, with_checksums=_wants_checksums(request, wanted))
    headers = _object_headers(found, kept) | overrides
    if wanted is None:
        return S3Response(200, headers, length_bytes=found.size_bytes)
    headers["Content-Range"] = wanted.content_range(found.size_bytes)
    return S3Response(206, headers, length_bytes=wanted.size_bytes)


def get_object_attributes(request: S3Request) -> S3Response:
    """Return the attributes that `x-amz-object-attributes` names."""
    named = (request.header("x-amz-object-attributes") or "").split(",")
    wanted = {name.strip() for name in named if name.strip()}
    if not wanted or not wanted <= _ATTRIBUTES:
        raise S3ResponseError(Code.INVALID_ARGUMENT, "Invalid attribute name specified.")
    found = request.lake.stat(request.place)
    kept = request.lake.data_headers(found, with_checksums=True) if "Checksum" in wanted else {}
    document = object_attributes(
        Attributes(
            etag=found.checksum if "ETag" in wanted else None,
            storage_class="STANDARD" if "StorageClass" in wanted else None,
            size_bytes=found.size_bytes if "ObjectSize" in wanted else None,
            parts_count=_parts_of(found.checksum) if "ObjectParts" in wanted else None,
            checksums=checksums.of_attributes(kept),
        )
    )
    return xml_response(document, headers={"Last-Modified": dates.http(found.last_modified_ns)})


def _found(request: S3Request) -> tuple[Object, dict[str, str], S3Response | None]:
    """Return the object, the headers that replace its own, and a 304 if the reader has it.

    Raises:
        S3ResponseError: a condition does not hold, or there is no object.
    """
    found = request.lake.stat(request.place)
    verdict = conditions.read_verdict(request.head, found.checksum, found.last_modified_ns)
    if verdict is ConditionVerdict.PRECONDITION_FAILED:
        raise S3ResponseError(Code.PRECONDITION_FAILED)
    if verdict is ConditionVerdict.NOT_MODIFIED:
        headers = _object_headers(found, {})
        return (
            found,
            {},
            S3Response(304, {name: headers[name] for name in ("ETag", "Last-Modified")}),
        )
    return found, metadata.response_overrides(request.parameters), None


def _wants_checksums(request: S3Request, wanted: ByteRange | None) -> bool:
    """Return whether the reader asks for checksums, which S3 has of all bytes only."""
    return wanted is None and (request.header(checksums.MODE) or "").upper() == "ENABLED"


def _wanted(request: S3Request, found: Object) -> ByteRange | None:
    """Return the bytes that the reader wants; None for all of the object."""
    number = request.parameters.get("partNumber")
    if number is not None:
        return _part(number, found)
    return ranges.read_range(request.header("range"), found.size_bytes)


def _part(number: str, found: Object) -> ByteRange | None:
    """Return the bytes of a part: entries do not keep parts, so an object is its first part.

    Raises:
        S3ResponseError: another part is wanted.
    """
    if not (number.isascii() and number.isdigit() and 1 <= int(number[:6]) <= 10_000):
        raise S3ResponseError(
            Code.INVALID_ARGUMENT, "Part number must be an integer between 1 and 10000, inclusive"
        )
    if int(number) != 1:
        raise S3ResponseError(Code.INVALID_PART_NUMBER)
    return ByteRange(0, found.size_bytes - 1) if found.size_bytes else None


def _content(request: S3Request, found: Object, overrides: Mapping[str, str]) -> S3Response:
    wanted = _wanted(request, found)
    with_checksums = _wants_checksums(request, wanted)
    if not found.size_bytes:
        kept = request.lake.data_headers(found, with_checksums=with_checksums)
        return S3Response(200, {**_object_headers(found, kept), **overrides})
    sent = wanted or ByteRange(0, found.size_bytes - 1)

    def read(found: Object) -> Reading:
        request_of = request.lake.reading(found, with_checksums=with_checksums)
        return request.transfers.read(request_of, sent.first, sent.last)

    try:
        reading = read(found)
    except DataChangedError:
        found = request.lake.verified(found)
        reading = read(found)
    status, headers = 200, {**_object_headers(found, reading.headers), **overrides}
    if wanted is not None:
        status = 206
        headers["Content-Range"] = wanted.content_range(found.size_bytes)
    if sent.size_bytes <= _SMALL_BYTES:
        with reading:
            return S3Response(status, headers, b"".join(reading.pieces()))
    return S3Response(status, headers, reading=reading, length_bytes=sent.size_bytes)


def _object_headers(found: Object, kept: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that describe an object in answers to GET and HEAD.

    kept: those that S3 keeps with the data.
    """
    return {
        **{name if name.startswith("x-") else name.title(): kept[name] for name in kept},
        "ETag": etag_of(found.checksum),
        "Last-Modified": dates.http(found.last_modified_ns),
        "Content-Type": _header_text(found.content_type) or metadata.DEFAULT_CONTENT_TYPE,
        "Accept-Ranges": "bytes",
        **untrusted.HEADERS,  # the web page may have the same origin
        **metadata.metadata_headers(s3_metadata(without_tags(found.metadata))),
        **tag_count_headers(found.metadata),
    }


def _header_text(text: str) -> str:
    """Return the text without characters that no header can carry: the API takes any text."""
    return "".join(letter for letter in text if " " <= letter <= "~").strip()[:1024]


def _parts_of(etag: str) -> int | None:
    """Return the number of parts in the entity tag of an object that was made of parts."""
    _, hyphen, parts = etag.rpartition("-")
    return int(parts) if hyphen and parts.isdecimal() and len(parts) <= 5 else None
