"""The head of a request, as httptools reports it: the parser of Node.js, which is strict.

The length of a body is checked here once more. If the server and a proxy disagreed about the end
of a request, one client could write another's request.
"""

import re
from dataclasses import dataclass

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

from graveler_gateway.protocol.head import RequestHead

HEAD_BYTES_MAX = 64 * 1024
END = b"\r\n\r\n"
# This much of a body arrives before its request is served.
AHEAD_BYTES = 64 * 1024

# Names and values are objects; very many short ones would take much time and memory.
_LINES_MAX = 1000
_LENGTH_DIGITS_MAX = 18
_CHUNKED = "chunked"
_BODY_HEADERS = frozenset({"content-length", "transfer-encoding"})
_VERSIONS = frozenset({"1.0", "1.1"})
_AUTHORITY = re.compile(rb"^[^/?#]*")
_BARE_NEWLINE = re.compile(rb"(?<!\r)\n")


class HeadRefusedError(Exception):
    """The connection gets this answer, and ends: the next request's start is unknown."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class HttpHead:
    """A request's head, and what it says about the connection.

    length_bytes: of the body; None if it comes in chunks.
    has_length: whether the head has a Content-Length.
    expects_continue: whether the client waits for 100 Continue before it sends the body.
    """

    head: RequestHead
    version: str
    length_bytes: int | None
    has_length: bool
    keeps_alive: bool
    expects_continue: bool

    @property
    def defers_continue(self) -> bool:
        """Whether the first read of the body sends 100 Continue, after all checks.

        Only PUT bodies are large, and only their heads name the sender.
        """
        return self.expects_continue and self.head.method == "PUT"

    @property
    def ahead_bytes(self) -> int:
        """How much of the body arrives before the request is served."""
        return 0 if self.defers_continue else min(self.length_bytes or 0, AHEAD_BYTES)


def check_begun(data: bytes) -> None:
    """Reject early what cannot be an HTTP head.

    Raises:
        HeadRefusedError: the data cannot begin a head, or are too long.
    """
    if len(data) > HEAD_BYTES_MAX:
        raise HeadRefusedError(431, "the request's headers are too long")
    if not data[:1].isalpha() or _BARE_NEWLINE.search(data):
        raise HeadRefusedError(400, "malformed request: it is not HTTP/1.1")


def parse_head(data: bytes) -> HttpHead:
    """Return the request's head; the data are all of it, with the empty line.

    Raises:
        HeadRefusedError: it is not an HTTP/1.x request, or is ambiguous.
    """
    if len(data) > HEAD_BYTES_MAX or data.count(b"\n") > _LINES_MAX:
        raise HeadRefusedError(431, "the request's headers are too long, or too many")
    parsed = _Parsed()
    parser = HttpRequestParser(parsed)
    try:
        parser.feed_data(data)
    except HttpParserUpgrade:
        pass  # ignore Upgrade
    except HttpParserError as error:
        raise HeadRefusedError(400, f"malformed request: {error}") from error
    if not parsed.is_complete:
        raise HeadRefusedError(400, "malformed request")
    version = parser.get_http_version()
    if version not in _VERSIONS:
        status = 505 if version > "1.1" else 400
        raise HeadRefusedError(status, f"HTTP/{version} is not served: send HTTP/1.1")
    path, _, query = _target_of(parsed.url).partition(b"?")
    head = RequestHead(
        parser.get_method().decode("latin-1"),
        path.decode("latin-1"),
        query.decode("latin-1"),
        tuple(parsed.headers),
    )
    names = [name for name, _ in parsed.headers]
    # RFC 9112, section 3.2: a proxy could send the request elsewhere.
    if (hosts := names.count("host")) > 1 or (not hosts and version == "1.1"):
        raise HeadRefusedError(400, "malformed request: send one Host")
    length_bytes = _length_of(head, version) if _BODY_HEADERS.intersection(names) else 0
    return HttpHead(
        head,
        version,
        length_bytes,
        length_bytes is not None and head.header("content-length") is not None,
        keeps_alive=_keeps_alive(head, version),
        expects_continue=version == "1.1"
        and (head.header("expect") or "").lower() == "100-continue",
    )


class _Parsed:
    """Collects what httptools reports."""

    def __init__(self) -> None:
        self.url = b""
        self.headers: list[tuple[str, str]] = []
        self.is_complete = False

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.decode("latin-1").lower(), value.decode("latin-1").strip(" \t")))

    def on_headers_complete(self) -> None:
        self.is_complete = True


def _target_of(url: bytes) -> bytes:
    """Return the path and query: a proxy's client sends a whole URL."""
    if url.startswith(b"/"):
        return url
    scheme, separator, rest = url.partition(b"://")
    if separator and scheme.lower() in {b"http", b"https"}:
        path = _AUTHORITY.sub(b"", rest, count=1)
        return path if path.startswith(b"/") else b"/" + path
    if url == b"*":
        return url
    raise HeadRefusedError(400, "malformed request: its target is no path")


def _length_of(head: RequestHead, version: str) -> int | None:
    """Return the length of the body; None if it comes in chunks.

    Raises:
        HeadRefusedError: the body's length is conflicting or malformed.
    """
    codings = [value for name, value in head.headers if name == "transfer-encoding"]
    lengths = [value for name, value in head.headers if name == "content-length"]
    if codings:
        if lengths or version != "1.1":
            raise HeadRefusedError(400, "malformed request: two lengths of one body")
        if len(codings) != 1 or codings[0].lower() != _CHUNKED:
            raise HeadRefusedError(501, f"Transfer-Encoding {', '.join(codings)!r}: send chunked")
        return None
    if len(lengths) != 1:
        raise HeadRefusedError(400, "malformed request: several Content-Length")
    digits = lengths[0]
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _LENGTH_DIGITS_MAX):
        raise HeadRefusedError(400, "malformed request: Content-Length is no number")
    return int(digits)


def _keeps_alive(head: RequestHead, version: str) -> bool:
    options = {option.strip().lower() for option in (head.header("connection") or "").split(",")}
    return "close" not in options and (version == "1.1" or "keep-alive" in options)
