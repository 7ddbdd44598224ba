"""Answers of operations, before they are sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from graveler.http import untrusted
from graveler_gateway.transfer.store import Reading

# Documents have names that users chose, and the web page may have the same origin.
DOCUMENT_HEADERS: Mapping[str, str] = {"Content-Type": "application/xml", **untrusted.HEADERS}


@dataclass(frozen=True, slots=True)
class S3Response:
    """A status, headers, and either content or a reading whose bytes are the content.

    length_bytes: of the content that an answer to HEAD leaves out.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    reading: Reading | None = None
    length_bytes: int | None = None


def xml_response(content: bytes, headers: Mapping[str, str] | None = None) -> S3Response:
    """Return an answer with an XML document."""
    return S3Response(200, {**DOCUMENT_HEADERS, **(headers or {})}, content)


def etag_of(checksum: str) -> str:
    """Return the checksum as an entity tag."""
    return f'"{checksum}"'
