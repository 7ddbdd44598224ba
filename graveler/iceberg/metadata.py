"""Table metadata as read from a file: complete, and checked."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from graveler.errors import InvalidInputError
from graveler.iceberg.layouts import FIRST_PARTITION_ID, check_order, check_spec
from graveler.iceberg.schemas import check_schema
from graveler.iceberg.shapes import Document, PartitionField, StoredSpec, TableMetadata, checked

MAIN = "main"

# Clocks of writers differ. Iceberg's readers refuse logs whose times go back by more.
_CLOCK_SKEW_MS_MAX = 60_000

EMPTY_LISTS: Document = {
    name: []
    for name in ("snapshots", "snapshot-log", "metadata-log", "statistics", "partition-statistics")
}


def read_metadata(document: object) -> Document:
    """Return a file's metadata with the fields that old writers leave out.

    Raises:
        InvalidInputError: they are malformed or contradict themselves, or their format version is
            not 1, 2 or 3.
    """
    found: dict[str, Any] = dict(checked(document, dict, "table metadata"))
    if found.get("format-version") == 1:
        _complete_version_1(found)
    found = {**EMPTY_LISTS, "properties": {}, **found}
    current = current_snapshot_id(found)
    main = {} if current is None else {MAIN: {"snapshot-id": current, "type": "branch"}}
    found.setdefault("refs", main)
    check_metadata(found)
    return found


def check_metadata(metadata: Document) -> None:
    """Check that metadata are complete and agree with themselves.

    Raises:
        InvalidInputError: the message names the field.
    """
    shape = checked(metadata, TableMetadata, "table metadata")
    version = shape.format_version
    _require(version == 1 or shape.table_uuid is not None, "table-uuid is missing")
    _require(version == 1 or "last-sequence-number" in metadata, "last-sequence-number is missing")
    _require(version < 3 or shape.next_row_id is not None, "next-row-id is missing")
    _require(all("type" in each for each in metadata["schemas"]), "a schema has no type")
    schema = by_id(metadata["schemas"], "schema-id", shape.current_schema_id)
    spec = by_id(metadata["partition-specs"], "spec-id", shape.default_spec_id)
    order = by_id(metadata["sort-orders"], "order-id", shape.default_sort_order_id)
    _require(
        all(each.field_id is not None for each in _fields(shape.partition_specs)),
        "a field of partition-specs has no field-id",
    )
    columns = check_schema(schema, version)
    check_spec(spec, columns)
    check_order(order, columns)
    _check_snapshots(shape, current_snapshot_id(metadata))
    _check_times("snapshot-log", shape.snapshot_log, shape.last_updated_ms)
    _check_times("metadata-log", shape.metadata_log, shape.last_updated_ms)


def current_snapshot_id(metadata: Document) -> int | None:
    """Return the ID of the current snapshot, which some writers say is -1 if there is none."""
    found: int | None = metadata.get("current-snapshot-id")
    return None if found == -1 else found


def by_id(documents: Iterable[Document], name: str, value: int) -> Document:
    """Return the one document whose ID has that name and value.

    Raises:
        InvalidInputError: there is none, or several.
    """
    found = [each for each in documents if each[name] == value]
    if len(found) != 1:
        raise InvalidInputError(f"{name} {value} is {'ambiguous' if found else 'unknown'}")
    return found[0]


def _complete_version_1(found: dict[str, Any]) -> None:
    """Add the lists that replaced single fields of the first writers."""
    if "schemas" not in found:
        schema = checked(found.get("schema"), dict, "field 'schema'")
        found["schemas"] = [{**schema, "schema-id": schema.get("schema-id", 0)}]
        found["current-schema-id"] = found["schemas"][0]["schema-id"]
    if "partition-specs" not in found:
        fields = checked(
            found.get("partition-spec"), list[dict[str, Any]], "field 'partition-spec'"
        )
        numbered = [{"field-id": FIRST_PARTITION_ID + n, **each} for n, each in enumerate(fields)]
        found["partition-specs"] = [{"spec-id": 0, "fields": numbered}]
        found["default-spec-id"] = 0
    if found.get("last-partition-id") is None:
        specs = checked(found["partition-specs"], list[StoredSpec], "field 'partition-specs'")
        ids = [each.field_id or 0 for each in _fields(specs)]
        found["last-partition-id"] = max(ids, default=FIRST_PARTITION_ID - 1)
    if "sort-orders" not in found:
        found["sort-orders"] = [{"order-id": 0, "fields": []}]
        found["default-sort-order-id"] = 0


def _fields(specs: Iterable[StoredSpec]) -> list[PartitionField]:
    return [each for spec in specs for each in spec.fields]


def _check_snapshots(shape: TableMetadata, current: int | None) -> None:
    ids = {each.snapshot_id for each in shape.snapshots}
    _require(len(ids) == len(shape.snapshots), "two snapshots have the same snapshot-id")
    for snapshot in shape.snapshots:
        place = f"snapshot {snapshot.snapshot_id}"
        has_list = snapshot.manifest_list is not None
        _require(
            has_list or (shape.format_version == 1 and snapshot.manifests is not None),
            f"{place} has no manifest-list",
        )
        # Version 1 has no sequence numbers: they count as 0.
        last = shape.last_sequence_number if shape.format_version > 1 else 0
        _require(
            snapshot.sequence_number <= last,
            f"{place} has sequence-number {snapshot.sequence_number}: the table's last is {last}",
        )
    for name, ref in shape.refs.items():
        _require(ref.snapshot_id in ids, f"ref {name!r} names unknown snapshot {ref.snapshot_id}")
        _require(
            ref.type == "branch"
            or (ref.min_snapshots_to_keep is None and ref.max_snapshot_age_ms is None),
            f"tag {name!r} has a setting of branches",
        )
    _require(current is None or current in ids, f"current snapshot {current} is unknown")
    main = shape.refs.get(MAIN)
    _require(
        main is None or (main.type == "branch" and main.snapshot_id == current),
        f"ref 'main' must be a branch at the current snapshot, {current}",
    )


def _check_times(name: str, log: Iterable[Any], last_updated_ms: int) -> None:
    for before, after in pairwise([*(each.timestamp_ms for each in log), last_updated_ms]):
        _require(
            before - after <= _CLOCK_SKEW_MS_MAX,
            f"{name} goes back in time, by {before - after} ms: check the clocks of writers",
        )


def _require(condition: object, fault: str) -> None:
    if not condition:
        raise InvalidInputError(f"table metadata: {fault}")
