"""Where exports write: the allowed places, and the URIs of exported objects."""

from collections.abc import Iterable

from graveler.errors import InvalidInputError
from graveler.limits import OBJECT_KEY_BYTES_MAX
from graveler.names import leaves_its_folder, normalized_location

SUCCESS_MARK = b"_lakefs_success"


def is_within(uri: str, place: str) -> bool:
    """Whether the URI is the place or is under it."""
    place = place.rstrip("/")
    return uri == place or uri.startswith(place + "/")


def overlap(one: str, other: str) -> bool:
    """Whether one of the places is the other or is under it."""
    return is_within(one, other) or is_within(other, one)


def allowed_location(uri: str, what: str, allowed_prefixes: Iterable[str]) -> str:
    """Return the URI without trailing slashes, if exports may write there.

    what names the URI in messages.

    Raises:
        InvalidInputError: the URI is not an S3 URI, or is outside of the allowed prefixes.
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
    """Return the URI of the key's object under the export path.

    Raises:
        InvalidInputError: S3 cannot store an object with that key, or tools would misread it.
    """
    try:
        uri = f"{path}/{key.decode()}"
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{key!r} is not UTF-8, so S3 cannot have it as a key") from error
    if leaves_its_folder(uri):
        raise InvalidInputError(
            f"{uri} has a segment '..', which many tools resolve to another place"
        )
    key_bytes = len(uri.removeprefix("s3://").partition("/")[2].encode())
    if key_bytes > OBJECT_KEY_BYTES_MAX:
        raise InvalidInputError(
            f"{uri} has a key of {key_bytes} bytes: S3 allows at most {OBJECT_KEY_BYTES_MAX} bytes"
        )
    return uri
