"""multipart/form-data (RFC 7578): the one parser of forms, for the API's uploads and S3's POST.

It does no I/O: `feed` takes what has arrived. PyPI's `multipart` (2.0.1) was tried instead. It
refuses forms that lakeFS takes, and the API with it: plain newlines, blanks behind a boundary, and
parts without headers. It changes filenames with percent signs, and it does not say at which byte a
content begins, from which the S3 gateway knows the size of the file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from graveler.errors import InvalidInputError

_CRLF = b"\r\n"
# One parameter of a header; a quoted value may hold semicolons and escaped quotes.
_PARAMETER = re.compile(
    rb";[ \t]*([^\s=;\"]+)[ \t]*=[ \t]*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;\"]*))", re.DOTALL
)
# Old browsers send whole paths as filenames: a backslash escapes nothing else.
_ESCAPED = re.compile(rb"\\([\"\\])")
# What follows a boundary may still become its end.
_UNDECIDED = re.compile(rb"(?:-|[ \t]*\r?)\Z")


class FormError(Exception):
    """The form is malformed."""


class FormCutOffError(FormError):
    """The form ends before its closing boundary."""


@dataclass(frozen=True, slots=True)
class PartHead:
    """The headers of a part, whose content begins at this byte of the form."""

    lines: tuple[bytes, ...]
    content_at: int

    def header(self, name: bytes) -> bytes:
        """Return the value of a header by its lower-case name; b"" if it is absent."""
        fields = (line.partition(b":") for line in reversed(self.lines))
        return next(
            (value.strip() for found, _, value in fields if found.strip().lower() == name), b""
        )

    def parameter(self, name: bytes) -> bytes:
        """Return a parameter of Content-Disposition; b"" if it is absent."""
        return _parameter(self.header(b"content-disposition"), name)


class _State(Enum):
    START = auto()
    PREAMBLE = auto()
    HEAD = auto()
    CONTENT = auto()
    END = auto()


class FormParser:
    """A push parser of one form.

    A strict one refuses what browsers never send: text before the first boundary, newlines other
    than CRLF, blanks behind a boundary, and a boundary inside a content.
    """

    def __init__(self, boundary: bytes, *, is_strict: bool = False) -> None:
        self._is_strict = is_strict
        self._dashes = b"--" + boundary
        self._state = _State.START
        # The first boundary shows which newlines the form has: some scripts write plain ones.
        self._use_newline(b"\n", _CRLF if is_strict else rb"\r?\n")
        self._kept = b""
        self._kept_at = 0  # the place of the kept bytes in the form
        self._skipped_bytes = 0
        self._has_boundary = False

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
        at: int | None = 0
        while at is not None and self._state is not _State.END:
            begin = at
            if self._state is _State.HEAD:
                head, at = self._take_head(window, begin)
                if head is not None:
                    yield head
            else:
                content, begin, at = self._take_content(window, begin)
                if content:
                    yield content
        if self._state is not _State.END:
            self._kept = window[begin:]
            self._kept_at += begin

    def finish(self) -> None:
        """Check that the form is whole.

        Raises:
            FormCutOffError: it is not.
        """
        if self._state is _State.END:
            return
        if not self._has_boundary:
            raise FormCutOffError("the boundary of Content-Type is not in the body")
        raise FormCutOffError("the body is cut off")

    def _use_newline(self, newline: bytes, in_pattern: bytes) -> None:
        self._newline = newline
        self._delimiter = newline + self._dashes
        blanks = b"" if self._is_strict else rb"[ \t]*"
        self._after_boundary = re.compile(rb"(--)|" + blanks + rb"(?=" + in_pattern + rb")")

    def _take_head(self, window: bytes, begin: int) -> tuple[PartHead | None, int | None]:
        """Return the head that begins there, and where its content begins; None for what is cut."""
        # A part without headers has only the newline of its boundary before its empty line.
        end = window.find(self._newline * 2, begin)
        if end < 0:
            return None, None
        content_at = end + 2 * len(self._newline)
        # An empty content may lack its newline: that of the empty line can begin the boundary.
        self._skipped_bytes = 0 if self._is_strict else len(self._newline)
        self._state = _State.CONTENT
        head = window[begin:end]
        lines = head.split(_CRLF) if self._is_strict else head.splitlines()
        found = PartHead(tuple(lines), self._kept_at + content_at)
        return found, content_at - self._skipped_bytes

    def _take_content(self, window: bytes, begin: int) -> tuple[bytes, int, int | None]:
        """Return the content, where its rest begins, and where its boundary ends, or None."""
        for start, end in self._boundaries(window, begin):
            self._has_boundary = True
            if found := self._after_boundary.match(window, end):
                content = self._content(window, begin, start)
                if found[1]:
                    self._state = _State.END
                    return content, found.end(), None
                if self._state is not _State.CONTENT:
                    newline = _CRLF if window.startswith(_CRLF, found.end()) else b"\n"
                    self._use_newline(newline, newline)
                self._state = _State.HEAD
                return content, found.end(), found.end()
            if _UNDECIDED.match(window, end):
                return self._content(window, begin, start), start, None
            if self._is_strict:
                raise FormError("The boundary occurs within the file.")
        rest = len(window) - self._begun_bytes(window, begin)
        return self._content(window, begin, rest), rest, None

    def _boundaries(self, window: bytes, begin: int) -> Iterator[tuple[int, int]]:
        """Yield where the boundary begins and ends, each time that a line begins with it."""
        if self._state is _State.START:
            if window.startswith(self._dashes):
                yield 0, len(self._dashes)
            if self._is_strict:
                return
        start = window.find(self._delimiter, begin)
        while start >= 0:
            yield start, start + len(self._delimiter)
            start = window.find(self._delimiter, start + 1)

    def _begun_bytes(self, window: bytes, begin: int) -> int:
        """Return how many bytes at the end may be the beginning of a boundary."""
        if self._state is _State.START and self._dashes.startswith(window):
            return len(window)
        if self._state is _State.START and self._is_strict:
            return 0
        first = self._delimiter[:1]
        at = window.find(first, max(begin, len(window) - len(self._delimiter) + 1))
        while at >= 0:
            if self._delimiter.startswith(window[at:]):
                return len(window) - at
            at = window.find(first, at + 1)
        return 0

    def _content(self, window: bytes, begin: int, end: int) -> bytes:
        if self._state is _State.CONTENT:
            if begin == 0 and end == len(window) and not self._skipped_bytes:
                return window
            content = window[begin + self._skipped_bytes : end]
            if end > begin:
                self._skipped_bytes = 0
            return content
        if end > begin:
            if self._is_strict:
                raise FormError("A part does not begin with the boundary.")
            self._state = _State.PREAMBLE
        return b""


@dataclass(frozen=True, slots=True)
class FormPart:
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
