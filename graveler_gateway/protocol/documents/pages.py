"""ListBucketResult of both versions: pages of objects and common prefixes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec import Struct

from graveler_gateway.protocol import dates
from graveler_gateway.protocol.documents.markup import (
    Markup,
    branch,
    document,
    escaped,
    flag,
    given,
    leaf,
    url_encoded,
)
from graveler_gateway.protocol.documents.results import owner
from graveler_gateway.protocol.listings import ObjectsQuery


class ObjectElement(Struct, frozen=True, gc=False):
    """An object in a listing."""

    key: str
    last_modified_ns: int
    etag: str
    size_bytes: int
    storage_class: str = "STANDARD"


@dataclass(frozen=True, slots=True)
class ObjectsPage:
    """A page of a listing; `next_marker` is the token in version 2, and empty on the last page."""

    rows: Sequence[ObjectElement]
    common_prefixes: Sequence[str]
    is_truncated: bool = False
    next_marker: str = ""


def objects_v1(bucket: str, query: ObjectsQuery, page: ObjectsPage, owner_id: str) -> bytes:
    """Return ListBucketResult of ListObjects; each object has its owner.

    S3 writes NextMarker only with a delimiter: without one, clients take the last key.
    """
    return document(
        "ListBucketResult",
        [
            leaf("Name", bucket),
            leaf("Prefix", _encoded(query.prefix, query)),
            leaf("Marker", _encoded(query.marker, query)),
            given("NextMarker", _encoded(page.next_marker, query)),
            *_shape(query, page),
            *_contents(page.rows, query, owner(owner_id)),
            *common_prefixes(page.common_prefixes, is_url_encoded=query.url_encoded),
        ],
    )


def objects_v2(bucket: str, query: ObjectsQuery, page: ObjectsPage, owner_id: str) -> bytes:
    """Return ListBucketResult of ListObjectsV2; owners only if the query wants them."""
    rows_owner = owner(owner_id) if query.fetch_owner else Markup("")
    return document(
        "ListBucketResult",
        [
            leaf("Name", bucket),
            leaf("Prefix", _encoded(query.prefix, query)),
            given("StartAfter", _encoded(query.start_after, query)),
            Markup("")
            if query.continuation_token is None
            else leaf("ContinuationToken", query.continuation_token),
            given("NextContinuationToken", page.next_marker),
            leaf("KeyCount", len(page.rows) + len(page.common_prefixes)),
            *_shape(query, page),
            *_contents(page.rows, query, rows_owner),
            *common_prefixes(page.common_prefixes, is_url_encoded=query.url_encoded),
        ],
    )


def common_prefixes(prefixes: Iterable[str], *, is_url_encoded: bool) -> Iterable[Markup]:
    """Yield an element CommonPrefixes for each prefix."""
    for prefix in prefixes:
        text = url_encoded(prefix) if is_url_encoded else prefix
        yield branch("CommonPrefixes", [leaf("Prefix", text)])


def _shape(query: ObjectsQuery, page: ObjectsPage) -> Iterable[Markup]:
    yield leaf("MaxKeys", query.amount)
    yield given("Delimiter", _encoded(query.delimiter, query))
    yield given("EncodingType", "url" if query.url_encoded else "")
    yield flag("IsTruncated", value=page.is_truncated)


def _contents(
    rows: Iterable[ObjectElement], query: ObjectsQuery, row_owner: Markup
) -> Iterable[Markup]:
    """Yield the objects, each in one string: a page has a thousand of them."""
    # What is percent-encoded has no character that XML escapes.
    key_of = url_encoded if query.url_encoded else escaped
    for row in rows:
        yield Markup(
            f"<Contents><Key>{key_of(row.key)}</Key>"
            f"<LastModified>{dates.iso(row.last_modified_ns)}</LastModified>"
            f"<ETag>&quot;{escaped(row.etag)}&quot;</ETag>"
            f"<Size>{row.size_bytes}</Size>"
            f"<StorageClass>{escaped(row.storage_class)}</StorageClass>"
            f"{row_owner}</Contents>"
        )


def _encoded(text: str, query: ObjectsQuery) -> str:
    return url_encoded(text) if query.url_encoded else text
