"""Symlink manifests: one file for each folder of a ref, with the addresses of its objects.

Hive reads tables from such files (SymlinkTextInputFormat) and needs to know nothing of
repositories. The manifest of folder `a/b` is `symlinks/<repository>/<ref>/a/b/symlink.txt` under
the storage namespace. It lists the objects directly in the folder. lakeFS's own manifests miss the
objects that sort before a subfolder.
"""

from collections.abc import Iterable, Iterator

from graveler.addresses import physical_uri
from graveler.branches.lookup import in_repository
from graveler.branches.views import view_with_staged
from graveler.engine import Engine
from graveler.entries import value_entry
from graveler.errors import InvalidInputError
from graveler.limits import OBJECT_KEY_BYTES_MAX, PAGE_AMOUNT_MAX
from graveler.model import Record, Repository
from graveler.names import leaves_its_folder
from graveler.open_repository import OpenRepository
from graveler.staging.listing import PageQuery

_FOLDER = "symlinks"


def write(engine: Engine, repository: str, ref: str, prefix: bytes) -> str:
    """Write a manifest for each folder that has objects under the prefix.

    Manifests replace those of an earlier call, one by one. A failed call can be repeated.

    Returns:
        The URI of the folder that holds all manifests of the namespace.

    Raises:
        InvalidInputError: a name or the ref is malformed, a folder cannot be part of an S3 key, or
            an object's address has several lines.
        NotFoundError: the repository does not exist, or the ref names no commit.
    """

    def do(repo: OpenRepository) -> str:
        query = PageQuery(PAGE_AMOUNT_MAX, prefix)  # of the first changes; there may be more
        view, staged = view_with_staged(repo, ref, query)
        place = f"{repo.record.storage_namespace}/{_FOLDER}"
        for folder, values in _folders(view.records(staged, query.start, query.end)):
            uri = _manifest_uri(f"{place}/{repo.record.name}/{ref}", folder)
            addresses = [_line(repo.record, value) for value in values]
            engine.objects.put(uri, "\n".join(addresses).encode(), "text/plain")
        return place

    return in_repository(engine, repository, do)


def _line(repository: Repository, value: bytes) -> str:
    """Return the object's address as a line of a manifest."""
    address = physical_uri(repository.storage_namespace, value_entry(value))
    if "\n" in address or "\r" in address:
        # The rest would be the address of another object, without a check of rights.
        raise InvalidInputError(f"{address!r} has several lines: a manifest cannot hold it")
    return address


def _folders(records: Iterable[Record]) -> Iterator[tuple[bytes, list[bytes]]]:
    """Yield each folder, with its slash, and the stored values of the objects directly in it.

    A folder ends at the first path outside of it, so memory holds only one path's folders.
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
            f"{OBJECT_KEY_BYTES_MAX} bytes: choose another location"
        )
    return uri
