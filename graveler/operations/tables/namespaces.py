"""Namespaces of tables.

A namespace exists if it has a table, another namespace, or an object with its properties.
"""

from collections.abc import Collection, Mapping

import msgspec

from graveler.addresses import new_address
from graveler.branches.data import read_content
from graveler.branches.staging import stage_in_place
from graveler.branches.views import object_stat
from graveler.engine import Engine
from graveler.errors import (
    AlreadyExistsError,
    CorruptDataError,
    InvalidInputError,
    NotEmptyError,
    NotFoundError,
)
from graveler.iceberg.places import (
    OBJECTS,
    SYSTEM,
    SYSTEM_NAMESPACE,
    Namespace,
    children_folder,
    marker_path,
    namespace_folder,
    tables_folder,
)
from graveler.model import Page
from graveler.open_repository import OpenRepository
from graveler.operations.objects import list_objects
from graveler.operations.tables.metadata import CONTENT_TYPE, value_of
from graveler.operations.tables.places import branch_of_tables, value_at
from graveler.staging.listing import CommonPrefix, PageQuery

Properties = Mapping[str, str]


class PropertyChanges(msgspec.Struct, frozen=True):
    """The properties that changed, and those that were to be removed and did not exist."""

    updated: Collection[str]
    removed: Collection[str]
    missing: Collection[str]


def list_namespaces(
    engine: Engine, repository: str, ref: str, parent: Namespace, after: str, amount: int
) -> Page[str]:
    """Return the names of the namespaces directly in the parent, () for the root.

    Raises:
        InvalidInputError: a name or the ref is malformed.
        NotFoundError: the repository, the ref or the parent does not exist.
    """
    found = _names_in(engine, repository, ref, children_folder(parent), parent, after, amount)
    return found if parent else _with_system(found, amount)


def _with_system(found: Page[str], amount: int) -> Page[str]:
    """Return a page of the root, with the namespace `system` at the end of the last one."""
    names = tuple(name for name in found.results if name != SYSTEM)
    if found.has_more:
        return Page(names, found.next_after)
    # The page that follows a full one has no other name.
    return Page((*names, SYSTEM)) if len(names) < amount else Page(names, names[-1])


def list_tables(
    engine: Engine, repository: str, ref: str, namespace: Namespace, after: str, amount: int
) -> Page[str]:
    """Return the names of the namespace's tables.

    Raises:
        InvalidInputError: a name or the ref is malformed.
        NotFoundError: the repository, the ref or the namespace does not exist.
    """
    if namespace == SYSTEM_NAMESPACE:
        check_exists(engine, repository, ref, namespace)
        return Page((OBJECTS,))
    folder = tables_folder(namespace)
    return _names_in(engine, repository, ref, folder, namespace, after, amount)


def _names_in(
    engine: Engine,
    repository: str,
    ref: str,
    folder: bytes,
    namespace: Namespace,
    after: str,
    amount: int,
) -> Page[str]:
    """Return the names in a folder of the namespace: those of folders, or those of objects."""
    has_folders = folder == children_folder(namespace)
    behind = folder + after.encode() + (b"/" if has_folders else b"") if after else b""
    query = PageQuery(amount, prefix=folder, after=behind, delimiter=b"/")
    page = list_objects(engine, repository, ref, query)
    if not page.results:
        check_exists(engine, repository, ref, namespace)
    names = tuple(
        each.path[len(folder) :].rstrip(b"/").decode()
        for each in page.results
        if isinstance(each, CommonPrefix) == has_folders
    )
    last = page.next_after[len(folder) :].rstrip(b"/").decode()
    return Page(names, last)


def check_exists(engine: Engine, repository: str, ref: str, namespace: Namespace) -> None:
    """Check that the ref has the namespace; the root and `system` are always there.

    Raises:
        InvalidInputError: a name or the ref is malformed.
        NotFoundError: the repository, the ref or the namespace does not exist.
    """
    is_always_there = namespace in ((), SYSTEM_NAMESPACE)
    if not _has_any(engine, repository, ref, namespace) and not is_always_there:
        raise _no_namespace(namespace)


def _has_any(engine: Engine, repository: str, ref: str, namespace: Namespace) -> bool:
    query = PageQuery(1, prefix=namespace_folder(namespace))
    return bool(list_objects(engine, repository, ref, query).results)


def properties_of(engine: Engine, repository: str, ref: str, namespace: Namespace) -> Properties:
    """Return the namespace's properties.

    Raises:
        GravelerError: as `check_exists`.
    """
    path = marker_path(namespace)
    repo, stored = value_at(engine, repository, ref, path)
    if namespace == SYSTEM_NAMESPACE:
        return {}
    if stored is None:
        check_exists(engine, repository, ref, namespace)
    return _read(repo, path, stored)


def create(
    engine: Engine, repository: str, ref: str, namespace: Namespace, properties: Properties
) -> None:
    """Create the namespace.

    Raises:
        InvalidInputError: a name is malformed.
        NotFoundError: the repository or the ref does not exist.
        ForbiddenError: the ref is no branch, the branch is protected, or the repository read-only.
        AlreadyExistsError: the namespace exists.
        ContentionError: other writers came first in each try.
        UnknownOutcomeError: the namespace may have been created.
    """
    path = marker_path(namespace)
    repo, branch, read = branch_of_tables(engine, repository, ref, path)
    if _has_any(engine, repository, ref, namespace) or not namespace:
        raise _already_there(namespace)
    new = _written(repo, properties)

    def make(stored: bytes | None) -> bytes:
        if stored is not None:
            raise _already_there(namespace)
        return new

    stage_in_place(repo, branch, path, make, read)


def update_properties(
    engine: Engine,
    repository: str,
    ref: str,
    namespace: Namespace,
    updates: Properties,
    removals: Collection[str],
) -> PropertyChanges:
    """Set and remove properties of the namespace.

    Raises:
        InvalidInputError: a name is malformed, or a property is to be both set and removed.
        GravelerError: the others of `create`, and NotFoundError if the namespace does not exist.
    """
    both = updates.keys() & set(removals)
    if both:
        raise InvalidInputError(f"properties are both set and removed: {', '.join(sorted(both))}")
    path = marker_path(namespace)
    repo, branch, read = branch_of_tables(engine, repository, ref, path)
    check_exists(engine, repository, ref, namespace)
    missing: set[str] = set()

    def make(stored: bytes | None) -> bytes:
        nonlocal missing
        current = _read(repo, path, stored)
        missing = set(removals) - current.keys()
        kept = {name: value for name, value in current.items() if name not in set(removals)}
        return _written(repo, {**kept, **updates})

    stage_in_place(repo, branch, path, make, read)
    return PropertyChanges(sorted(updates), sorted(set(removals) - missing), sorted(missing))


def drop(engine: Engine, repository: str, ref: str, namespace: Namespace) -> None:
    """Drop the empty namespace.

    Raises:
        NotEmptyError: it has tables or namespaces.
        GravelerError: as `update_properties`.
    """
    path = marker_path(namespace)
    repo, branch, read = branch_of_tables(engine, repository, ref, path)
    query = PageQuery(2, prefix=namespace_folder(namespace))
    found = [each.path for each in list_objects(engine, repository, ref, query).results]
    if any(each != path for each in found):
        raise NotEmptyError(
            f"namespace {'.'.join(namespace)} is not empty: drop its tables and namespaces first"
        )

    def make(stored: bytes | None) -> bytes | None:
        if stored is None:
            raise _no_namespace(namespace)
        return None

    stage_in_place(repo, branch, path, make, read)


def _read(repo: OpenRepository, path: bytes, stored: bytes | None) -> Properties:
    if stored is None:
        return {}
    content = read_content(repo.engine, object_stat(repo.record, path, stored)).content
    try:
        return msgspec.json.decode(content, type=dict[str, str])
    except msgspec.DecodeError as error:
        raise CorruptDataError(f"{path.decode()}: not the properties of a namespace") from error


def _written(repo: OpenRepository, properties: Properties) -> bytes:
    """Store the properties as data of a new object; return its stored value."""
    uri = f"{repo.record.storage_namespace}/{new_address(repo.engine.names.new_uid())}"
    content = msgspec.json.encode(dict(properties))
    info = repo.engine.objects.put(uri, content, CONTENT_TYPE)
    return value_of(repo, uri, len(content), info.checksum, {})


def _no_namespace(namespace: Namespace) -> NotFoundError:
    return NotFoundError(f"Namespace does not exist: {'.'.join(namespace)}")


def _already_there(namespace: Namespace) -> AlreadyExistsError:
    return AlreadyExistsError(f"Namespace already exists: {'.'.join(namespace) or 'the root'}")
