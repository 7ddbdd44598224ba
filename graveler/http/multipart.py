"""multipart/form-data (RFC 7578), as far as uploads use it: the one part named `content`."""

import re
from dataclasses import dataclass

from graveler.errors import InvalidInputError

_BOUNDARY = re.compile(r";[ \t]*boundary=(?:\"([^\"]{1,70})\"|([^\s;\"]{1,70}))", re.IGNORECASE)
_NAME = re.compile(rb";[ \t]*name=(?:\"([^\"]*)\"|([^\s;\"]+))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Part:
    """The content of one part and the type that the part states, "" if none."""

    content: bytes
    content_type: str


def is_form(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == "multipart/form-data"


def content_part(body: bytes, content_type: str) -> Part:
    """The first part, which is named `content`.

    Raises:
        InvalidInputError: the form is broken, or its first part has another name.
    """
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        raise InvalidInputError("Content-Type multipart/form-data without a boundary")
    delimiter = b"--" + (boundary[1] or boundary[2]).encode("latin-1", "replace")
    # A preamble may stand before the first delimiter, which begins a line.
    start = 0 if body.startswith(delimiter) else body.find(b"\r\n" + delimiter) + 2
    if start == 1:
        raise InvalidInputError("multipart form: the boundary of Content-Type is not in the body")
    line_end = body.find(b"\r\n", start)
    head_end = body.find(b"\r\n\r\n", line_end)
    end = body.find(b"\r\n" + delimiter, head_end + 2)
    if line_end < 0 or head_end < 0 or end < 0:
        raise InvalidInputError("multipart form: the first part is cut off")
    headers = _headers(body[line_end + 2 : head_end])
    name = _NAME.search(headers.get(b"content-disposition", b""))
    if name is None or (name[1] or name[2]) != b"content":
        raise InvalidInputError("multipart form: the first part must be named `content`")
    part_type = headers.get(b"content-type", b"").decode("latin-1")
    return Part(body[head_end + 4 : end], part_type)


def _headers(head: bytes) -> dict[bytes, bytes]:
    lines = (line.partition(b":") for line in head.split(b"\r\n"))
    return {name.strip().lower(): value.strip() for name, _, value in lines}
