"""Answers of operations, before they are sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.lake.port import Object

from gateway.protocol import dates, metadata
from gateway.transfer.store import Reading

XML = "application/xml"


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, headers, and either content or a reading whose bytes are the content.

    length_bytes: of the content that an answer to HEAD leaves out.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    reading: Reading | None = None
    length_bytes: int | None = None


def of_document(content: bytes, status: int = 200, **headers: str) -> Answer:
    """Return an answer with an XML document; names of headers have hyphens for underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, {"Content-Type": XML, **named}, content)


def etag_of(checksum: str) -> str:
    """Return the checksum as an entity tag."""
    return f'"{checksum}"'


def object_headers(found: Object) -> dict[str, str]:
    """Return the headers that describe an object in answers to GET and HEAD."""
    return {
        "ETag": etag_of(found.checksum),
        "Last-Modified": dates.http(found.last_modified_ns),
        "Content-Type": metadata.header_text(found.content_type) or "binary/octet-stream",
        "Accept-Ranges": "bytes",
        **metadata.headers_of(found.metadata),
    }
