"""Tags of objects: GetObjectTagging, PutObjectTagging, DeleteObjectTagging.

Tags are user metadata under a name that no header can carry. So a commit holds them, and merges
and diffs see their changes. lakeFS has no tags. The value is a query string, as in `x-amz-tagging`.
"""

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

from graveler_gateway.operations.request import S3Request
from graveler_gateway.operations.responses import S3Response, xml_response
from graveler_gateway.protocol.documents import tagging as documents
from graveler_gateway.protocol.errors import Code, S3ResponseError

_NAME = "::graveler::tagging"


def get_object_tagging(request: S3Request) -> S3Response:
    return xml_response(documents.tagging(tags_of(request.lake.stat(request.place).metadata)))


def put_object_tagging(request: S3Request) -> S3Response:
    request.lake.stat(request.place)
    request.lake.check_write(request.place)
    tags = documents.parse_tagging(request.document())
    request.lake.describe(request.place, lambda metadata: with_tags(metadata, tags))
    return S3Response()


def delete_object_tagging(request: S3Request) -> S3Response:
    request.lake.stat(request.place)
    request.lake.describe(request.place, without_tags)
    return S3Response(204)


def tags_of(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the object's tags."""
    return dict(parse_qsl(metadata.get(_NAME, ""), keep_blank_values=True))


def with_tags(metadata: Mapping[str, str], tags: Mapping[str, str]) -> dict[str, str]:
    """Return the metadata with these tags in place of the former."""
    return without_tags(metadata) | ({_NAME: urlencode(tags)} if tags else {})


def without_tags(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the metadata without the tags."""
    return {name: value for name, value in metadata.items() if name != _NAME}


def tags_of_header(header: str | None) -> dict[str, str]:
    """Return the tags of `x-amz-tagging`.

    Raises:
        S3ResponseError: they are malformed, too many or too long.
    """
    if not header:
        return {}
    try:
        pairs = parse_qsl(header, keep_blank_values=True, errors="strict")
    except ValueError as error:
        raise S3ResponseError(
            Code.INVALID_ARGUMENT,
            "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query "
            "parameters without tag name duplicates.",
        ) from error
    return documents.checked(pairs)


def tag_count_headers(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the header that counts the object's tags; none for no tags."""
    tags = tags_of(metadata)
    return {"x-amz-tagging-count": str(len(tags))} if tags else {}
