"""The rules for names: lakeFS's, and colons inside the names of branches and tags.

lakeFS's concepts name a branch `dev:joe-bugfix-1234`, which its server refuses.
"""

import re
from hashlib import sha256
from urllib.parse import quote, unquote

from graveler.errors import InvalidInputError
from graveler.limits import PATH_BYTES_MAX
from graveler.messages import Refusal

# A name is part of a DynamoDB sort key, which has at most 1,024 bytes. lakeFS has no limit.
NAME_BYTES_MAX = 1000

_REPOSITORY_NAME = re.compile(r"[a-z0-9][a-z0-9-]{2,62}")
_BRANCH_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_:-]*(?<!:)")
# Control characters, space, halves of a surrogate pair, which no store can hold, and Git's special
# characters that lakeFS refuses. Allowed are `:`, `~`, `$` and a single `@`.
_NOT_IN_TAG_NAMES = re.compile(r"[\x00-\x20\ud800-\udfff^?*\[\\/]|\.\.|@\{|\A:|:\Z")
# Ref expressions give these a meaning (`graveler.refs.expressions`).
_MODIFIERS = re.compile(r"[~^@$]")
_NOT_IN_REFS = re.compile(r"[\x00-\x20?*\[\\/]")
_SPACE = re.compile(r"[\t\n\f\r ]")

# The ASCII characters that RFC 9110 (section 8.8.3) allows in an entity tag. All headers of a
# response share 10 KB.
CHECKSUM_BYTES_MAX = 256
_CHECKSUM = re.compile(f"[!#-~]{{1,{CHECKSUM_BYTES_MAX}}}")

_NAMESPACE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(.*)", re.DOTALL)
_BUCKET_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
# A bucket of objects that are only read. Old buckets have names that new ones must not have. A
# client refuses to sign requests to names with the last endings: AWS reserves them.
READABLE_BUCKET = r"(?!\.{1,2}(?:/|$))[A-Za-z0-9._-]{1,255}(?<!--x-s3)(?<!--xa-s3)(?<!--op-s3)"
_IP_ADDRESS = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+")
# Every tool that parses the namespace as a URI ends the path at `?` and `#`.
_NOT_IN_PREFIXES = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff?#]")
# Plain names to S3, but paths to other folders to most of its clients.
_DOTS = frozenset({".", ".."})
# An S3 key has at most 1,024 bytes; the longest key below a namespace takes about 150 of them.
_NAMESPACE_PREFIX_BYTES_MAX = 800


def check_repository_name(name: str) -> None:
    """Check a repository's name.

    Raises:
        InvalidInputError: the name is invalid; the details state the rule.
    """
    if not _REPOSITORY_NAME.fullmatch(name):
        raise Refusal.BAD_REPOSITORY_NAME.error(
            f"{_shown(name)}: it takes 3 to 63 lower-case letters, digits "
            "and hyphens, and starts with a letter or digit"
        )


def is_branch_name(name: str) -> bool:
    """Return whether the name is valid for a branch."""
    return _BRANCH_NAME.fullmatch(name) is not None and len(name) <= NAME_BYTES_MAX


def check_branch_name(name: str, refusal: Refusal = Refusal.BAD_BRANCH_NAME) -> None:
    """Check a branch's name.

    Raises:
        InvalidInputError: the name is invalid: the refusal, whose details state the rule.
    """
    if not is_branch_name(name):
        raise refusal.error(
            f"{_shown(name)}: it takes letters, digits, underscores, hyphens and colons, does not "
            "start with a hyphen or a colon, does not end in a colon, and has 1 to "
            f"{NAME_BYTES_MAX} bytes"
        )


def is_tag_name(name: str) -> bool:
    """Return whether the name is valid for a tag."""
    return (
        name not in ("", "@")
        and not name.endswith((".", ".lock"))
        and _NOT_IN_TAG_NAMES.search(name) is None
        and len(name.encode()) <= NAME_BYTES_MAX
    )


def check_tag_name(name: str) -> None:
    """Check a tag's name.

    Raises:
        InvalidInputError: the name is invalid; the details state the rule.
    """
    if not is_tag_name(name):
        raise Refusal.BAD_TAG_NAME.error(
            f"{_shown(name)}: it has 1 to {NAME_BYTES_MAX} bytes, is not '@', "
            "does not start with ':', does not end in ':', '.' or '.lock', and contains no spaces, "
            "control characters, '..', '@{' or any of / ^ ? * [ \\"
        )


def check_new_tag_name(name: str) -> None:
    """Check the name of a new tag, by which requests must find it: lakeFS takes more.

    Raises:
        InvalidInputError: the name is invalid, or means something else as a ref or in an address.
    """
    check_tag_name(name)
    if modifier := _MODIFIERS.search(name):
        raise Refusal.BAD_TAG_NAME.error(
            f"{_shown(name)}: as a ref it would not name the tag: leave out {modifier[0]!r}"
        )
    if (meant := decoded_again(name)) != name:
        raise Refusal.BAD_TAG_NAME.error(
            f"{_shown(name)}: in an address it would name {_shown(meant)}: leave out '%'"
        )


def decoded_again(text: str) -> str:
    """Return the ref or tag that is meant by a text of an address, which was decoded once.

    lakectl encodes names twice, other clients once. So the text is decoded again if an encoder can
    have made it of a possible ref: `main%5E1`, but not `%41`, `a%20b` or `50%`.
    """
    name = unquote(text)
    is_encoded = quote(name, safe="") == quote(text, safe="%")
    return name if is_encoded and _NOT_IN_REFS.search(name) is None else text


def check_ref(ref: str) -> None:
    """Check that a text can be a ref expression.

    Raises:
        InvalidInputError: it is empty or contains white space.
    """
    if ref == "" or _SPACE.search(ref):
        raise Refusal.BAD_REF.error(f"{_shown(ref)} must not be empty or contain white space")


def check_path(path: bytes) -> None:
    """Check an object's path.

    Raises:
        InvalidInputError: the path is empty or too long.
    """
    if not path:
        raise Refusal.NO_PATH.error(f"a path has 1 to {PATH_BYTES_MAX} bytes")
    if len(path) > PATH_BYTES_MAX:
        raise Refusal.LONG_PATH.error(size=len(path), most=PATH_BYTES_MAX)


def is_checksum(text: str) -> bool:
    """Return whether the text can be an object's checksum: readers get it as a quoted ETag."""
    return _CHECKSUM.fullmatch(text) is not None


def checksum_tag(checksum: str) -> str:
    """Return the entity tag of content with the checksum, without quotes.

    Staging refuses a checksum that no header can carry, but entries of older versions and of lakeFS
    may have one. Such a checksum is hashed.
    """
    if is_checksum(checksum):
        return checksum
    return sha256(checksum.encode("utf-8", "surrogatepass")).hexdigest()


def check_checksum(text: str) -> None:
    """Check that a checksum can be the value of an ETag header.

    Raises:
        InvalidInputError: it cannot; the message states the rule.
    """
    if not is_checksum(text):
        raise InvalidInputError(
            f"invalid checksum {_shown(text)}: give the object's ETag, 1 to {CHECKSUM_BYTES_MAX} "
            "printable ASCII characters without spaces and quotes"
        )


def leaves_its_folder(key: str) -> bool:
    """Return whether the key has a segment `..`, which some tools follow to another folder."""
    return ".." in key.split("/")


def normalized_storage_namespace(uri: str) -> str:
    """Return the namespace without trailing slashes: `s3://<bucket>` or `s3://<bucket>/<prefix>`.

    Raises:
        InvalidInputError: it is not a valid S3 URI for a repository.
    """
    if "://" in uri and not uri.startswith("s3://"):
        raise Refusal.NAMESPACE_OF_ANOTHER_STORE.error(
            f"{_shown(uri)}: only S3 is served, as s3://<bucket>/<prefix>"
        )
    return normalized_location(uri, "storage namespace")


def normalized_location(uri: str, what: str) -> str:
    """Return the S3 URI of a folder without trailing slashes; messages call the folder `what`.

    Raises:
        InvalidInputError: it is not a valid S3 URI for a folder.
    """
    parts = _NAMESPACE.fullmatch(uri)
    if parts is None or parts[1] != "s3":
        raise InvalidInputError(
            f"invalid {what} {_shown(uri)}: only S3 is served, as s3://<bucket>/<prefix>"
        )
    bucket, prefix = parts[2], parts[3].rstrip("/")
    is_bucket_name = (
        _BUCKET_NAME.fullmatch(bucket) and ".." not in bucket and not _IP_ADDRESS.fullmatch(bucket)
    )
    if not is_bucket_name:
        raise InvalidInputError(
            f"invalid {what} {_shown(uri)}: {_shown(bucket)} is not the name of an S3 "
            "bucket (3 to 63 lower-case letters, digits, dots and hyphens)"
        )
    if _NOT_IN_PREFIXES.search(prefix):
        raise InvalidInputError(
            f"invalid {what} {_shown(uri)}: it must not contain '?', '#' or control characters"
        )
    if not _DOTS.isdisjoint(prefix.split("/")):
        raise InvalidInputError(
            f"invalid {what} {_shown(uri)}: '.' and '..' between slashes may lead elsewhere"
        )
    if len(prefix.encode()) > _NAMESPACE_PREFIX_BYTES_MAX:
        raise InvalidInputError(
            f"invalid {what} {_shown(uri)}: what follows the bucket has at most "
            f"{_NAMESPACE_PREFIX_BYTES_MAX} bytes"
        )
    return f"s3://{bucket}{prefix}"


def _shown(text: str) -> str:
    """Return the text for a message: quoted, escaped, cut to a readable length."""
    return ascii(text if len(text) <= 80 else f"{text[:77]}...")
