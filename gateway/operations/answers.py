"""Answers of operations, before they are sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.lake.port import Object
from gateway.operations.tags import tag_count_headers, without_tags
from gateway.protocol import dates, metadata
from gateway.transfer.store import Reading
from graveler.http import untrusted
from graveler.user_metadata import s3_metadata

# Documents have names that users chose, and the web page may have the same origin.
DOCUMENT_HEADERS: Mapping[str, str] = {"Content-Type": "application/xml", **untrusted.HEADERS}


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


def of_document(content: bytes, headers: Mapping[str, str] | None = None) -> Answer:
    """Return an answer with an XML document."""
    return Answer(200, {**DOCUMENT_HEADERS, **(headers or {})}, content)


def etag_of(checksum: str) -> str:
    """Return the checksum as an entity tag."""
    return f'"{checksum}"'


def object_headers(found: Object, kept: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that describe an object in answers to GET and HEAD.

    kept: those that S3 keeps with the data.
    """
    return {
        **{name if name.startswith("x-") else name.title(): kept[name] for name in kept},
        "ETag": etag_of(found.checksum),
        "Last-Modified": dates.http(found.last_modified_ns),
        "Content-Type": _header_text(found.content_type) or metadata.DEFAULT_CONTENT_TYPE,
        "Accept-Ranges": "bytes",
        **untrusted.HEADERS,  # the web page may have the same origin
        **metadata.metadata_headers(s3_metadata(without_tags(found.metadata))),
        **tag_count_headers(found.metadata),
    }


def _header_text(text: str) -> str:
    """Return the text without what no header can carry: the API's content types are any text."""
    return "".join(letter for letter in text if " " <= letter <= "~").strip()[:1024]
