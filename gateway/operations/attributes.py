"""GetObjectAttributes."""

from gateway.operations.answers import Answer, of_document
from gateway.operations.call import Call
from gateway.protocol import checksums, dates
from gateway.protocol.documents.answers import Attributes, object_attributes
from gateway.protocol.errors import Code, S3Error

_KNOWN = frozenset({"ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"})


def get_object_attributes(call: Call) -> Answer:
    """Return the attributes that `x-amz-object-attributes` names."""
    named = (call.header("x-amz-object-attributes") or "").split(",")
    wanted = {name.strip() for name in named if name.strip()}
    if not wanted or not wanted <= _KNOWN:
        raise S3Error(Code.INVALID_ARGUMENT, "Invalid attribute name specified.")
    found = call.lake.stat(call.place)
    kept = call.lake.data_headers(found, with_checksums=True) if "Checksum" in wanted else {}
    document = object_attributes(
        Attributes(
            etag=found.checksum if "ETag" in wanted else None,
            storage_class="STANDARD" if "StorageClass" in wanted else None,
            size_bytes=found.size_bytes if "ObjectSize" in wanted else None,
            parts_count=_parts_of(found.checksum) if "ObjectParts" in wanted else None,
            checksums=checksums.of_attributes(kept),
        )
    )
    return of_document(document, headers={"Last-Modified": dates.http(found.last_modified_ns)})


def _parts_of(etag: str) -> int | None:
    """Return the number of parts in the entity tag of an object that was made of parts."""
    _, hyphen, parts = etag.rpartition("-")
    return int(parts) if hyphen and parts.isdecimal() and len(parts) <= 5 else None
