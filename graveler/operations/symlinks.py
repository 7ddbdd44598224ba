"""Symlink manifests: for each folder of a ref a file with the addresses of its objects.

Hive reads a table from such files (SymlinkTextInputFormat) without knowing repositories. The
manifest of folder `a/b` is `symlinks/<repository>/<ref>/a/b/symlink.txt` under the storage
namespace. It lists the objects directly in the folder; lakeFS loses those that sort before a folder
inside of it.
"""

from collections.abc import Iterable, Iterator

from graveler.addresses import physical_uri
from graveler.entries import value_entry
from graveler.errors import InvalidInputError
from graveler.limits import OBJECT_KEY_BYTES_MAX
from graveler.model import Record, Repository
from graveler.names import leaves_its_folder
from graveler.operations.engine import Engine
from graveler.operations.protocol.lookup import in_repository
from graveler.operations.protocol.views import view_with_staged
from graveler.staging.listing import prefix_end

_FOLDER = "symlinks"


def write(engine: Engine, repository: str, ref: str, prefix: bytes) -> str:
    """Write the manifest of every folder that has objects under the prefix; return their place.

    Manifests are written over those of an earlier call, one by one. A failed call can be repeated.

    Raises:
        InvalidInputError: the ref is malformed, or a folder cannot be part of a key in S3.
        NotFoundError: there is no such repository or ref.
    """

    def do(found: Repository) -> str:
        end = prefix_end(prefix)
        view, staged = view_with_staged(engine, found, ref, prefix, end)
        place = f"{found.storage_namespace}/{_FOLDER}"
        for folder, values in _folders(view.records(staged, prefix, end)):
            uri = _manifest_uri(f"{place}/{found.name}/{ref}", folder)
            entries = map(value_entry, values)
            addresses = (physical_uri(found.storage_namespace, entry) for entry in entries)
            engine.objects.put(uri, "\n".join(addresses).encode(), "text/plain")
        return place

    return in_repository(engine, repository, do)


def _folders(records: Iterable[Record]) -> Iterator[tuple[bytes, list[bytes]]]:
    """Each folder, with its slash, and the stored values of the objects directly in it.

    A folder ends with the first path outside of it, so memory holds those around one path.
    """
    open_folders: list[tuple[bytes, list[bytes]]] = []
    for path, value in records:
        folder = path[: path.rfind(b"/") + 1]
        while open_folders and not folder.startswith(open_folders[-1][0]):
            yield open_folders.pop()
        if not open_folders or open_folders[-1][0] != folder:
            open_folders.append((folder, []))
        open_folders[-1][1].append(value)
    yield from reversed(open_folders)


def _manifest_uri(place: str, folder: bytes) -> str:
    uri = f"{place}/{folder.decode('utf-8', 'replace')}symlink.txt"
    key = uri.removeprefix("s3://").partition("/")[2]
    if leaves_its_folder(key) or len(key.encode()) > OBJECT_KEY_BYTES_MAX:
        raise InvalidInputError(
            f"{uri!r} cannot hold a manifest: it has a segment '..' or is longer than "
            f"{OBJECT_KEY_BYTES_MAX} bytes; choose another location"
        )
    return uri
