"""Forms of POST object (multipart/form-data): fields, then the file, as they arrive.

https://docs.aws.amazon.com/AmazonS3/latest/API/RESTObjectPOST.html
"""

import re
from collections.abc import Mapping
from enum import Enum, auto

from graveler.http import multipart
from graveler.http.multipart import FormError, PartHead
from graveler_gateway.protocol.errors import Code, S3ResponseError

MAX_FIELDS = 100
MAX_FIELDS_BYTES = 20 * 1024

_CONTENT_TYPE = re.compile(
    r"""multipart/form-data[ \t]*;(?:.*;)?[ \t]*boundary=(?:"([^"\\]{1,70})"|([^\s";,]{1,70})).*""",
    re.IGNORECASE,
)
_DISPOSITION = re.compile(
    rb"form-data(?:[ \t]*;[ \t]*[a-z*]+=(?:\"(?:[^\"\\]|\\.)*\"|[^\s\";]*))*", re.IGNORECASE
)


class _State(Enum):
    FIELDS = auto()
    FILE = auto()
    REST = auto()


class PostFormParser:
    """A push parser of one form, whose field "file" is the content.

    Fields after the file are ignored, as in S3.
    """

    def __init__(self, content_type: str) -> None:
        """Read the boundary from the request's Content-Type."""
        match = _CONTENT_TYPE.fullmatch(content_type)
        boundary = (match[1] or match[2]) if match else ""
        if not boundary.isascii() or not boundary:
            raise _malformed("The Content-Type is not multipart/form-data with a boundary.")
        self._parser = multipart.FormParser(boundary.encode(), is_strict=True)
        # Browsers end a form with its closing boundary and a newline.
        self.bytes_after_file = len(f"\r\n--{boundary}--\r\n")
        self.bytes_before_file = 0  # once the file begins
        self._state = _State.FIELDS
        self._fields: dict[str, str] = {}
        self._name = ""
        self._value = b""
        self._received_bytes = 0
        self._file_bytes = 0

    @property
    def fields(self) -> Mapping[str, str] | None:
        """The fields by name in lower case; None before the file begins.

        "${filename}" in the key is replaced.
        """
        return None if self._state is _State.FIELDS else self._fields

    def feed(self, data: bytes) -> bytes:
        """Return the content of the file in the data; it may be empty."""
        self._received_bytes += len(data)
        content = b""
        try:
            for item in self._parser.feed(data):
                if isinstance(item, PartHead):
                    self._begin_part(item)
                elif self._state is _State.FILE:
                    content = item  # one piece at most: feed cuts nowhere else
                elif self._state is _State.FIELDS:
                    self._value += item
        except FormError as error:
            raise _malformed(f"{error}.".capitalize()) from error
        self._file_bytes += len(content)
        self._check_size()
        return content

    def finish(self) -> None:
        """Refuse a form that lacks its closing boundary."""
        try:
            self._parser.finish()
        except FormError as error:
            message = "The form ends before its closing boundary."
            raise S3ResponseError(Code.INCOMPLETE_BODY, message) from error

    def _begin_part(self, head: PartHead) -> None:
        if self._state is not _State.FIELDS:
            self._state = _State.REST
            return
        self._end_field()
        self._name = _text(head.parameter(b"name")).lower()
        if not self._name or not _DISPOSITION.fullmatch(head.header(b"content-disposition")):
            raise _malformed("A part has no name.")
        if self._name == "file":
            self._state = _State.FILE
            self.bytes_before_file = head.content_at
            last_segment = re.split(r"[/\\]", _text(head.parameter(b"filename")))[-1]
            if "key" in self._fields:
                self._fields["key"] = self._fields["key"].replace("${filename}", last_segment)
        elif self._name in self._fields:
            raise _malformed(f"The field {self._name} is there twice.")

    def _end_field(self) -> None:
        if self._name:
            self._fields[self._name] = _text(self._value)
            self._value = b""
        if len(self._fields) > MAX_FIELDS:
            raise _too_large()

    def _check_size(self) -> None:
        """Refuse fields that are too large, before the file or after it."""
        if self._state is _State.FIELDS:
            if self._received_bytes > MAX_FIELDS_BYTES:
                raise _too_large()
            if self._parser.is_over:
                message = "POST requires exactly one file upload per request."
                raise S3ResponseError(Code.INVALID_ARGUMENT, message)
        elif self.bytes_before_file > MAX_FIELDS_BYTES:
            raise _too_large()
        else:
            after_bytes = self._received_bytes - self.bytes_before_file - self._file_bytes
            if after_bytes > MAX_FIELDS_BYTES:
                raise _too_large()


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise _malformed("A field is not UTF-8.") from None


def _malformed(message: str) -> S3ResponseError:
    return S3ResponseError(Code.MALFORMED_POST, f"{Code.MALFORMED_POST.message} {message}")


def _too_large() -> S3ResponseError:
    return _malformed(f"More than {MAX_FIELDS} fields or {MAX_FIELDS_BYTES} bytes of fields.")
