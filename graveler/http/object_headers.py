"""The headers of objects: those of a read's answer, and those of a write's request."""

from collections.abc import Mapping
from email.utils import formatdate
from urllib.parse import quote

from graveler.data_headers import (
    ENCRYPTION,
    DataHeaders,
    encryption_of,
    kept_in_store,
    kept_of,
)
from graveler.errors import InvalidInputError
from graveler.http import untrusted
from graveler.http.multipart import is_form
from graveler.model import Entry
from graveler.names import checksum_tag
from graveler.times import NS_PER_S

_META_PREFIX = "x-lakefs-meta-"
# lakectl keeps metadata for its own use: this header's `client-mtime` is `::lakefs::client-mtime`.
_INTERNAL_PREFIX = "x-lakefs-internal-"
_INTERNAL_KEY_PREFIX = "::lakefs::"

# Browsers show objects of these types, and download all others. `untrusted.HEADERS` prevent scripts
# in them. lakeFS has the same list, and compares the whole content type.
_INLINE_TYPES = frozenset(
    {
        "application/javascript",
        "application/json",
        "application/pdf",
        "application/xml",
        "audio/mpeg",
        "audio/wav",
        "audio/webm",
        "image/gif",
        "image/jpeg",
        "image/jpg",
        "image/png",
        "image/svg+xml",
        "image/webp",
        "text/css",
        "text/html",
        "text/javascript",
        "text/markdown",
        "text/plain",
        "text/x-markdown",
        "text/xml",
        "video/mp4",
        "video/webm",
    }
)
# The headers of stored data that the API's own requests and answers have as well. There, a header
# about caches describes the request or the answer itself.
KEPT_OF_UPLOADS = ("content-disposition", "content-encoding", "content-language")
# No Content-Encoding: clients of the API count the stored bytes, but would decode a coded answer.
_KEPT_OF_READS = ("content-disposition", "content-language")
# All headers of an answer share 10 KB.
_CONTENT_TYPE_BYTES_MAX = 1024


def etag_of(entry: Entry) -> str:
    """Return the entity tag of the object's content: its quoted checksum."""
    return f'"{checksum_tag(entry.checksum)}"'


def of_object(entry: Entry, path: bytes, kept: Mapping[str, str] = {}) -> dict[str, str]:
    """Return the headers of every answer about an object's content, except its length.

    kept: those that the object store keeps with the data. Those of caches are the answer's own.
    """
    file_name = quote(file_name_of(path))
    inline = entry.content_type in _INLINE_TYPES
    plain = kept_in_store(kept)
    disposition = "inline" if inline else f"attachment; filename*=UTF-8''{file_name}"
    return {
        "ETag": etag_of(entry),
        "Last-Modified": formatdate(entry.last_modified_ns // NS_PER_S, usegmt=True),
        "Content-Type": content_type_of(entry),
        "Content-Disposition": disposition,
        **{name.title(): plain[name] for name in _KEPT_OF_READS if name in plain},
        "Accept-Ranges": "bytes",
        # Clients must ask for every read: the branch may move, and access may be withdrawn.
        "Cache-Control": "no-store, must-revalidate",
        "Expires": "0",
        "X-Frame-Options": "SAMEORIGIN",
        **untrusted.HEADERS,
    }


def file_name_of(path: bytes) -> str:
    """Return the name under which a browser saves the object."""
    return path.rstrip(b"/").rpartition(b"/")[2].decode("utf-8", "replace") or "object"


def is_unmodified(if_none_match: str | None, entry: Entry) -> bool:
    """Whether If-None-Match has the object's entity tag: the reader holds this content already."""
    if if_none_match is None:
        return False
    tags = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return "*" in tags or etag_of(entry) in tags


def honors_range(if_range: str | None, entry: Entry) -> bool:
    """Whether a Range header counts: If-Range is absent or has the object's current entity tag.

    A time in If-Range never counts: it has whole seconds, so it does not exclude another write.
    """
    return if_range is None or if_range.strip() == etag_of(entry)


def user_metadata_of(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the user metadata in an upload's headers, whose names are in lower case."""
    metadata = {}
    for name, value in headers.items():
        if name.startswith(_META_PREFIX):
            metadata[name[len(_META_PREFIX) :]] = value
        elif name.startswith(_INTERNAL_PREFIX):
            metadata[_INTERNAL_KEY_PREFIX + name[len(_INTERNAL_PREFIX) :]] = value
    return metadata


def of_upload(headers: Mapping[str, str]) -> DataHeaders:
    """Return what an upload's headers say of the data; those of a form's body are the form's.

    Raises:
        InvalidInputError: the object store cannot keep them, or has no such encryption.
    """
    names = () if is_form(headers.get("content-type", "")) else KEPT_OF_UPLOADS
    kept = kept_of({name: headers[name] for name in names if name in headers})
    return DataHeaders(kept, encryption_of(headers))


def of_data(headers: Mapping[str, str] | None, encryption: Mapping[str, str]) -> DataHeaders:
    """Return what a request's body says of the data that it stores.

    Raises:
        InvalidInputError: the object store cannot keep the headers, or has no such encryption.
    """
    kept = None if headers is None else kept_of(_lower(headers))
    chosen = _lower(encryption)
    # Ignoring one would store the data in another way than the client was promised.
    if unknown := sorted(chosen.keys() - set(ENCRYPTION)):
        raise InvalidInputError(f"{unknown[0]!r} is none of {', '.join(ENCRYPTION)}")
    return DataHeaders(kept, encryption_of(chosen))


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def content_type_of(entry: Entry) -> str:
    """Return the stored content type, made safe for a header: in JSON it may be any text."""
    plain = "".join(letter for letter in entry.content_type if " " <= letter <= "~").strip()
    return plain if 0 < len(plain) <= _CONTENT_TYPE_BYTES_MAX else "application/octet-stream"
