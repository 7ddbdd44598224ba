"""multipart/form-data (RFC 7578): the one parser of forms, for the API's uploads and S3's POST.

It does no I/O: `feed` takes what has arrived. PyPI's `multipart` (2.0.1) cannot replace it. That
library refuses forms which lakeFS and the API take: plain newlines, blanks behind a boundary, parts
without headers. It takes text before the first boundary, which S3's POST refuses here, and decodes
percent signs in filenames. It does not report at which byte a content begins. From that, the S3
gateway knows the size of the file.
"""

import re
from collections.abc import Iterator
from enum import Enum, auto

from msgspec import Struct

from graveler.errors import InvalidInputError

_CRLF = b"\r\n"
# One parameter of a header; a quoted value may hold semicolons and escaped quotes.
_PARAMETER = re.compile(
    rb";[ \t]*([^\s=;\"]+)[ \t]*=[ \t]*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;\"]*))", re.DOTALL
)
# Old browsers send whole paths as filenames: a backslash escapes nothing else.
_ESCAPED = re.compile(rb"\\([\"\\])")


def _after_boundary(blanks: bytes, newline: bytes) -> re.Pattern[bytes]:
    """Return what follows a boundary, or may follow it once more data are here."""
    return re.compile(
        rb"(?P<closing>--)|%b(?=%b)|(?P<undecided>(?:-|%b\r?)\Z)" % (blanks, newline, blanks)
    )


_STRICT = _after_boundary(b"", rb"\r\n")
_FIRST = _after_boundary(rb"[ \t]*", rb"\r?\n")
_LENIENT = _after_boundary(rb"[ \t]*", rb"\r\n")
_PLAIN = _after_boundary(rb"[ \t]*", rb"\n")


class FormError(Exception):
    """The form is malformed or cut off."""


class PartHead(Struct, frozen=True):
    """The headers of a part, whose content begins at this byte of the form."""

    lines: list[bytes]
    content_at: int

    def header(self, name: bytes) -> bytes:
        """Return the value of a header by its lower-case name; b"" if it is absent."""
        fields = (line.partition(b":") for line in reversed(self.lines))
        return next((value.strip() for key, _, value in fields if key.strip().lower() == name), b"")

    def parameter(self, name: bytes) -> bytes:
        """Return a parameter of Content-Disposition; b"" if it is absent."""
        return _parameter(self.header(b"content-disposition"), name)


class _State(Enum):
    PREAMBLE = auto()
    HEAD = auto()
    CONTENT = auto()
    END = auto()


class FormParser:
    """A push parser of one form.

    A strict one refuses what browsers never send. That is text before the first boundary, plain
    newlines, and blanks behind a boundary. It is also a content with a line that begins with the
    boundary.
    """

    def __init__(self, boundary: bytes, *, is_strict: bool = False) -> None:
        self._is_strict = is_strict
        self._dashes = b"--" + boundary
        self._state = _State.PREAMBLE
        self._newline = _CRLF if is_strict else b"\n"
        self._after_boundary = _STRICT if is_strict else _FIRST
        # Each boundary follows a newline. The first one may lack it.
        self._kept = self._newline
        self._kept_at = -len(self._newline)  # the place of the kept bytes in the form
        self._lead_bytes = 0

    @property
    def is_over(self) -> bool:
        """Whether the closing boundary has arrived; what follows it is ignored."""
        return self._state is _State.END

    def feed(self, data: bytes) -> Iterator[PartHead | bytes]:
        """Yield the heads and the contents in the data; the contents may be cut anywhere.

        Raises:
            FormError: the form is malformed, which only a strict parser finds.
        """
        window = self._kept + data if self._kept else data
        at = 0
        while self._state is not _State.END:
            if self._state is _State.HEAD:
                # A part without headers has only the newline of its boundary before its empty line.
                end = window.find(self._newline * 2, at)
                if end < 0:
                    break
                yield self._head(window[at:end], self._kept_at + end + 2 * len(self._newline))
                at = end + 2 * len(self._newline) - self._lead_bytes
                self._state = _State.CONTENT
            else:
                stop, boundary = self._next_boundary(window, at)
                if content := self._content(window, at, stop):
                    yield content
                at = stop
                if boundary is None:
                    break
                at = boundary.end()
                self._begin_part(window, boundary)
        self._kept = window[at:]
        self._kept_at += at

    def finish(self) -> None:
        """Check that the form is whole.

        Raises:
            FormError: it is not.
        """
        if self._state is _State.PREAMBLE and self._dashes not in self._kept:
            raise FormError("the boundary of Content-Type is not in the body")
        if self._state is not _State.END:
            raise FormError("the body is cut off")

    def _begin_part(self, window: bytes, boundary: re.Match[bytes]) -> None:
        if self._state is _State.PREAMBLE and not self._is_strict:
            # The first boundary shows which newlines the form has: some scripts write plain ones.
            is_plain = window.startswith(b"\n", boundary.end())
            self._newline, self._after_boundary = (b"\n", _PLAIN) if is_plain else (_CRLF, _LENIENT)
        self._state = _State.END if boundary["closing"] else _State.HEAD

    def _head(self, head: bytes, content_at: int) -> PartHead:
        if self._is_strict:
            return PartHead(head.split(_CRLF), content_at)
        # An empty content may lack its newline: that of the empty line can begin the boundary.
        self._lead_bytes = len(self._newline)
        return PartHead(head.splitlines(), content_at)

    def _next_boundary(self, window: bytes, at: int) -> tuple[int, re.Match[bytes] | None]:
        """Return where the content ends, and the boundary there; None if more data may be one."""
        delimiter = self._newline + self._dashes
        start = window.find(delimiter, at)
        while start >= 0:
            if found := self._after_boundary.match(window, start + len(delimiter)):
                return start, None if found["undecided"] is not None else found
            if self._is_strict:
                raise FormError("a content has a line that begins with the boundary")
            start = window.find(delimiter, start + 1)
        begun = window.find(delimiter[:1], max(at, len(window) - len(delimiter) + 1))
        while begun >= 0 and not delimiter.startswith(window[begun:]):
            begun = window.find(delimiter[:1], begun + 1)
        return (len(window) if begun < 0 else begun), None

    def _content(self, window: bytes, at: int, stop: int) -> bytes:
        if at == stop:
            return b""
        if self._state is _State.PREAMBLE:
            if self._is_strict:
                raise FormError("a part does not begin with the boundary")
            return b""
        at, self._lead_bytes = at + self._lead_bytes, 0
        return window if stop - at == len(window) else window[at:stop]


class FormPart(Struct, frozen=True):
    """The content of one part, and its content type ("" if the part has none)."""

    content: bytes
    content_type: str


def is_form(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == "multipart/form-data"


def content_part(body: bytes, content_type: str) -> FormPart:
    """Return the part named `content`, the first of several; the others are ignored.

    Raises:
        InvalidInputError: the form is malformed or cut off, or has no such part.
    """
    boundary = _parameter(content_type.encode("latin-1", "replace"), b"boundary")
    if not boundary:
        raise InvalidInputError("Content-Type multipart/form-data has no boundary: add one")
    parser = FormParser(boundary)
    found: PartHead | None = None
    content = b""
    is_content = False
    # Read all parts: a body that is cut off may have lost some of the content.
    for item in parser.feed(body):
        if isinstance(item, bytes):
            content = item if is_content else content
        else:
            is_content = found is None and item.parameter(b"name") == b"content"
            found = item if is_content else found
    try:
        parser.finish()
    except FormError as error:
        raise InvalidInputError(f"multipart form: {error}") from error
    if found is None:
        raise InvalidInputError("multipart form: one part must be named `content`")
    return FormPart(content, found.header(b"content-type").decode("latin-1"))


def _parameter(header: bytes, name: bytes) -> bytes:
    """Return the value of a header's parameter; b"" if there is none of that name."""
    for found in _PARAMETER.finditer(header):
        if found[1].lower() == name:
            return found[3] if found[2] is None else _ESCAPED.sub(rb"\1", found[2])
    return b""
