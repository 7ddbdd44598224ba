"""The Iceberg tables of a ref: their metadata, and what differs between two versions of it.

A table is named by the path of its object.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from msgspec import Struct

from graveler.errors import InvalidInputError
from graveler.iceberg.metadata import by_id, current_snapshot_id, read_metadata
from graveler.iceberg.places import (
    OBJECTS,
    SYSTEM,
    SYSTEM_NAMESPACE,
    namespace_folder,
    table_at,
    table_path,
)
from graveler.iceberg.shapes import Document
from graveler_cli.errors import CommandError, UsageError
from graveler_cli.schemas import ObjectStats
from graveler_cli.uris import RefUri

if TYPE_CHECKING:
    from graveler_cli.client import LakeClient

ROOT = namespace_folder(()).decode()  # begins the paths of all tables

_LEVELS_SEPARATOR = "\x1f"
_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


def parsed_path(text: str) -> str:
    """Return the path of the table that a text names: as NAMESPACE.TABLE, or as the path itself.

    Raises:
        UsageError: the text names no table.
    """
    *levels, name = text.split(".")
    try:
        return text if table_at(text.encode()) else table_path(levels, name).decode()
    except InvalidInputError as error:
        raise UsageError(f"{error}; write a table like sales.orders") from error


def shown_name(path: str) -> str:
    """Return a table as NAMESPACE.TABLE, or as its path if a name has dots; "" for other paths."""
    found = table_at(path.encode())
    parts = (*found[0], found[1]) if found else ()
    return path if any("." in each for each in parts) else ".".join(parts)


def tables_at(server: "LakeClient", ref: RefUri, namespace: str = "") -> Iterator[ObjectStats]:
    """Yield the objects of the tables in a namespace and below it, or of all.

    Raises:
        CommandError: the ref or the namespace does not exist, or the server refused.
    """
    try:
        prefix = namespace_folder(namespace.split(".") if namespace else ()).decode()
    except InvalidInputError as error:
        raise UsageError(f"{error}; write a namespace like sales or sales.europe") from error
    template = "/repositories/{repository}/refs/{ref}/objects/ls"
    names = {"repository": ref.repository, "ref": ref.ref}
    each = None
    for each in server.each(template, names, ObjectStats, {"prefix": prefix}):
        if shown_name(each.path):
            yield each
    if namespace == SYSTEM:
        yield ObjectStats(table_path(SYSTEM_NAMESPACE, OBJECTS).decode(), "object")
    elif namespace and each is None:
        raise CommandError(f"namespace {namespace!r} does not exist at {ref}: {_remedy(ref)}")


class NoSuchTableError(CommandError):
    """The ref has no such table."""


class LoadedTable(Struct, frozen=True, rename="kebab"):
    """A table as the catalog has it."""

    metadata: Any
    metadata_location: str = ""

    @property
    def content(self) -> Document:
        """The metadata, complete and checked.

        Raises:
            CommandError: they are not those of a table.
        """
        try:
            return read_metadata(self.metadata)
        except InvalidInputError as error:
            raise CommandError(
                f"cannot read {self.metadata_location or 'the table'}: {error}; "
                "`graveler tables show --json` prints it as it is"
            ) from error


def load(server: "LakeClient", ref: RefUri, path: str) -> LoadedTable:
    """Return the table at a path.

    Raises:
        NoSuchTableError: it does not exist.
        CommandError: the server refused.
    """
    from graveler_cli.client import ApiRefusedError  # noqa: PLC0415 - late, like the server

    found = table_at(path.encode())
    assert found
    place, namespace, name = (
        quote(text, safe="")
        for text in (f"{ref.repository}.{ref.ref}", _LEVELS_SEPARATOR.join(found[0]), found[1])
    )
    # Quoted here: the catalog decodes a path once, and other operations may decode it twice.
    template = f"/iceberg/relative_to/{place}/api/v1/namespaces/{namespace}/tables/{name}"
    try:
        return server.ask("GET", template, {}, LoadedTable)
    except ApiRefusedError as error:
        if not error.text.startswith("Table does not exist"):
            raise
        raise NoSuchTableError(
            f"table {shown_name(path)!r} does not exist at {ref}: {_remedy(ref)}"
        ) from error


def _remedy(ref: RefUri) -> str:
    return f"`graveler tables ls {ref}` lists all tables"


def columns(metadata: Document) -> Sequence[Document]:
    """Return the fields of the current schema, those of nested types as `lines.element`."""
    schema = by_id(metadata["schemas"], "schema-id", metadata["current-schema-id"])
    return list(_columns_in(schema))


def _columns_in(kind: Document, prefix: str = "") -> Iterator[Document]:
    parts = kind.get("fields") or [
        {
            "id": kind[f"{part}-id"],
            "name": part,
            "type": kind[part],
            "required": kind.get(f"{part}-required", True),  # a map's key always is
        }
        for part in ("element", "key", "value")
        if part in kind
    ]
    for each in parts:
        name, inner = f"{prefix}{each['name']}", each["type"]
        yield {**each, "name": name, "type": inner if isinstance(inner, str) else inner["type"]}
        if not isinstance(inner, str):
            yield from _columns_in(inner, f"{name}.")


def column_names(metadata: Document) -> Mapping[int, str]:
    """Return the names of the current columns by ID."""
    return {each["id"]: each["name"] for each in columns(metadata)}


def partitioning(metadata: Document, names: Mapping[int, str]) -> str:
    """Return the fields of the current partition spec, as `day(at) as at_day`; or `none`."""
    spec = by_id(metadata["partition-specs"], "spec-id", metadata["default-spec-id"])
    return _listed(spec["fields"], names, lambda each: f"as {each['name']}")


def sorting(metadata: Document, names: Mapping[int, str]) -> str:
    """Return the fields of the current sort order, as `identity(id) asc nulls-first`; or `none`."""
    order = by_id(metadata["sort-orders"], "order-id", metadata["default-sort-order-id"])
    return _listed(order["fields"], names, lambda each: f"{each['direction']} {each['null-order']}")


def _listed(
    fields: Iterable[Document], names: Mapping[int, str], described: Callable[[Document], str]
) -> str:
    texts = (
        f"{each['transform']}({names.get(each['source-id'], each['source-id'])}) {described(each)}"
        for each in fields
    )
    return ", ".join(texts) or "none"


def snapshots(metadata: Document) -> Sequence[Document]:
    """Return the snapshots, newest first, each with the names of its `refs`."""
    refs = sorted(metadata["refs"].items())
    found = [
        {**each, "refs": [name for name, ref in refs if ref["snapshot-id"] == each["snapshot-id"]]}
        for each in metadata["snapshots"]
    ]
    return sorted(found, key=lambda each: each["timestamp-ms"], reverse=True)


def current_snapshot(metadata: Document) -> Document:
    """Return the current snapshot, {} if there is none."""
    wanted = current_snapshot_id(metadata)
    return next((each for each in metadata["snapshots"] if each["snapshot-id"] == wanted), {})


def summarized(snapshot: Document, name: str, absent: str = "-") -> str:
    """Return a value of a snapshot's summary, such as `operation` or `total-records`."""
    return str((snapshot.get("summary") or {}).get(name, absent))


def changed(snapshot: Document, what: str) -> str:
    """Return how many records or data-files a snapshot added and deleted, as `+3 -1`."""
    added, deleted = (summarized(snapshot, f"{did}-{what}", "0") for did in ("added", "deleted"))
    return f"+{added} -{deleted}"


class MetadataChange(Struct, frozen=True, omit_defaults=True):
    """A difference: added, removed or changed. The name is empty if a table has one of the kind."""

    type: str
    kind: str
    name: str = ""
    left: str = ""
    right: str = ""

    def __str__(self) -> str:
        values = " -> ".join(each for each in (self.left, self.right) if each)
        return f"{f'{self.kind} {self.name}'.rstrip()}: {values}"


def changes_between(left: Document, right: Document) -> Iterator[MetadataChange]:
    """Yield the differences, by kind; columns are those of one ID."""
    names = {**column_names(left), **column_names(right)}
    befores, afters = (dict(_texts(each, names)) for each in (left, right))
    for kind, before in befores.items():
        after = afters[kind]
        for name in dict.fromkeys((*before, *after)):
            old, new = before.get(name), after.get(name)
            if old != new:
                change = "added" if old is None else "removed" if new is None else "changed"
                yield MetadataChange(change, kind, name, old or "", new or "")


def _texts(metadata: Document, names: Mapping[int, str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield what is compared by kind and name."""
    yield "UUID", {"": str(metadata.get("table-uuid"))}
    yield "format version", {"": str(metadata["format-version"])}
    yield "column", {str(each["id"]): _column(each) for each in columns(metadata)}
    yield "partition spec", {"": partitioning(metadata, names)}
    yield "sort order", {"": sorting(metadata, names)}
    yield "snapshot", {str(each["snapshot-id"]): _snapshot(each) for each in snapshots(metadata)}
    refs = metadata["refs"].items()
    yield "ref", {name: f"{ref['type']} {ref['snapshot-id']}" for name, ref in refs}
    yield "records", {"": summarized(current_snapshot(metadata), "total-records", "0")}
    yield "property", metadata["properties"]


def _column(field: Document) -> str:
    required = " required" if field["required"] else ""
    doc = f" ({field['doc']})" if field.get("doc") else ""
    return f"{field['name']} {field['type']}{required}{doc}"


def _snapshot(each: Document) -> str:
    records, files = changed(each, "records"), changed(each, "data-files")
    return f"{summarized(each, 'operation')}, records {records}, files {files}"


def summary_of(changes: Sequence[MetadataChange]) -> str:
    """Return the differences in one line, such as `columns +1 ~1, records: 2 -> 5`."""
    counts = Counter((each.kind, each.type) for each in changes)
    parts = dict[str, str]()
    for each in changes:
        signs = [f"{sign}{counts[each.kind, of]}" for of, sign in _SIGNS.items()]
        plural = "properties" if each.kind == "property" else f"{each.kind}s"
        shown = " ".join([plural, *(sign for sign in signs if sign[1:] != "0")])
        parts[each.kind] = shown if each.name else str(each)
    return ", ".join(parts.values()) or "other metadata"
