"""multipart/form-data (RFC 7578) as uploads use it: the part named `content`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graveler.errors import InvalidInputError

# One parameter of a header; a quoted value may hold semicolons and escaped quotes.
_PARAMETER = re.compile(
    rb";[ \t]*([^\s=;\"]+)[ \t]*=[ \t]*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;\"]*))", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Part:
    """The content of one part, and its content type ("" if the part has none)."""

    content: bytes
    content_type: str


def is_form(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == "multipart/form-data"


def content_part(body: bytes, content_type: str) -> Part:
    """Return the part named `content`, the first of several; the others are ignored.

    Raises:
        InvalidInputError: the form is broken or cut off, or has no such part.
    """
    boundary = _parameter(content_type.encode("latin-1", "replace"), b"boundary")
    if not boundary:
        raise InvalidInputError("Content-Type multipart/form-data has no boundary: add one")
    found: Part | None = None
    # Read all parts: a body that is cut off may have lost some of the content.
    for head, start, end in _parts(body, boundary):
        if found is None:
            headers = _headers(head)
            if _parameter(headers.get(b"content-disposition", b""), b"name") == b"content":
                part_type = headers.get(b"content-type", b"").decode("latin-1")
                found = Part(body[start:end], part_type)
    if found is None:
        raise InvalidInputError("multipart form: one part must be named `content`")
    return found


def _parts(body: bytes, boundary: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield each part's headers, and the positions where its content begins and ends.

    Raises:
        InvalidInputError: the body is cut off, or does not have the boundary.
    """
    delimiter = re.escape(b"--" + boundary)
    # A preamble may come before the first delimiter, which begins a line.
    first = re.search(rb"(?:\A|\n)" + delimiter + rb"(?:(--)|[ \t]*(\r?\n))", body)
    if first is None:
        if re.search(rb"(?:\A|\n)" + delimiter, body):
            raise InvalidInputError("multipart form: the body is cut off")
        raise InvalidInputError("multipart form: the boundary of Content-Type is not in the body")
    if first[1]:
        return
    # Some scripts write plain newlines. The first line shows which newlines this form has.
    newline = first[2]
    next_delimiter = re.compile(newline + delimiter + rb"(?:(--)|[ \t]*(?=" + newline + rb"))")
    line_end = first.start(2)
    while True:
        head_end = body.find(newline * 2, line_end)
        found = next_delimiter.search(body, head_end + len(newline))
        if head_end < 0 or found is None:
            raise InvalidInputError("multipart form: the body is cut off")
        yield body[line_end:head_end], head_end + 2 * len(newline), found.start()
        if found[1]:
            return
        line_end = found.end()


def _headers(head: bytes) -> dict[bytes, bytes]:
    lines = (line.partition(b":") for line in head.splitlines())
    return {name.strip().lower(): value.strip() for name, _, value in lines}


def _parameter(header: bytes, name: bytes) -> bytes:
    """Return the value of a header's parameter; b"" if there is none of that name."""
    for found in _PARAMETER.finditer(header):
        if found[1].lower() == name:
            return found[3] if found[2] is None else re.sub(rb"\\(.)", rb"\1", found[2])
    return b""
