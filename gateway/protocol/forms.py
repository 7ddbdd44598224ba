"""Forms of POST object (multipart/form-data): fields, then the file, as they arrive.

https://docs.aws.amazon.com/AmazonS3/latest/API/RESTObjectPOST.html
"""

import re
from collections.abc import Mapping
from enum import Enum, auto

from gateway.protocol.errors import Code, S3Error

MAX_FIELDS = 100
MAX_FIELDS_BYTES = 20 * 1024

_LINE_END = b"\r\n"

_CONTENT_TYPE = re.compile(
    r"""multipart/form-data[ \t]*;(?:.*;)?[ \t]*boundary=(?:"([^"\\]{1,70})"|([^\s";,]{1,70})).*""",
    re.IGNORECASE,
)
_PARAMETER = r"""[ \t]*;[ \t]*([a-z*]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s";]*))"""
_PARAMETERS = re.compile(_PARAMETER, re.IGNORECASE)
_DISPOSITION = re.compile(
    rf"content-disposition[ \t]*:[ \t]*form-data((?:{_PARAMETER})*)[ \t]*", re.IGNORECASE
)


class _State(Enum):
    FIELDS = auto()
    FILE = auto()
    END = auto()


class FormParser:
    """A push parser of one form, whose field "file" is the content.

    Fields after the file are ignored, as in S3.
    """

    def __init__(self, content_type: str) -> None:
        """Read the boundary from the request's Content-Type."""
        match = _CONTENT_TYPE.fullmatch(content_type)
        boundary = (match[1] or match[2]) if match else ""
        if not boundary.isascii() or not boundary:
            raise _malformed("The Content-Type is not multipart/form-data with a boundary.")
        self._delimiter = b"\r\n--" + boundary.encode()
        self._state = _State.FIELDS
        # A form begins with its boundary, every other one is on a new line.
        self._kept = _LINE_END
        self._taken_bytes = 0
        self._fields: dict[str, str] = {}

    @property
    def fields(self) -> Mapping[str, str] | None:
        """The fields by name in lower case; None before the file begins.

        "${filename}" in the key is replaced.
        """
        return None if self._state is _State.FIELDS else self._fields

    @property
    def bytes_before_file(self) -> int:
        """How many bytes of the form come before the file's content, once the file begins."""
        return self._taken_bytes - len(_LINE_END)

    @property
    def bytes_after_file(self) -> int:
        """How many bytes follow the content if the file is last, and the form ends with a line."""
        return len(self._delimiter) + len(b"--") + len(_LINE_END)

    def feed(self, data: bytes) -> bytes:
        """Return the content of the file in the data; it may be empty."""
        window = self._kept + data if self._kept else data
        self._kept = b""
        if self._state is _State.FIELDS:
            window = self._take_fields(window)
        if self._state is _State.FILE:
            return self._take_content(window)
        self._keep(window)
        return b""

    def finish(self) -> None:
        """Refuse a form that lacks its closing boundary."""
        if self._state is not _State.END:
            raise S3Error(Code.INCOMPLETE_BODY, "The form ends before its closing boundary.")
        if self._kept.startswith(b"--"):
            return
        if self._kept and not self._kept.startswith((b"\r", b"-")):
            raise _malformed("The boundary occurs within the file.")
        if self._delimiter + b"--" not in self._kept:
            raise S3Error(Code.INCOMPLETE_BODY, "The form ends before its closing boundary.")

    def _take_fields(self, window: bytes) -> bytes:
        """Take all complete fields; return what follows them."""
        start = 0
        while self._state is _State.FIELDS:
            taken = self._take_part(window, start)
            if taken is None:
                break
            self._taken_bytes += taken - start
            start = taken
            if self._taken_bytes > MAX_FIELDS_BYTES or len(self._fields) > MAX_FIELDS:
                raise _too_large()
        return window[start:]

    def _take_part(self, window: bytes, start: int) -> int | None:
        """Take the part that begins at start; return where it ends, None if that has not come."""
        lead, closing = self._delimiter + b"\r\n", self._delimiter + b"--"
        given = window[start : start + len(lead)]
        if given == closing:
            raise S3Error(
                Code.INVALID_ARGUMENT, "POST requires exactly one file upload per request."
            )
        if not lead.startswith(given) and not closing.startswith(given):
            raise _malformed("A part does not begin with the boundary.")
        # A part without headers has only the line's end of its boundary before its empty line.
        headers_end = window.find(b"\r\n\r\n", start + len(self._delimiter))
        if headers_end < 0:
            return None
        name, filename = _parse_headers(window[start + len(lead) : headers_end])
        content_start = headers_end + 4
        if name == "file":
            self._begin_file(filename)
            return content_start
        content_end = window.find(self._delimiter, content_start)
        if content_end < 0:
            return None
        if name in self._fields:
            raise _malformed(f"The field {name} is there twice.")
        self._fields[name] = _text(window[content_start:content_end])
        return content_end

    def _begin_file(self, filename: str) -> None:
        self._state = _State.FILE
        last_segment = re.split(r"[/\\]", filename)[-1]
        if "key" in self._fields:
            self._fields["key"] = self._fields["key"].replace("${filename}", last_segment)

    def _take_content(self, window: bytes) -> bytes:
        end = window.find(self._delimiter)
        if end >= 0:
            self._state = _State.END
            self._keep(window[end + len(self._delimiter) :])
            return window[:end]
        held = self._begun_delimiter(window)
        if not held:
            return window
        self._kept = window[-held:]
        return window[:-held]

    def _begun_delimiter(self, window: bytes) -> int:
        """Return how many bytes at the end may be the beginning of a delimiter."""
        at = window.find(b"\r", max(0, len(window) - len(self._delimiter) + 1))
        while at >= 0:
            if self._delimiter.startswith(window[at:]):
                return len(window) - at
            at = window.find(b"\r", at + 1)
        return 0

    def _keep(self, window: bytes) -> None:
        if len(window) > MAX_FIELDS_BYTES:
            raise _too_large()
        self._kept = window


def _parse_headers(block: bytes) -> tuple[str, str]:
    """Return the name (in lower case) and the filename of a part."""
    for line in _text(block).split("\r\n"):
        if match := _DISPOSITION.fullmatch(line):
            parameters = {
                name.lower(): re.sub(r'\\(["\\])', r"\1", quoted) or plain
                for name, quoted, plain in _PARAMETERS.findall(match[1])
            }
            if name := parameters.get("name", "").lower():
                return name, parameters.get("filename", "")
    raise _malformed("A part has no name.")


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise _malformed("A field is not UTF-8.") from None


def _malformed(message: str) -> S3Error:
    return S3Error(Code.MALFORMED_POST, f"{Code.MALFORMED_POST.message} {message}")


def _too_large() -> S3Error:
    return _malformed(f"More than {MAX_FIELDS} fields or {MAX_FIELDS_BYTES} bytes of fields.")
