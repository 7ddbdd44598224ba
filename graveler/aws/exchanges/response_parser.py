"""Parses answers with httptools, which has the strict parser of Node.js."""

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

# Stores send a few hundred bytes.
_HEAD_BYTES_MAX = 64 * 1024


class MalformedAnswerError(OSError):
    """The server sent something else than an answer of HTTP/1.1."""


class ResponseParser:
    """An answer's status and headers, and the pieces of the body that came with them.

    is_complete: status and headers are complete; header names are in lower case.
    is_over: the whole answer is complete, its body included.
    pieces: the pieces of the body so far.
    is_reusable: another answer may follow this one on its connection.
    """

    def __init__(self, *, is_of_head: bool = False) -> None:
        """Parse the answer to HEAD, which has no body whatever its headers say, or another one."""
        self.status = 0
        self.headers: dict[str, str] = {}
        self.pieces: list[bytes] = []
        self.is_complete = False
        self.is_over = False
        self.is_reusable = False
        self._is_interim = False
        self._is_of_head = is_of_head
        self._fed_bytes = 0
        self._parser = HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        """Take bytes of the answer.

        Raises:
            MalformedAnswerError: the bytes are not an answer of HTTP/1.1.
        """
        self._fed_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            if not self.is_over:
                raise MalformedAnswerError(f"malformed answer: {error}") from error
            self.is_reusable = False
        if not self.is_complete and self._fed_bytes > _HEAD_BYTES_MAX:
            raise MalformedAnswerError("malformed answer: its headers are too long")

    # Callbacks of httptools

    def on_message_begin(self) -> None:
        if self.is_over:  # no request asked for a second answer
            self.is_reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.is_complete:
            return  # a trailer, or a second answer
        key, text = name.decode("latin-1").lower(), value.decode("latin-1").rstrip()
        earlier = self.headers.get(key)
        self.headers[key] = text if earlier is None else f"{earlier}, {text}"

    def on_headers_complete(self) -> None:
        if self.is_complete:
            return
        self.status = self._parser.get_status_code()
        self._is_interim = self.status < 200
        if self._is_interim:
            self.headers.clear()
            return
        self.is_complete = True
        self.is_reusable = self._parser.should_keep_alive()
        if self._is_of_head:
            # The parser would wait for a body, and takes one without a length for the last.
            self.is_over = True
            self.is_reusable = self._parser.get_http_version() == "1.1" and (
                "close" not in self.headers.get("connection", "").lower()
            )

    def on_body(self, piece: bytes) -> None:
        if self.is_over:  # a body behind the answer to HEAD: its rest may still be on its way
            self.is_reusable = False
        else:
            self.pieces.append(piece)

    def on_message_complete(self) -> None:
        if self._is_interim:
            self._is_interim = False
        else:
            self.is_over = True
