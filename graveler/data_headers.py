"""The HTTP headers that S3 keeps with an object's data (docs/adr/0029).

They belong to the data at an address, and not to the entry that names it. Data never change at
their address, so neither do these. All names are in lower case.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from graveler.errors import InvalidInputError

# What readers need to use the bytes. Requests that store data have them, and answers to reads.
KEPT = (
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-language",
    "expires",
)
# How S3 encrypts the data: of requests that store them, and of answers to writes and reads.
ENCRYPTION = (
    "x-amz-server-side-encryption",
    "x-amz-server-side-encryption-aws-kms-key-id",
    "x-amz-server-side-encryption-bucket-key-enabled",
    "x-amz-server-side-encryption-context",
)
_ENCRYPTIONS = frozenset({"AES256", "aws:kms", "aws:kms:dsse"})
# The checksums that S3 checks, combines and keeps. Answers to reads have them on request.
CHECKSUMS = frozenset(
    f"x-amz-checksum-{name}"
    for name in ("crc32", "crc32c", "crc64nvme", "md5", "sha1", "sha256", "sha512", "type")
)
# The header of a read that requests them.
CHECKSUM_MODE = {"x-amz-checksum-mode": "ENABLED"}
# By which an upload or a copy declares the checksum of its data.
CHECKSUM_ALGORITHM = "x-amz-checksum-algorithm"

_OF_WRITES = frozenset({*ENCRYPTION, *CHECKSUMS})
_OF_READS = frozenset({*KEPT, *_OF_WRITES})
# S3 takes 8 KB of headers for a request, with those of the signature.
_BYTES_MAX = 4096


class DataHeaders(Struct, frozen=True):
    """What a request that stores data says of them.

    kept: of KEPT; None: a copy keeps those of its source.
    encryption: of ENCRYPTION; without any, the bucket's default counts.
    checksum: the algorithm and the type that an upload or a copy declares.
    """

    kept: Mapping[str, str] | None = None
    encryption: Mapping[str, str] = {}
    checksum: Mapping[str, str] = {}

    @property
    def sent(self) -> dict[str, str]:
        """The headers of the request to S3."""
        return {**(self.kept or {}), **self.chosen}

    @property
    def chosen(self) -> dict[str, str]:
        """The headers that a copy never takes from its source."""
        return {**self.encryption, **self.checksum}


NO_HEADERS = DataHeaders()


def of_write(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of S3's answer to a write that the client gets."""
    return {name: headers[name] for name in headers if name in _OF_WRITES}


def of_read(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of S3's answer to a read that the client gets."""
    return {name: headers[name] for name in headers if name in _OF_READS}


def kept_in_store(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of KEPT in S3's answer that any request or answer can repeat."""
    return {name: headers[name] for name in KEPT if _is_plain(headers.get(name, ""))}


def kept_of(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of KEPT that a request has; `aws-chunked` is of the request alone.

    Raises:
        InvalidInputError: S3 cannot keep them.
    """
    found = _given(headers, KEPT)
    codings = [each.strip() for each in found.pop("content-encoding", "").split(",")]
    coding = ", ".join(each for each in codings if each.lower() not in {"", "aws-chunked"})
    return found | ({"content-encoding": coding} if coding else {})


def encryption_of(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of ENCRYPTION that a request has.

    Raises:
        InvalidInputError: S3 has no such encryption.
    """
    found = _given(headers, ENCRYPTION)
    chosen = found.get(ENCRYPTION[0], "")
    if found and chosen not in _ENCRYPTIONS:
        raise InvalidInputError(
            f"{ENCRYPTION[0]} {chosen!r} is none of {', '.join(sorted(_ENCRYPTIONS))}"
        )
    return found


def _given(headers: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    found = {name: value for name in names if (value := headers.get(name, "").strip())}
    for name, value in found.items():
        if not _is_plain(value):
            raise InvalidInputError(
                f"{name} {value!r} is not printable ASCII: encode it, as filename*=UTF-8''%C3%A9"
            )
    if sum(len(name) + len(value) for name, value in found.items()) > _BYTES_MAX:
        raise InvalidInputError(
            f"{', '.join(found)} have more than {_BYTES_MAX} bytes: shorten them"
        )
    return found


def _is_plain(value: str) -> bool:
    return bool(value) and value.isascii() and value.isprintable()
