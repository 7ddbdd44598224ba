"""Where exports write: the allowed paths, the URIs below them, and paths that overlap."""

from collections.abc import Iterable

from msgspec import Struct

from graveler.errors import InvalidInputError
from graveler.export.record import BranchExport, ExportConfiguration
from graveler.limits import OBJECT_KEY_BYTES_MAX
from graveler.model import RepositoryUID
from graveler.names import leaves_its_folder, normalized_location

SUCCESS_MARK = b"_lakefs_success"


def is_within(uri: str, path: str) -> bool:
    """Whether the URI is the path or is under it."""
    path = path.rstrip("/")
    return uri == path or uri.startswith(path + "/")


def overlap(one: str, other: str) -> bool:
    """Whether one of the paths is the other or is under it."""
    return is_within(one, other) or is_within(other, one)


def allowed_location(uri: str, what: str, allowed_prefixes: Iterable[str]) -> str:
    """Return the URI without trailing slashes, if exports may write there.

    what: the name of the URI in messages.

    Raises:
        InvalidInputError: the URI is not an S3 URI, or is outside of the allowed prefixes.
    """
    location = normalized_location(uri, what)
    prefixes = [prefix for prefix in allowed_prefixes if prefix]
    if not any(is_within(location, prefix) for prefix in prefixes):
        allowed = f"only under {', '.join(prefixes)}" if prefixes else "nowhere"
        raise InvalidInputError(
            f"{what} {location!r} is not allowed: this deployment exports {allowed} "
            "(setting exports; of a server, GRAVELER_EXPORT_PREFIXES)"
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


class ExportPaths(Struct, frozen=True):
    """Where a branch's export may write.

    Each path belongs to this branch alone. Branches may share a status path.
    """

    paths: tuple[str, ...]
    status_paths: tuple[str, ...] = ()


class ListedExport(Struct, frozen=True):
    """An exported branch in the list of all exports."""

    repository: str
    repository_uid: RepositoryUID
    branch: str
    places: ExportPaths  # the name that stored lists have


def paths_of(record: BranchExport) -> ExportPaths:
    """Return all known paths to which the branch's export writes or has written."""
    configurations = [record.configuration]
    if record.run is not None:
        configurations.append(record.run.configuration)
    paths = [each.path for each in configurations] + [each.path for each in record.destinations]
    return ExportPaths(_distinct(paths), _distinct(each.status_path for each in configurations))


def wanted_paths(configuration: ExportConfiguration) -> ExportPaths:
    """Return the paths to which a run with this configuration writes."""
    return ExportPaths((configuration.path,), _distinct([configuration.status_path]))


def conflicting_paths(one: ExportPaths, other: ExportPaths) -> tuple[str, str] | None:
    """Return a path of each if one export would write into a path of the other; else None."""
    for path in one.paths:
        for theirs in other.paths:
            if overlap(path, theirs):
                return path, theirs
        for theirs in other.status_paths:
            if is_within(theirs, path):
                return path, theirs
    for status_path in one.status_paths:
        for theirs in other.paths:
            if is_within(status_path, theirs):
                return status_path, theirs
    return None


def overlapping_path(uri: str, known: ExportPaths) -> str | None:
    """Return the first of the known paths that overlaps with the URI; None if none does."""
    return next((each for each in (*known.paths, *known.status_paths) if overlap(uri, each)), None)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))
