"""Write the Avro files between a table's metadata and its data: a manifest, and the list of it.

They are those of a table in format version 2 that has one snapshot and no partitions. All data
files were added by that snapshot.

Sources: https://iceberg.apache.org/spec/#manifests and `#manifest-lists`, with the IDs of fields;
https://avro.apache.org/docs/1.11.1/specification `Binary encoding`, `Object Container Files`.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from zlib import Z_BEST_SPEED, compressobj

from msgspec import Struct

from graveler.iceberg.shapes import Document
from graveler.varint import zigzag_varint as _long

_MAGIC = b"Obj\1"

# As the specification numbers what a file holds and what happened to it.
_DATA, _ADDED = 0, 1
_NO_PARTITIONS = 0
_FIRST_SEQUENCE = 1


class DataFile(Struct, frozen=True):
    """A Parquet file; the bounds, by the IDs of columns, are of the column's values as stored."""

    uri: str
    size_bytes: int
    records: int
    lower: Mapping[int, bytes]
    upper: Mapping[int, bytes]


def _field(name: str, field_id: int, kind: object) -> Document:
    return {"name": name, "field-id": field_id, "type": kind}


def _optional(name: str, field_id: int, kind: object) -> Document:
    return {**_field(name, field_id, ["null", kind]), "default": None}


def _record(name: str, *fields: Document) -> Document:
    return {"type": "record", "name": name, "fields": fields}


def _bounds(key_id: int, value_id: int) -> Document:
    """Return the type of a map whose keys are no texts, as Iceberg writes it."""
    item = _record(
        f"k{key_id}_v{value_id}", _field("key", key_id, "int"), _field("value", value_id, "bytes")
    )
    return {"type": "array", "items": item, "logicalType": "map"}


_ENTRY = _record(
    "manifest_entry",
    _field("status", 0, "int"),
    _optional("snapshot_id", 1, "long"),
    _optional("sequence_number", 3, "long"),
    _optional("file_sequence_number", 4, "long"),
    _field(
        "data_file",
        2,
        _record(
            "r2",
            _field("content", 134, "int"),
            _field("file_path", 100, "string"),
            _field("file_format", 101, "string"),
            _field("partition", 102, _record("r102")),
            _field("record_count", 103, "long"),
            _field("file_size_in_bytes", 104, "long"),
            _optional("lower_bounds", 125, _bounds(126, 127)),
            _optional("upper_bounds", 128, _bounds(129, 130)),
        ),
    ),
)

_MANIFEST = _record(
    "manifest_file",
    _field("manifest_path", 500, "string"),
    _field("manifest_length", 501, "long"),
    _field("partition_spec_id", 502, "int"),
    _field("content", 517, "int"),
    _field("sequence_number", 515, "long"),
    _field("min_sequence_number", 516, "long"),
    _field("added_snapshot_id", 503, "long"),
    _field("added_files_count", 504, "int"),
    _field("existing_files_count", 505, "int"),
    _field("deleted_files_count", 506, "int"),
    _field("added_rows_count", 512, "long"),
    _field("existing_rows_count", 513, "long"),
    _field("deleted_rows_count", 514, "long"),
)


def manifest(files: Sequence[DataFile], snapshot_id: int, schema: Document) -> bytes:
    """Return the manifest that names the files of the snapshot, whose columns the schema has."""
    about = {
        "schema": json.dumps(schema),
        "schema-id": str(schema["schema-id"]),
        "partition-spec": "[]",
        "partition-spec-id": str(_NO_PARTITIONS),
        "format-version": "2",
        "content": "data",
    }
    own = _long(_ADDED) + _some(_long(snapshot_id)) + 2 * _some(_long(_FIRST_SEQUENCE))
    entries = [
        own
        + _long(_DATA)
        + _text(file.uri)
        + _text("PARQUET")
        + _long(file.records)
        + _long(file.size_bytes)
        + _some(_map(file.lower))
        + _some(_map(file.upper))
        for file in files
    ]
    return _container(_ENTRY, about, entries)


def manifest_list(
    manifest_uri: str, manifest_bytes: int, files: Sequence[DataFile], snapshot_id: int
) -> bytes:
    """Return the manifest list of the snapshot, which has that manifest of the files."""
    about = {
        "snapshot-id": str(snapshot_id),
        "sequence-number": str(_FIRST_SEQUENCE),
        "format-version": "2",
    }
    numbers = [
        manifest_bytes,
        _NO_PARTITIONS,
        _DATA,
        _FIRST_SEQUENCE,
        _FIRST_SEQUENCE,
        snapshot_id,
        len(files),
        0,
        0,
        sum(file.records for file in files),
        0,
        0,
    ]
    entry = _text(manifest_uri) + b"".join(map(_long, numbers))
    return _container(_MANIFEST, about, [entry])


def _some(encoded: bytes) -> bytes:
    """Return the value of an optional field that is there."""
    return _long(1) + encoded


def _bytes(content: bytes) -> bytes:
    return _long(len(content)) + content


def _text(text: str) -> bytes:
    return _bytes(text.encode())


def _blocks(items: Sequence[bytes]) -> bytes:
    """Return an array or a map: a block of the items, if there are any, and the end."""
    return (_long(len(items)) + b"".join(items) if items else b"") + _long(0)


def _map(bounds: Mapping[int, bytes]) -> bytes:
    return _blocks([_long(column) + _bytes(bound) for column, bound in bounds.items()])


def _container(schema: Document, about: Mapping[str, str], records: Sequence[bytes]) -> bytes:
    """Return the file of records of the schema."""
    described = {"avro.schema": json.dumps(schema), "avro.codec": "deflate", **about}
    head = _MAGIC + _blocks([_text(key) + _text(text) for key, text in described.items()])
    raw = b"".join(records)
    sync = sha256(head + raw).digest()[:16]
    deflate = compressobj(Z_BEST_SPEED, wbits=-15)  # without zlib's header
    block = deflate.compress(raw) + deflate.flush()
    return head + sync + _long(len(records)) + _bytes(block) + sync
