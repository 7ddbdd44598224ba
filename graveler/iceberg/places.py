"""Where tables live: their paths in a repository, and their files in its storage namespace.

A table is an object of the repository at lakeFS's own path,
`_lakefs_tables/iceberg/namespaces/<namespace>/tables/<table>`, whose data are the table's current
metadata file. A namespace of several levels repeats `namespaces/<level>`. A namespace may have an
object of its own, `…/namespace.json`, with its properties.

The files of a table are in the folder `_iceberg/<uuid>` of the storage namespace, which all
branches share. The UUID of a new table is made from a secret, the repository and the table's path.
So a client that creates a table in two requests cannot give it the folder of another one.
"""

import re
from collections.abc import Sequence
from hashlib import sha256
from hmac import digest

from graveler.addresses import METADATA_FILE_MARK, TABLE_UUID_PATTERN
from graveler.errors import InvalidInputError
from graveler.layout import TABLES_FOLDER, TABLES_PREFIX
from graveler.names import check_path

_ROOT = f"{TABLES_PREFIX.decode()}iceberg/"
_LEVEL = "namespaces/"
_TABLES = "tables/"
_MARKER = "namespace.json"

_TABLE_PATH = re.compile(rf"{_ROOT}{_LEVEL}((?:[^/]+/{_LEVEL})*[^/]+)/{_TABLES}([^/]+)")

# `/` separates the parts of a path, U+001F the levels of a namespace in a request.
_NAME = re.compile(r"(?!\.\.?\Z)[^/\x00-\x1f\x7f\ud800-\udfff]{1,255}")

_UUID = re.compile(TABLE_UUID_PATTERN)
_OWN_DIGITS = 12  # 48 bits tell the tables of a path apart

Namespace = tuple[str, ...]

# Each ref has a namespace that nobody writes to, with a table that describes its commit.
SYSTEM = "system"
SYSTEM_NAMESPACE: Namespace = (SYSTEM,)
OBJECTS = "objects"


def check_name(name: str, what: str) -> None:
    """Check a table's name, or one level of a namespace; the message calls it `what`.

    Raises:
        InvalidInputError: it is invalid.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInputError(
            f"{what} {name[:80]!a} is invalid: it takes 1 to 255 characters without '/' and "
            "control characters, and is not '.' or '..'"
        )


def namespace_folder(namespace: Sequence[str]) -> bytes:
    """Return the beginning of all paths in a namespace; () is the root, which has no tables.

    Raises:
        InvalidInputError: a level is no name.
    """
    for level in namespace:
        check_name(level, "namespace")
    return (_ROOT + "".join(f"{_LEVEL}{level}/" for level in namespace)).encode()


def children_folder(namespace: Sequence[str]) -> bytes:
    """Return the beginning of the paths of the namespaces in a namespace."""
    return namespace_folder(namespace) + _LEVEL.encode()


def tables_folder(namespace: Sequence[str]) -> bytes:
    """Return the beginning of the paths of a namespace's tables."""
    return namespace_folder(namespace) + _TABLES.encode()


def marker_path(namespace: Sequence[str]) -> bytes:
    """Return the path of the object that has a namespace's properties.

    Raises:
        InvalidInputError: a level is no name, or the path is too long.
    """
    path = namespace_folder(namespace) + _MARKER.encode()
    check_path(path)
    return path


def table_path(namespace: Sequence[str], table: str) -> bytes:
    """Return the path of a table.

    Raises:
        InvalidInputError: a name is invalid, there is no namespace, or the path is too long.
    """
    if not namespace:
        raise InvalidInputError(f"table {table[:80]!a} needs a namespace")
    check_name(table, "table")
    path = tables_folder(namespace) + table.encode()
    check_path(path)
    return path


def name_of(path: bytes) -> str:
    """Return a table's name with its namespace, such as `sales.orders`; "" for another path."""
    found = table_at(path)
    return ".".join([*found[0], found[1]]) if found else ""


def table_at(path: bytes) -> tuple[Namespace, str] | None:
    """Return the namespace and the name of the table at a path; None for another path."""
    found = _TABLE_PATH.fullmatch(path.decode("utf-8", "replace"))
    return (tuple(found[1].split(f"/{_LEVEL}")), found[2]) if found else None


def new_uuid(key: bytes, owner: str, path: bytes, own_digits: str) -> str:
    """Return a UUID for a new table at the path of the repository `owner`.

    own_digits: at least 12 hexadecimal digits that no other table of the path has.
    """
    own = own_digits[:_OWN_DIGITS]
    message = b"\0".join([b"iceberg table", owner.encode(), path, own.encode()])
    return as_uuid(own + digest(key, message, "sha256").hex())


def as_uuid(digits: str) -> str:
    """Return the hexadecimal digits as a UUID, with its version and variant."""
    variant = "89ab"[int(digits[16], 16) % 4]
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


def is_uuid_for(uuid: str, key: bytes, owner: str, path: bytes) -> bool:
    """Whether `new_uuid` made the UUID for the path, or may have."""
    own = uuid.replace("-", "")
    return _UUID.fullmatch(uuid) is not None and new_uuid(key, owner, path, own) == uuid


def table_location(storage_namespace: str, uuid: str) -> str:
    """Return the URI of the folder with a table's files."""
    return f"{storage_namespace}/{TABLES_FOLDER}{uuid}"


def location_of(metadata_uri: str) -> str:
    """Return the table's location, or a folder in it, from the URI of its metadata file."""
    namespace, _, below = metadata_uri.rpartition(f"/{TABLES_FOLDER}")
    return table_location(namespace, below.partition("/")[0])


def metadata_file(location: str, version: int, uid: str) -> str:
    """Return the URI of a new metadata file, named as Iceberg's clients do.

    PyIceberg finds the version only before a UUID.
    """
    name = as_uuid(sha256(uid.encode()).hexdigest())
    return f"{location}/metadata/{version:05d}-{name}{METADATA_FILE_MARK}"


_VERSION = re.compile(rf".*/([0-9]{{1,9}})-[^/]*{re.escape(METADATA_FILE_MARK)}")


def next_version(uri: str) -> int:
    """Return the number for the metadata file that follows the one at the URI."""
    found = _VERSION.fullmatch(uri)
    return int(found[1]) + 1 if found else 0


def is_in_location(uri: str, location: str) -> bool:
    """Whether the URI is the location, or is below it, by no detour."""
    whole = f"{uri.removesuffix('/')}/"
    below = whole.removeprefix(f"{location}/")
    return below != whole and not {"", ".", ".."} & set(below.split("/")[:-1])
