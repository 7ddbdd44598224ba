"""ListObjects and ListObjectsV2.

The first level of a repository is its branches, which look like folders. A prefix with a slash
lists the objects of a ref expression.
"""

from graveler.errors import BucketRefusedError, InvalidInputError, NotFoundError
from graveler.limits import PAGE_AMOUNT_MAX
from graveler.staging.listing import CommonPrefix, ListPage, PageQuery
from graveler_gateway.lake.port import Object
from graveler_gateway.operations.request import S3Request
from graveler_gateway.operations.responses import S3Response, xml_response
from graveler_gateway.protocol.documents import pages
from graveler_gateway.protocol.documents.pages import ObjectElement, ObjectsPage
from graveler_gateway.protocol.listings import ObjectsQuery, objects_query, token_of

_SLASH = b"/"
_EMPTY = ObjectsPage((), ())


def list_objects(request: S3Request) -> S3Response:
    """List branches or objects, in the version that the request asks for."""
    query = objects_query(request.parameters)
    ref, slash, _ = query.prefix.partition("/")
    page = _objects(request, query, ref) if slash else _branches(request, query)
    write = pages.objects_v1 if query.version == 1 else pages.objects_v2
    return xml_response(write(request.bucket, query, page, request.user))


def _branches(request: S3Request, query: ObjectsQuery) -> ObjectsPage:
    """Return a page of branches, in the order of their names with the slash."""
    request.lake.repository(request.bucket)
    if not query.prefix.isascii():
        return _EMPTY  # names of branches are ASCII, and the stores refuse surrogates
    names: list[str] = []
    after = ""
    while True:
        found = request.lake.branches(request.bucket, query.prefix, after, PAGE_AMOUNT_MAX)
        names += found.results
        if not found.has_more:
            break
        after = found.next_after
    # All of them: a hyphen sorts before the slash, so pages by name are not pages by key.
    folders = sorted(f"{name}/" for name in names)
    # A marker inside a branch, as of a listing of its objects, means that branch is over.
    marker = query.after
    rest = [folder for folder in folders if folder > marker and not marker.startswith(folder)]
    shown = rest[: query.amount]
    is_truncated = 0 < len(shown) < len(rest)
    # Even without a delimiter: a client finds no key on this page from which it could go on.
    following = _marker(query, shown[-1], is_needed=True) if is_truncated else ""
    return ObjectsPage((), shown, is_truncated, following)


def _objects(request: S3Request, query: ObjectsQuery, ref: str) -> ObjectsPage:
    before = f"{ref}/".encode("utf-8", "surrogateescape")
    after = query.after.encode("utf-8", "surrogateescape")
    if after > before and not after.startswith(before):
        request.lake.repository(request.bucket)
        return _EMPTY
    try:
        page = request.lake.objects(
            request.bucket,
            ref,
            PageQuery(
                amount=query.amount,
                prefix=query.prefix.encode("utf-8", "surrogateescape")[len(before) :],
                # A marker before the ref's first key leaves nothing out.
                after=after[len(before) :] if after > before else b"",
                delimiter=query.delimiter.encode("utf-8", "surrogateescape"),
            ),
        )
    except BucketRefusedError:
        raise  # there are objects: an empty page would be wrong
    except (NotFoundError, InvalidInputError):
        # A prefix that no key has. A repository that does not exist is an error, as on S3.
        request.lake.repository(request.bucket)
        return _EMPTY
    return _page(query, before, page)


def _page(query: ObjectsQuery, before: bytes, page: ListPage[Object]) -> ObjectsPage:
    rows: list[ObjectElement] = []
    prefixes: list[str] = []
    for item in page.results:
        key = (before + item.path).decode("utf-8", "surrogateescape")
        if isinstance(item, CommonPrefix):
            prefixes.append(key)
        else:
            rows.append(ObjectElement(key, item.last_modified_ns, item.checksum, item.size_bytes))
    if not page.next_after or not query.amount:
        return ObjectsPage(rows, prefixes)
    last = (before + page.next_after).decode("utf-8", "surrogateescape")
    return ObjectsPage(rows, prefixes, is_truncated=True, next_marker=_marker(query, last))


def _marker(query: ObjectsQuery, last: str, *, is_needed: bool = False) -> str:
    """Return the marker of the next page; S3's version 1 has one only with a delimiter."""
    if query.version == 2:
        return token_of(last.encode("utf-8", "surrogateescape"))
    return last if query.delimiter or is_needed else ""
