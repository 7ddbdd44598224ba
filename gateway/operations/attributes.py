"""GetObjectAttributes."""

from gateway.operations.answers import Answer, of_document
from gateway.operations.call import Call
from gateway.protocol import dates
from gateway.protocol.documents.answers import Attributes, object_attributes
from gateway.protocol.errors import Code, S3Error

# Entries keep neither parts nor checksums, so these are left out, as S3 does for old objects.
_KNOWN = frozenset({"ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"})


def get_object_attributes(call: Call) -> Answer:
    """Return the attributes that `x-amz-object-attributes` names."""
    named = (call.header("x-amz-object-attributes") or "").split(",")
    wanted = {name.strip() for name in named if name.strip()}
    if not wanted or not wanted <= _KNOWN:
        raise S3Error(Code.INVALID_ARGUMENT, "Invalid attribute name specified.")
    found = call.lake.stat(call.place)
    document = object_attributes(
        Attributes(
            etag=found.checksum if "ETag" in wanted else None,
            storage_class="STANDARD" if "StorageClass" in wanted else None,
            size_bytes=found.size_bytes if "ObjectSize" in wanted else None,
        )
    )
    return of_document(document, headers={"Last-Modified": dates.http(found.last_modified_ns)})
