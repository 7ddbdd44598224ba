"""The content of objects: whole, a range, headers only, or a redirect to the object store."""

from graveler.access.actions import Action
from graveler.branches.data import check_data, data_headers, read_content
from graveler.branches.views import ObjectStat
from graveler.http import byte_range, object_headers
from graveler.http.write_conditions import non_empty_header
from graveler.limits import LAMBDA_PAYLOAD_BYTES_MAX
from graveler.model import Entry
from graveler.operations import objects
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import Needs
from graveler_functions.api.contract import BYTES, PATH, PRESIGN, header
from graveler_functions.api.presigning import presigned_get
from graveler_functions.api.request import Request
from graveler_functions.api.routing import Operations, checked
from graveler_functions.http import answers
from graveler_functions.http.answers import ApiAnswer

operations = Operations()

_OBJECT = "/repositories/<repository>/refs/<ref>/objects"

# Base64 stores three bytes in four characters; 64 KiB remain for the headers.
CONTENT_BYTES_MAX = (LAMBDA_PAYLOAD_BYTES_MAX - 64 * 1024) // 4 * 3


@operations.add(
    "GET",
    _OBJECT,
    "getObject",
    parameters=(PATH, PRESIGN, header("If-None-Match"), header("Range"), header("If-Range")),
    answers={200: BYTES, 206: BYTES, 302: None, 304: None},
    errors=(410, 416),
)
@checked(Needs.on(Action.READ_OBJECT, named.OBJECT))
def get_object(request: Request) -> ApiAnswer:
    found = objects.stat(
        request.engine, request.repository, request.name("ref"), request.query.path()
    )
    entry = found.entry
    if object_headers.is_unmodified(non_empty_header(request.headers, "If-None-Match"), entry):
        return answers.empty(304, {"ETag": object_headers.etag_of(entry)})
    if request.query.flag("presign"):
        return _redirect(request, found)
    wanted = _wanted_range(request, entry)
    first, last = wanted or (0, entry.size_bytes - 1)
    if last - first + 1 > CONTENT_BYTES_MAX:
        # The client sends its Range header to the object store again.
        return _redirect(request, found)
    stored = read_content(request.engine, found, wanted)
    headers = object_headers.of_object(entry, found.path, stored.headers)
    if wanted:
        headers["Content-Range"] = _content_range(wanted, entry)
    return answers.of_bytes(stored.content, 206 if wanted else 200, headers)


@operations.add(
    "HEAD",
    _OBJECT,
    "headObject",
    parameters=(PATH, header("Range"), header("If-Range")),
    answers={200: None, 206: None},
    errors=(410, 416),
)
@checked(Needs.on(Action.READ_OBJECT, named.OBJECT))
def head_object(request: Request) -> ApiAnswer:
    found = objects.stat(
        request.engine, request.repository, request.name("ref"), request.query.path()
    )
    entry = found.entry
    wanted = _wanted_range(request, entry)
    first, last = wanted or (0, entry.size_bytes - 1)
    kept = data_headers(request.engine, found)
    headers = object_headers.of_object(entry, found.path, kept)
    headers["Content-Length"] = str(last - first + 1)
    if wanted:
        headers["Content-Range"] = _content_range(wanted, entry)
    return answers.empty(206 if wanted else 200, headers)


def _wanted_range(request: Request, entry: Entry) -> tuple[int, int] | None:
    header = non_empty_header(request.headers, "Range")
    if header is None or not object_headers.honors_range(request.header("if-range"), entry):
        return None
    return byte_range.parse(header, entry.size_bytes)


def _content_range(wanted: tuple[int, int], entry: Entry) -> str:
    return f"bytes {wanted[0]}-{wanted[1]}/{entry.size_bytes}"


def _redirect(request: Request, found: ObjectStat) -> ApiAnswer:
    # Check first. For collected data, the object store would answer 404, not 410. And it would send
    # data that replaced imported data.
    check_data(request.engine, found)
    # The URL is a credential: no cache may store it.
    headers = {"Location": presigned_get(request, found), "Cache-Control": "no-store"}
    return answers.empty(302, headers)
