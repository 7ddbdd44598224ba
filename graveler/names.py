"""What names may look like: lakeFS's rules, so that a name is good in both systems or in none."""

import re

from graveler.errors import InvalidInputError
from graveler.limits import PATH_BYTES_MAX
from graveler.messages import Refusal

# A name is part of a DynamoDB sort key, which holds 1,024 bytes. lakeFS itself sets no limit.
NAME_BYTES_MAX = 1000

_REPOSITORY_NAME = re.compile(r"[a-z0-9][a-z0-9-]{2,62}")
_BRANCH_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
# Control characters, space, halves of a surrogate pair (which no store can hold), and those of
# Git's special characters that lakeFS refuses: `~`, `$` and a single `@` are allowed.
_NOT_IN_TAG_NAMES = re.compile(r"[\x00-\x20\ud800-\udfff^:?*\[\\/]|\.\.|@\{")
_SPACE = re.compile(r"[\t\n\f\r ]")

# What RFC 9110 (section 8.8.3) allows in an entity tag, less what is not ASCII. All headers of an
# answer share 10 KB.
CHECKSUM_BYTES_MAX = 256
_CHECKSUM = re.compile(f"[!#-~]{{1,{CHECKSUM_BYTES_MAX}}}")

_NAMESPACE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(.*)", re.DOTALL)
_BUCKET_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_IP_ADDRESS = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+")
# `?` and `#` end the path for every tool that reads the namespace as a URI.
_NOT_IN_PREFIXES = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff?#]")
# Names to S3, and ways to other folders to most clients of it.
_DOTS = frozenset({".", ".."})
# An S3 key has 1,024 bytes; the longest that is made below a namespace has about 150.
_NAMESPACE_PREFIX_BYTES_MAX = 800


def check_repository_name(name: str) -> None:
    """Refuse a text that cannot name a repository.

    Raises:
        InvalidInputError: the message says the rule.
    """
    if not _REPOSITORY_NAME.fullmatch(name):
        raise Refusal.BAD_REPOSITORY_NAME.error(
            f"{_shown(name)}: it takes 3 to 63 lower-case letters, digits "
            "and hyphens, and starts with a letter or digit"
        )


def is_branch_name(name: str) -> bool:
    """Return whether a branch may have that name."""
    return _BRANCH_NAME.fullmatch(name) is not None and len(name) <= NAME_BYTES_MAX


def check_branch_name(name: str, refusal: Refusal = Refusal.BAD_BRANCH_NAME) -> None:
    """Refuse a text that cannot name a branch.

    Raises:
        InvalidInputError: the refusal; its details say the rule.
    """
    if not is_branch_name(name):
        raise refusal.error(
            f"{_shown(name)}: it takes letters, digits, underscores and "
            f"hyphens, does not start with a hyphen, and has 1 to {NAME_BYTES_MAX} bytes"
        )


def is_tag_name(name: str) -> bool:
    """Return whether a tag may have that name."""
    return (
        name not in ("", "@")
        and not name.endswith((".", ".lock"))
        and _NOT_IN_TAG_NAMES.search(name) is None
        and len(name.encode()) <= NAME_BYTES_MAX
    )


def check_tag_name(name: str) -> None:
    """Refuse a text that cannot name a tag.

    Raises:
        InvalidInputError: the message says the rule.
    """
    if not is_tag_name(name):
        raise Refusal.BAD_TAG_NAME.error(
            f"{_shown(name)}: it has 1 to {NAME_BYTES_MAX} bytes, is not '@', "
            "does not end in '.' or '.lock', and contains no spaces, control characters, '..', "
            "'@{' or any of / ^ : ? * [ \\"
        )


def check_ref(ref: str) -> None:
    """Refuse a text that cannot be a ref expression, whatever exists.

    Raises:
        InvalidInputError: it is empty or contains white space.
    """
    if ref == "" or _SPACE.search(ref):
        raise Refusal.BAD_REF.error(f"{_shown(ref)} must not be empty or contain white space")


def check_path(path: bytes) -> None:
    """Refuse bytes that cannot be an object's path.

    Raises:
        InvalidInputError: the path is empty or too long.
    """
    if not path:
        raise Refusal.NO_PATH.error(f"a path has 1 to {PATH_BYTES_MAX} bytes")
    if len(path) > PATH_BYTES_MAX:
        raise Refusal.LONG_PATH.error(size=len(path), most=PATH_BYTES_MAX)


def is_checksum(text: str) -> bool:
    """Whether the text can be an object's checksum, which readers get as a quoted ETag header."""
    return _CHECKSUM.fullmatch(text) is not None


def check_checksum(text: str) -> None:
    """Refuse a checksum that no ETag header can carry.

    Raises:
        InvalidInputError: the message says the rule.
    """
    if not is_checksum(text):
        raise InvalidInputError(
            f"invalid checksum {_shown(text)}: give the object's ETag, 1 to {CHECKSUM_BYTES_MAX} "
            "printable ASCII characters without spaces and quotes"
        )


def leaves_its_folder(key: str) -> bool:
    """Whether the key has a segment `..`, by which some tools would climb out of where it lies."""
    return ".." in key.split("/")


def normalized_storage_namespace(uri: str) -> str:
    """The storage namespace without trailing slashes: `s3://<bucket>` or `s3://<bucket>/<prefix>`.

    Raises:
        InvalidInputError: it is no S3 URI that could hold a repository.
    """
    if "://" in uri and not uri.startswith("s3://"):
        raise Refusal.NAMESPACE_OF_ANOTHER_STORE.error(
            f"{_shown(uri)}: only S3 is served, as s3://<bucket>/<prefix>"
        )
    return normalized_location(uri, "storage namespace")


def normalized_location(uri: str, what: str) -> str:
    """Return the URI of a place for objects without trailing slashes; messages call it what.

    Raises:
        InvalidInputError: it is no S3 URI that could hold objects.
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
            f"invalid {what} {_shown(uri)}: '.' and '..' between slashes would lead elsewhere"
        )
    if len(prefix.encode()) > _NAMESPACE_PREFIX_BYTES_MAX:
        raise InvalidInputError(
            f"invalid {what} {_shown(uri)}: what follows the bucket has at most "
            f"{_NAMESPACE_PREFIX_BYTES_MAX} bytes"
        )
    return f"s3://{bucket}{prefix}"


def _shown(text: str) -> str:
    """Return the text as it may stand in a message: quoted, escaped, cut to a readable length."""
    return ascii(text if len(text) <= 80 else f"{text[:77]}...")
