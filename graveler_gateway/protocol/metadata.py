"""User metadata and content types of objects, in headers and back."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping

from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.head import RequestHead

USER_METADATA_BYTES_MAX = 2048
DEFAULT_CONTENT_TYPE = "binary/octet-stream"

_PREFIX = "x-amz-meta-"
_MISSING = "x-amz-missing-meta"

# Metadata of the API may be larger than S3's. Python's HTTP client refuses answers with more than
# 100 headers, others heads of more than 16 KB.
_HEADERS_MAX = 64
_HEADERS_BYTES_MAX = 8 * 1024

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")
_PLAIN = re.compile("(?:[!-~](?:[ -~]*[!-~])?)?")
# Of a header that answers carry: Latin-1 without control characters.
_HEADER_TEXT = re.compile("[ -~\xa0-\xff]*")

# RFC 2047; spaces between two encoded words do not count.
_ENCODED_WORD = re.compile(r"=\?([A-Za-z0-9-]+)\?([BbQq])\?([^? ]*)\?=")
_BETWEEN_WORDS = re.compile(r"(?<=\?=)[ \t]+(?==\?)")
# A word has 75 characters, 12 of them around its text.
_WORD_CHARACTERS_MAX = 63
_CHARSETS = frozenset({"utf-8", "us-ascii", "iso-8859-1"})

# Parameters of a signed GET, and the headers whose values they replace.
_OVERRIDES = {
    "response-content-type": "Content-Type",
    "response-content-language": "Content-Language",
    "response-expires": "Expires",
    "response-cache-control": "Cache-Control",
    "response-content-disposition": "Content-Disposition",
    "response-content-encoding": "Content-Encoding",
}


def user_metadata(head: RequestHead) -> dict[str, str]:
    """Return the user metadata of an upload, by names in lower case without their prefix.

    Raises:
        S3ResponseError: METADATA_TOO_LARGE for more than 2 KB of names and values.
    """
    sent = {name[len(_PREFIX) :]: head.header(name) or "" for name in _names(head)}
    # Heads are Latin-1 text: one character for each byte.
    size_bytes = sum(len(name) + len(value) for name, value in sent.items())
    if size_bytes > USER_METADATA_BYTES_MAX:
        details = {"Size": str(size_bytes), "MaxSizeAllowed": str(USER_METADATA_BYTES_MAX)}
        raise S3ResponseError(Code.METADATA_TOO_LARGE, details=details)
    return {name: _text_of_header(value) for name, value in sent.items()}


def metadata_headers(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of an object's user metadata, whose names are in lower case.

    x-amz-missing-meta counts the rest: names that no header can have, and whatever makes the head
    longer than clients read.
    """
    headers: dict[str, str] = {}
    size_bytes = 0
    for name, text in metadata.items():
        value = _header_of_text(text)
        grown_bytes = size_bytes + len(name) + len(value)
        if (
            _NAME.fullmatch(name)
            and len(headers) < _HEADERS_MAX
            and grown_bytes <= _HEADERS_BYTES_MAX
        ):
            headers[_PREFIX + name] = value
            size_bytes = grown_bytes
    missing = len(metadata) - len(headers)
    return headers | {_MISSING: str(missing)} if missing else headers


def content_type(head: RequestHead) -> str:
    """Return the content type of an upload, which its entry keeps."""
    return head.header("content-type") or DEFAULT_CONTENT_TYPE


def response_overrides(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that a GET wants instead of the object's own.

    Only signed requests may have them: a link of a stranger could disguise the content.

    Raises:
        S3ResponseError: INVALID_ARGUMENT, if no header can carry the value.
    """
    headers = {}
    for parameter, name in _OVERRIDES.items():
        value = parameters.get(parameter)
        if value is None:
            continue
        if not _HEADER_TEXT.fullmatch(value):
            raise S3ResponseError(
                Code.INVALID_ARGUMENT,
                "Header value cannot be represented using ISO-8859-1.",
                details={"ArgumentName": parameter, "ArgumentValue": value},
            )
        headers[name] = value
    return headers


def _names(head: RequestHead) -> Iterator[str]:
    return (name for name, _ in head.headers if name.startswith(_PREFIX) and name != _PREFIX)


def _header_of_text(text: str) -> str:
    """Return the text, in RFC 2047's words if no header can carry it: as lakeFS cuts them."""
    if _PLAIN.fullmatch(text) and "=?" not in text:
        return text
    words = [""]
    for character in text:
        encoded = _in_word(character)
        if len(words[-1]) + len(encoded) > _WORD_CHARACTERS_MAX:
            words.append("")
        words[-1] += encoded
    return " ".join(f"=?utf-8?q?{word}?=" for word in words)


def _in_word(character: str) -> str:
    if character == " ":
        return "_"
    if "!" <= character <= "~" and character not in "=?_":
        return character
    return "".join(f"={byte:02X}" for byte in character.encode("utf-8", "replace"))


def _text_of_header(value: str) -> str:
    """Return the text of a value: some clients encode it, some send its UTF-8 as it is."""
    try:
        text = value.encode("latin-1").decode()
    except UnicodeError:
        text = value
    return _ENCODED_WORD.sub(_decoded_word, _BETWEEN_WORDS.sub("", text))


def _decoded_word(word: re.Match[str]) -> str:
    """Return the text of an encoded word, the word itself if it is wrong."""
    charset, encoding, encoded = word.groups()
    if charset.lower() not in _CHARSETS:
        return word[0]
    try:
        if encoding in "Bb":
            content = base64.b64decode(encoded, validate=True)
        else:
            content = binascii.a2b_qp(encoded.encode("ascii"), header=True)
        return content.decode(charset)
    except (binascii.Error, UnicodeError):
        return word[0]
