"""Headers around an object: what a read answers, and what a write carries."""

from collections.abc import Mapping
from email.utils import formatdate
from hashlib import sha256
from urllib.parse import quote

from graveler.messages import Refusal
from graveler.model import Entry
from graveler.names import is_checksum
from graveler.times import NS_PER_S

_META_PREFIX = "x-lakefs-meta-"
# lakectl keeps notes for itself: `x-lakefs-internal-client-mtime` is `::lakefs::client-mtime`.
_INTERNAL_PREFIX = "x-lakefs-internal-"
_INTERNAL_KEY_PREFIX = "::lakefs::"

# Browsers show objects of these types, without running anything in them (see the policy below).
# They download all others. lakeFS has the same list, and compares the whole content type.
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
# All headers of an answer share 10 KB.
_CONTENT_TYPE_BYTES_MAX = 1024


def etag_of(entry: Entry) -> str:
    """The entity tag of the object's content, made of its checksum.

    Staging refuses a checksum that no header can carry, but entries of older versions and of
    lakeFS may have one: its digest stands for it.
    """
    checksum = entry.checksum
    if not is_checksum(checksum):
        checksum = sha256(checksum.encode("utf-8", "surrogatepass")).hexdigest()
    return f'"{checksum}"'


def of_object(entry: Entry, path: bytes) -> dict[str, str]:
    """The headers of every answer that is about an object's content, less its length."""
    file_name = quote(file_name_of(path))
    inline = entry.content_type in _INLINE_TYPES
    disposition = "inline" if inline else f"attachment; filename*=UTF-8''{file_name}"
    return {
        "ETag": etag_of(entry),
        "Last-Modified": formatdate(entry.last_modified_ns // NS_PER_S, usegmt=True),
        "Content-Type": content_type_of(entry),
        "Content-Disposition": disposition,
        "Accept-Ranges": "bytes",
        # Every read is checked again: the branch may have moved and access been withdrawn.
        "Cache-Control": "no-store, must-revalidate",
        "Expires": "0",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "SAMEORIGIN",
        # No script, and no form either: one in a page of ours could post with the reader's session.
        "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'",
    }


def file_name_of(path: bytes) -> str:
    """The name under which a browser would save the object."""
    return path.rstrip(b"/").rpartition(b"/")[2].decode("utf-8", "replace") or "object"


def is_unmodified(if_none_match: str | None, entry: Entry) -> bool:
    """Whether the reader already holds this content: one of its entity tags is the object's."""
    if if_none_match is None:
        return False
    tags = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return "*" in tags or etag_of(entry) in tags


def honors_range(if_range: str | None, entry: Entry) -> bool:
    """Whether a Range header counts: the reader's other bytes are of the object as it is now.

    Only the entity tag says so. A time has whole seconds, so it does not rule out another write.
    """
    return if_range is None or if_range.strip() == etag_of(entry)


def requires_absence(headers: Mapping[str, str]) -> bool:
    """Whether a write must fail where the path exists: `If-None-Match: *`, the only condition.

    Raises:
        UnsupportedError: any other If-None-Match, or If-Match.
    """
    if "if-match" in headers:
        raise Refusal.NOT_SERVED.error("If-Match of objects; use If-None-Match: *")
    condition = headers.get("if-none-match")
    if condition is not None and condition.strip() != "*":
        raise Refusal.NOT_SERVED.error(f"If-None-Match: {condition} of writes; use *")
    return condition is not None


def user_metadata_of(headers: Mapping[str, str]) -> dict[str, str]:
    """The metadata that an upload carries in its headers, whose names arrive in lower case."""
    metadata = {}
    for name, value in headers.items():
        if name.startswith(_META_PREFIX):
            metadata[name[len(_META_PREFIX) :]] = value
        elif name.startswith(_INTERNAL_PREFIX):
            metadata[_INTERNAL_KEY_PREFIX + name[len(_INTERNAL_PREFIX) :]] = value
    return metadata


def content_type_of(entry: Entry) -> str:
    """The stored content type, made safe for a header: stage and link take it from JSON."""
    plain = "".join(letter for letter in entry.content_type if " " <= letter <= "~").strip()
    return plain if 0 < len(plain) <= _CONTENT_TYPE_BYTES_MAX else "application/octet-stream"
