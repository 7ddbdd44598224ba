"""Where exports write: which places are allowed, and what the objects there are called."""

from collections.abc import Iterable

from graveler.errors import InvalidInputError
from graveler.limits import OBJECT_KEY_BYTES_MAX
from graveler.names import leaves_its_folder, normalized_location

SUCCESS_MARK = b"_lakefs_success"


def is_within(uri: str, place: str) -> bool:
    """Whether the URI is the place or lies under it."""
    place = place.rstrip("/")
    return uri == place or uri.startswith(place + "/")


def overlap(one: str, other: str) -> bool:
    """Whether one of the places lies in the other."""
    return is_within(one, other) or is_within(other, one)


def allowed_location(uri: str, what: str, allowed_prefixes: Iterable[str]) -> str:
    """The URI without trailing slashes, if the deployment lets exports write there.

    Raises:
        InvalidInputError: it does not, or the URI is none of S3.
    """
    location = normalized_location(uri, what)
    prefixes = [prefix for prefix in allowed_prefixes if prefix]
    if not any(is_within(location, prefix) for prefix in prefixes):
        allowed = f"only under {', '.join(prefixes)}" if prefixes else "nowhere"
        raise InvalidInputError(
            f"{what} {location!r} is not allowed: this deployment exports {allowed} "
            "(setting GRAVELER_EXPORT_PREFIXES)"
        )
    return location


def object_uri(path: str, key: bytes) -> str:
    """The URI of the branch's object under the export path.

    Raises:
        InvalidInputError: no object in S3 can be called that.
    """
    try:
        uri = f"{path}/{key.decode()}"
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{key!r} is not UTF-8, as the keys of S3 are") from error
    if leaves_its_folder(uri):
        raise InvalidInputError(f"{uri} has a segment '..', and would lie elsewhere for many tools")
    name = uri.removeprefix("s3://").partition("/")[2]
    if len(name.encode()) > OBJECT_KEY_BYTES_MAX:
        raise InvalidInputError(
            f"{uri} is too long: a key in S3 has at most {OBJECT_KEY_BYTES_MAX} bytes"
        )
    return uri
