"""The rules of partition specs and sort orders: which transforms apply to which columns."""

import re
from collections.abc import Iterable, Mapping

from graveler.errors import InvalidInputError
from graveler.iceberg.schemas import TableColumn
from graveler.iceberg.shapes import Document

# IDs of partition fields begin here.
FIRST_PARTITION_ID = 1000

_INSTANTS = frozenset({"timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"})
_DATES = _INSTANTS | {"date"}
_TRUNCATED = frozenset({"int", "long", "string", "binary", "decimal"})

# The types that a transform takes; an unlisted transform takes any, for later versions may have it.
_SOURCES: Mapping[str, frozenset[str]] = {
    "year": _DATES,
    "month": _DATES,
    "day": _DATES,
    "hour": _INSTANTS,
    "bucket": _TRUNCATED | _DATES | {"time", "fixed", "uuid"},
    "truncate": _TRUNCATED,
}
_WITHOUT_ORDER = frozenset({"geometry", "geography"})
_WIDTH = re.compile(r"\[0*[1-9]\d{0,9}\]")


def check_spec(spec: Document, columns: Mapping[int, TableColumn]) -> None:
    """Check that a partition spec applies to a schema with the columns.

    Raises:
        InvalidInputError: it does not; the message names the field.
    """
    by_name = {column.name: column_id for column_id, column in columns.items()}
    names: set[str] = set()
    for each in spec["fields"]:
        name, source_id = each["name"], each["source-id"]
        if name in names:
            raise InvalidInputError(f"partition field {name!r} occurs twice: rename one")
        names.add(name)
        if source_id in columns and by_name.get(name, source_id) != source_id:
            raise InvalidInputError(f"partition field {name!r} has the name of another column")
        # In version 1, a void transform takes the place of a field whose column is gone.
        if each["transform"] != "void":
            column = _source(f"partition field {name!r}", each, columns)
            if not column.in_structs:
                raise InvalidInputError(f"partition field {name!r} has a source in a list or map")


def check_order(order: Document, columns: Mapping[int, TableColumn]) -> None:
    """Check that a sort order applies to a schema with the columns.

    Raises:
        InvalidInputError: it does not; the message names the column's ID.
    """
    if (order["order-id"] == 0) == bool(order["fields"]):
        raise InvalidInputError("a sort order has ID 0 if and only if it has no fields")
    for each in order["fields"]:
        _source(f"sort field of column {each['source-id']}", each, columns)


def is_same_spec(spec: Document, other: Document) -> bool:
    """Whether two partition specs differ in nothing but IDs."""
    names = ("source-id", "transform", "name")
    return _picked(spec, names) == _picked(other, names)


def is_same_order(order: Document, other: Document) -> bool:
    """Whether two sort orders differ in nothing but their own IDs."""
    return bool(order["fields"] == other["fields"])


def with_partition_ids(spec: Document, specs: Iterable[Document], last_id: int) -> Document:
    """Return the spec with IDs of fields.

    Fields without IDs get those of equal fields of the other specs, or else the next ones.

    Raises:
        InvalidInputError: some fields have IDs, and some none.
    """
    missing = [each for each in spec["fields"] if each.get("field-id") is None]
    if not missing:
        return spec
    if len(missing) < len(spec["fields"]):
        raise InvalidInputError(f"partition field {missing[0]['name']!r} alone has no field-id")
    known = {
        (each["source-id"], each["transform"]): each["field-id"]
        for other in specs
        for each in other["fields"]
    }
    fields, used = [], set[int]()
    for each in missing:
        field_id = known.get((each["source-id"], each["transform"]))
        if field_id is None or field_id in used:
            last_id += 1
            field_id = last_id
        used.add(field_id)
        fields.append({**each, "field-id": field_id})
    return {**spec, "fields": fields}


def _picked(spec: Document, names: tuple[str, ...]) -> list[list[object]]:
    return [[each[name] for name in names] for each in spec["fields"]]


def _source(place: str, each: Document, columns: Mapping[int, TableColumn]) -> TableColumn:
    """Return the source of a field, to which its transform applies."""
    column = columns.get(each["source-id"])
    if column is None or not column.is_primitive:
        raise InvalidInputError(
            f"{place}: source-id {each['source-id']} is not the ID of a primitive column"
        )
    name = each["transform"].partition("[")[0]
    if name in {"bucket", "truncate"} and not _WIDTH.fullmatch(each["transform"][len(name) :]):
        raise InvalidInputError(f"{place}: transform {each['transform']!r} needs a width above 0")
    if column.type not in _SOURCES.get(name, {column.type}) or (
        name == "identity" and column.type in _WITHOUT_ORDER
    ):
        raise InvalidInputError(
            f"{place}: transform {each['transform']!r} does not apply to type {column.type!r}"
        )
    return column
