"""The first metadata of a table."""

from typing import Any

from graveler.errors import InvalidInputError
from graveler.iceberg.draft import number_property
from graveler.iceberg.layouts import FIRST_PARTITION_ID
from graveler.iceberg.metadata import EMPTY_LISTS, check_metadata
from graveler.iceberg.schemas import check_schema, with_fresh_ids
from graveler.iceberg.shapes import (
    FORMAT_VERSION_MAX,
    CreateTableRequest,
    Document,
    checked,
    field,
    stored,
)
from graveler.iceberg.updates import apply_updates

_FORMAT_VERSION = "format-version"
_FORMAT_VERSION_DEFAULT = 2
_METRICS_OF_COLUMN = "write.metadata.metrics.column."

# They ask for something, or tell something of a table, and are not stored.
_RESERVED = frozenset(
    {
        _FORMAT_VERSION,
        "uuid",
        "snapshot-count",
        "current-snapshot-id",
        "current-snapshot-summary",
        "current-snapshot-timestamp-ms",
        "current-schema",
        "default-partition-spec",
        "default-sort-order",
    }
)

_ZEROS = (
    "last-updated-ms",
    "last-column-id",
    "current-schema-id",
    "default-spec-id",
    "default-sort-order-id",
)

# What Iceberg's own catalogues store for new tables: the default of old ones differs.
_NEW_TABLES = {"write.parquet.compression-codec": "zstd"}


def new_metadata(request: Document, *, uuid: str, location: str, time_ms: int) -> Document:
    """Return the first metadata of the table that a CreateTableRequest describes.

    Columns get IDs from 1, and partition fields from 1000, whatever IDs the request gives them.

    Raises:
        InvalidInputError: the request is malformed or contradicts itself.
    """
    shape = checked(request, CreateTableRequest, "the request")
    properties = shape.properties or {}
    version = number_property(properties, _FORMAT_VERSION, _FORMAT_VERSION_DEFAULT)
    schema = stored(request["schema"], type="struct")
    columns = check_schema(schema, version)
    names = {column.name for column in columns.values()}
    for name in properties:
        if name.startswith(_METRICS_OF_COLUMN) and name[len(_METRICS_OF_COLUMN) :] not in names:
            raise InvalidInputError(f"property {name!r} is for a column that the schema lacks")
    fresh, ids = with_fresh_ids(schema)
    spec = _with_sources(request.get("partition-spec"), ids, field_id=None)
    order = _with_sources(request.get("write-order"), ids)
    order["order-id"] = int(bool(order["fields"]))
    kept = {name: value for name, value in properties.items() if name not in _RESERVED}
    updates = [
        {"action": "add-schema", "schema": fresh},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": spec},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": order},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-location", "location": location},
        {"action": "set-properties", "updates": {**_NEW_TABLES, **kept}},
    ]
    return apply_updates(_blank(version, uuid), updates, time_ms=time_ms)


def created_by_updates(updates: object, *, uuid: str, time_ms: int) -> Document:
    """Return the first metadata of a table that a commit with assert-create makes by its updates.

    Raises:
        InvalidInputError: an update is malformed, or they do not make a whole table.
    """
    upgrade = next(
        (
            each
            for each in checked(updates, list[dict[str, Any]], "field 'updates'")
            if each.get("action") == "upgrade-format-version"
        ),
        {_FORMAT_VERSION: _FORMAT_VERSION_DEFAULT},
    )
    version = field(upgrade, _FORMAT_VERSION, int)
    made = apply_updates(_blank(version, uuid), updates, time_ms=time_ms)
    check_metadata(made)
    return made


def _blank(version: int, uuid: str) -> Document:
    """Return metadata without a schema, a spec and a sort order, which updates must add."""
    if not 1 <= version <= FORMAT_VERSION_MAX:
        raise InvalidInputError(f"format-version {version} is not from 1 to {FORMAT_VERSION_MAX}")
    return {
        "format-version": version,
        "table-uuid": uuid,
        **dict.fromkeys(_ZEROS, 0),
        "last-partition-id": FIRST_PARTITION_ID - 1,
        **EMPTY_LISTS,
        "schemas": [],
        "partition-specs": [],
        "sort-orders": [],
        "properties": {},
        "refs": {},
        **({} if version == 1 else {"last-sequence-number": 0}),
        **({} if version < 3 else {"next-row-id": 0}),
    }


def _with_sources(
    document: Document | None, ids: dict[int, int], **changed: None
) -> dict[str, Any]:
    """Return a partition spec or sort order whose fields name the columns by their new IDs."""
    found = document or {"fields": []}
    fields = []
    for each in found["fields"]:
        if each["source-id"] not in ids:
            raise InvalidInputError(f"source-id {each['source-id']} is not the ID of a column")
        fields.append(stored(each, source_id=ids[each["source-id"]], **changed))
    return {**found, "fields": fields}
