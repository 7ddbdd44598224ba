"""Iceberg tables for tests: their schemas, requests, snapshots and metadata."""

from typing import Any

from graveler.iceberg.creation import new_metadata
from graveler.iceberg.shapes import Document
from graveler.iceberg.updates import apply_updates

UUID = "9c12d441-03fe-4693-9a96-a0705ddf69c1"
LOCATION = "s3://bucket/lake/table"
CREATED_MS = 1_700_000_000_000


def column(number: int, name: str, kind: object, *, required: bool = False) -> dict[str, Any]:
    return {"id": number, "name": name, "type": kind, "required": required}


def schema(*extra: Document, **fields: object) -> dict[str, Any]:
    columns = [column(1, "id", "long", required=True), column(2, "at", "timestamp")]
    columns.append(column(3, "name", "string"))
    return {"type": "struct", "schema-id": 0, "fields": [*columns, *extra], **fields}


def spec(*fields: tuple[int, str, str], first_id: int = 1000) -> dict[str, Any]:
    """Return a spec of fields with source, transform and name."""
    return {
        "spec-id": 0,
        "fields": [
            {"source-id": source, "transform": transform, "name": name, "field-id": first_id + n}
            for n, (source, transform, name) in enumerate(fields)
        ],
    }


def order(source: int, order_id: int = 1, *, direction: str = "asc") -> dict[str, Any]:
    sorted_by = {"source-id": source, "transform": "identity", "direction": direction}
    return {"order-id": order_id, "fields": [{**sorted_by, "null-order": "nulls-first"}]}


UNSORTED = {"order-id": 0, "fields": []}


def request(version: int = 2, **fields: object) -> dict[str, Any]:
    """Return a CreateTableRequest; the fields have underscores."""
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    properties = {"format-version": str(version)}
    return {"name": "t", "schema": schema(), "properties": properties, **named}


def table(version: int = 2, **fields: object) -> Document:
    """Return the first metadata of a table."""
    asked = request(version, **fields)
    return new_metadata(asked, uuid=UUID, location=LOCATION, time_ms=CREATED_MS)


def snapshot(
    number: int, parent: int | None = None, location: str = LOCATION, **fields: object
) -> dict[str, Any]:
    """Return the snapshot with the ID, one second for each after the table's creation."""
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return {
        "snapshot-id": number,
        **({} if parent is None else {"parent-snapshot-id": parent}),
        "sequence-number": number,
        "timestamp-ms": CREATED_MS + 1000 * number,
        "manifest-list": f"{location}/metadata/snap-{number}.avro",
        "summary": {"operation": "append"},
        "schema-id": 0,
        **named,
    }


def add(added: Document) -> dict[str, Any]:
    return {"action": "add-snapshot", "snapshot": added}


def set_ref(number: int, name: str = "main", kind: str = "branch", **fields: int) -> dict[str, Any]:
    named = {field.replace("_", "-"): value for field, value in fields.items()}
    ref = {"ref-name": name, "type": kind, "snapshot-id": number}
    return {"action": "set-snapshot-ref", **ref, **named}


def updated(base: Document, *updates: Document, **rest: Any) -> Document:
    """Return the metadata after a commit, a minute after the table's creation."""
    return apply_updates(base, list(updates), **{"time_ms": CREATED_MS + 60_000, **rest})


def with_snapshots(base: Document, *numbers: int) -> Document:
    """Return the metadata after a commit for each snapshot, which main names then."""
    parent = None
    for number in numbers:
        added = snapshot(number, parent, first_row_id=base.get("next-row-id", 0), added_rows=10)
        time_ms = CREATED_MS + 1000 * number
        base = updated(base, add(added), set_ref(number), time_ms=time_ms)
        parent = number
    return base
