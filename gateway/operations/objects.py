"""Reading objects: GetObject and HeadObject."""

from collections.abc import Mapping

from gateway.lake.port import Object
from gateway.operations.answers import Answer, object_headers
from gateway.operations.call import Call
from gateway.operations.redirects import redirect_of
from gateway.operations.tags import tag_count_headers
from gateway.protocol import conditions, ranges
from gateway.protocol.conditions import Verdict
from gateway.protocol.errors import Code, S3Error

# Parameters of signed requests that replace headers of the answer.
_OVERRIDES: Mapping[str, str] = {
    "response-cache-control": "Cache-Control",
    "response-content-disposition": "Content-Disposition",
    "response-content-encoding": "Content-Encoding",
    "response-content-language": "Content-Language",
    "response-content-type": "Content-Type",
    "response-expires": "Expires",
}


def get_object(call: Call) -> Answer:
    """Stream an object, or a range of its bytes, or redirect the reader to them."""
    found, headers, not_modified = _described(call)
    if not_modified:
        return not_modified
    redirect = redirect_of(call, found)
    if redirect:
        return redirect
    return _content(call, found, headers)


def head_object(call: Call) -> Answer:
    """Describe an object as GetObject would."""
    found, headers, not_modified = _described(call)
    if not_modified:
        return not_modified
    wanted = _wanted(call, found)
    if wanted is None:
        return Answer(200, headers, length_bytes=found.size_bytes)
    first, last = wanted
    headers["Content-Range"] = f"bytes {first}-{last}/{found.size_bytes}"
    return Answer(206, headers, length_bytes=last - first + 1)


def _described(call: Call) -> tuple[Object, dict[str, str], Answer | None]:
    """Return the object, the headers of its answer, and the answer to a reader that has it.

    Raises:
        S3Error: a condition does not hold, or there is no object.
    """
    _check_version(call)
    found = call.lake.stat(call.place)
    headers = object_headers(found) | tag_count_headers(found.metadata)
    verdict = conditions.of_read(call.head, found.checksum, found.last_modified_ns)
    if verdict is Verdict.PRECONDITION_FAILED:
        raise S3Error(Code.PRECONDITION_FAILED)
    if verdict is Verdict.NOT_MODIFIED:
        kept = {name: headers[name] for name in ("ETag", "Last-Modified")}
        return found, headers, Answer(304, kept)
    overrides = {
        header: call.parameters[name]
        for name, header in _OVERRIDES.items()
        if name in call.parameters
    }
    return found, headers | _checked(overrides), None


def _checked(overrides: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in overrides.items():
        if not (value.isascii() and value.isprintable()):
            raise S3Error(Code.INVALID_ARGUMENT, f"{value!r} cannot be the header {name}")
    return overrides


def _check_version(call: Call) -> None:
    version = call.parameters.get("versionId", "null")
    if version != "null":
        raise S3Error(
            Code.NO_SUCH_VERSION, "Objects have no versions here: read them at a commit's ID"
        )


def _wanted(call: Call, found: Object) -> tuple[int, int] | None:
    """Return the first and last byte that the reader wants; None for all of the object."""
    number = call.parameters.get("partNumber")
    if number is not None:
        return _part(number, found)
    header = call.header("range")
    return None if header is None else ranges.parse(header, found.size_bytes)


def _part(number: str, found: Object) -> tuple[int, int] | None:
    """Return the bytes of a part: entries do not keep parts, so an object is its first part.

    Raises:
        S3Error: another part is wanted.
    """
    if not (number.isascii() and number.isdigit() and 1 <= int(number[:6]) <= 10_000):
        raise S3Error(
            Code.INVALID_ARGUMENT, "Part number must be an integer between 1 and 10000, inclusive"
        )
    if int(number) != 1:
        raise S3Error(Code.INVALID_PART, "The requested partnumber is not satisfiable", status=416)
    return (0, found.size_bytes - 1) if found.size_bytes else None


def _content(call: Call, found: Object, headers: dict[str, str]) -> Answer:
    wanted = _wanted(call, found)
    first, last = wanted or (0, found.size_bytes - 1)
    status = 200
    if wanted is not None:
        status = 206
        headers["Content-Range"] = f"bytes {first}-{last}/{found.size_bytes}"
    if last < first:
        return Answer(status, headers)
    reading = call.transfers.read(call.lake.reading(found), first, last)
    return Answer(status, headers, reading=reading, length_bytes=last - first + 1)
