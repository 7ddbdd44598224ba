"""Schemas of tables: their columns, the rules for them, and fresh IDs for a new table."""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from graveler.errors import InvalidInputError
from graveler.iceberg.shapes import DEPTH_MAX, Document

_PRIMITIVE = re.compile(
    "boolean|int|long|float|double|date|time|timestamp|timestamptz|timestamp_ns|timestamptz_ns"
    r"|string|uuid|binary|unknown|variant|fixed\[\s*\d+\s*\]|decimal\(\s*\d+\s*,\s*\d+\s*\)"
    r"|geometry(\([^()]*\))?|geography(\([^(),]*(,\s*(\w+\s*)?)?\))?"
)

# The others exist from format version 1.
_VERSION_3 = {"timestamp_ns", "timestamptz_ns", "unknown", "variant", "geometry", "geography"}


class TableColumn(Struct, frozen=True):
    """A field at any depth of a schema: its type is a primitive's name, or struct, list or map.

    in_structs: only structs are around it. is_required: it and all fields around it are required.
    """

    name: str
    type: str
    in_structs: bool
    is_required: bool
    initial_default: Any

    @property
    def is_primitive(self) -> bool:
        """Whether the column has values of its own."""
        return self.type not in {"struct", "list", "map", "variant"}


_TOP = TableColumn("", "struct", in_structs=True, is_required=True, initial_default=None)


def columns_of(schema: Document) -> dict[int, TableColumn]:
    """Return the columns of a schema by ID, outer ones first.

    Raises:
        InvalidInputError: two have one ID or one name, or a type does not exist.
    """
    found: dict[int, TableColumn] = {}
    names: set[str] = set()
    for column_id, column in _columns_in(schema, _TOP, 0):
        if column_id in found or column.name in names:
            raise InvalidInputError(
                f"column {column.name!r} with ID {column_id} repeats a name or an ID of the schema"
            )
        found[column_id] = column
        names.add(column.name)
    return found


def check_schema(schema: Document, format_version: int) -> dict[int, TableColumn]:
    """Return the columns of a schema that tables of the format version may have.

    Raises:
        InvalidInputError: they may not; the message names the column.
    """
    columns = columns_of(schema)
    for column in columns.values():
        if format_version < 3 and (column.type in _VERSION_3 or column.initial_default is not None):
            raise InvalidInputError(
                f"column {column.name!r} needs format version 3: the table has {format_version}"
            )
    for column_id in schema.get("identifier-field-ids") or ():
        identifier = columns.get(column_id)
        if (
            identifier is None
            or not identifier.is_primitive
            or not identifier.is_required
            or not identifier.in_structs
            or identifier.type in {"float", "double"}
        ):
            raise InvalidInputError(
                f"identifier-field-ids has {column_id}: it must be the ID of a required primitive "
                "column that is no float or double, in required structs only"
            )
    return columns


def is_same_schema(schema: Document, other: Document) -> bool:
    """Whether two schemas differ in nothing but their own IDs."""
    identifiers, others = (set(each.get("identifier-field-ids") or ()) for each in (schema, other))
    return bool(schema["fields"] == other["fields"]) and identifiers == others


def with_fresh_ids(schema: Document) -> tuple[Document, dict[int, int]]:
    """Return the schema with columns numbered from 1, outer ones first, and the new IDs by old."""
    ids: dict[int, int] = {}
    fresh = _renumbered(schema, ids)
    identifiers = schema.get("identifier-field-ids")
    if identifiers:
        fresh["identifier-field-ids"] = [ids[each] for each in identifiers]
    return fresh, ids


def _columns_in(
    kind: Document, above: TableColumn, depth: int
) -> Iterator[tuple[int, TableColumn]]:
    if depth > DEPTH_MAX:
        raise InvalidInputError(f"column {above.name!r} is nested deeper than {DEPTH_MAX} levels")
    for holder, id_name, type_name, name, is_required in _parts_of(kind):
        inner = holder[type_name]
        column = TableColumn(
            f"{above.name}.{name}" if depth else name,
            _primitive(inner) if isinstance(inner, str) else inner["type"],
            above.in_structs and above.type == "struct",
            above.is_required and is_required,
            holder.get("initial-default"),
        )
        if column.type == "unknown" and is_required:
            raise InvalidInputError(f"column {column.name!r} of type 'unknown' must be optional")
        yield holder[id_name], column
        if not isinstance(inner, str):
            yield from _columns_in(inner, column, depth + 1)


def _parts_of(kind: Document) -> Iterator[tuple[Document, str, str, str, bool]]:
    """Yield the fields of a nested type: holder, keys of ID and type there, name, is required."""
    if kind["type"] == "struct":
        for each in kind["fields"]:
            yield each, "id", "type", each["name"], each["required"]
    elif kind["type"] == "list":
        yield kind, "element-id", "element", "element", kind["element-required"]
    else:
        yield kind, "key-id", "key", "key", True
        yield kind, "value-id", "value", "value", kind["value-required"]


def _primitive(text: str) -> str:
    """Return the name of a primitive type, without its parameters."""
    if not _PRIMITIVE.fullmatch(text):
        raise InvalidInputError(f"type {text!r} of a column does not exist")
    return re.split(r"[\[(]", text)[0]


def _renumbered(kind: Document, ids: dict[int, int]) -> dict[str, Any]:
    """Return a nested type with fresh IDs, which are added to ids by the old ones."""
    parts = list(_parts_of(kind))
    for holder, id_name, *_ in parts:
        ids[holder[id_name]] = len(ids) + 1
    fresh = []
    for holder, id_name, type_name, *_ in parts:
        inner = holder[type_name]
        inner = inner if isinstance(inner, str) else _renumbered(inner, ids)
        fresh.append({id_name: ids[holder[id_name]], type_name: inner})
    if kind["type"] == "struct":
        pairs = zip(kind["fields"], fresh, strict=True)
        return {**kind, "fields": [{**each, **new} for each, new in pairs]}
    return {**kind, **{name: value for new in fresh for name, value in new.items()}}
