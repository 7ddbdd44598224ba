"""The bucket and key that a request names: in its path, its Host header, or a copy's source."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from graveler_gateway.protocol.errors import Code, S3ResponseError

# S3's limit. It counts the path below the ref, because the same path is a key in S3.
KEY_BYTES_MAX = 1024

_WRONG_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
_PORT = re.compile(":[0-9]*$")
_VERSION_PARAMETER = "?versionId="
# Objects that were written without versioning have this version.
_NULL_VERSION = "null"


@dataclass(frozen=True, slots=True)
class BucketAndKey:
    """The target of a request: a key, a bucket (no key) or the service (no bucket)."""

    bucket: str
    key: bytes


@dataclass(frozen=True, slots=True)
class RefAndPath:
    """The two parts of a key; has_slash distinguishes `main/` from `main`."""

    ref: str
    path: bytes
    has_slash: bool


@dataclass(frozen=True, slots=True)
class CopySource:
    """The object that a copy reads."""

    bucket: str
    ref: str
    path: bytes
    version_id: str | None = None


def target_of(raw_path: str, host: str | None, domains: Sequence[str]) -> BucketAndKey:
    """Return the bucket and key of a request.

    Args:
        raw_path: The path, percent-encoded.
        host: The Host header; a name directly below one of the domains is a bucket.
        domains: The gateway's own names, without ports. Any other host means path style.

    Raises:
        S3ResponseError: INVALID_URI if the path has a wrong escape or is not UTF-8;
            INVALID_BUCKET_NAME for a key without a bucket.
    """
    decoded = _decoded(raw_path)
    if decoded is None or not raw_path.startswith("/"):
        raise S3ResponseError(Code.INVALID_URI, details={"URI": raw_path})
    bucket = bucket_of_host(host or "", domains)
    if bucket:
        return BucketAndKey(bucket, decoded[1:])
    name, _, key = decoded[1:].partition(b"/")
    if key and not name:
        raise S3ResponseError(Code.INVALID_BUCKET_NAME, details={"BucketName": ""})
    return BucketAndKey(name.decode(), key)


def split_key(key: bytes) -> RefAndPath:
    """Return the ref, which is the key's first segment, and the path below it.

    Prefixes of listings may not be UTF-8: such bytes of a ref become surrogates (PEP 383).
    """
    ref, slash, path = key.partition(b"/")
    return RefAndPath(ref.decode("utf-8", "surrogateescape"), path, bool(slash))


def copy_source(header: str) -> CopySource:
    """Return the object that the header x-amz-copy-source names.

    Here a plus means a space, as in a query and unlike in a path: S3 reads the header so.

    Raises:
        S3ResponseError: INVALID_ARGUMENT if it names no object; NOT_IMPLEMENTED for a version.
    """
    text, parameter, version_id = header.partition(_VERSION_PARAMETER)
    if parameter and not version_id:
        raise _invalid_source(header, "Version id cannot be the empty string")
    if parameter and version_id != _NULL_VERSION:
        raise S3ResponseError(Code.NOT_IMPLEMENTED, details={"Header": "x-amz-copy-source"})
    # Some clients encode the slashes as well, so split after decoding.
    decoded = _decoded(text.replace("+", " "))
    if decoded is None:
        raise _invalid_source(header, "Copy Source must be URL-encoded UTF-8")
    bucket, _, key = decoded.removeprefix(b"/").partition(b"/")
    place = split_key(key)
    if not (bucket and place.ref and place.path):
        raise _invalid_source(
            header, "Copy Source must mention the source bucket and key: sourcebucket/sourcekey"
        )
    return CopySource(bucket.decode(), place.ref, place.path, version_id or None)


def _decoded(text: str) -> bytes | None:
    """Return the bytes of percent-encoded text; None if they are not UTF-8."""
    if _WRONG_ESCAPE.search(text):
        return None
    try:
        # Heads are Latin-1 text: one character for each byte.
        decoded = unquote_to_bytes(text.encode("latin-1"))
        decoded.decode()
    except UnicodeError:
        return None
    return decoded


def bucket_of_host(host: str, domains: Sequence[str]) -> str:
    """Return the bucket that a Host header names; "" if the path does."""
    name = _PORT.sub("", host.strip()).rstrip(".").lower()
    # With s3.example.org and example.org, s3.example.org is no bucket.
    for domain in sorted(domains, key=len, reverse=True):
        if name == domain.lower():
            return ""
        if name.endswith(f".{domain.lower()}"):
            return name[: -len(domain) - 1]
    return ""


def _invalid_source(header: str, message: str) -> S3ResponseError:
    return S3ResponseError(
        Code.INVALID_ARGUMENT,
        message,
        details={"ArgumentName": "x-amz-copy-source", "ArgumentValue": header},
    )
