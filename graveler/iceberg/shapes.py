"""The shapes of Iceberg's JSON objects: the fields that Iceberg's readers check."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar, cast

import msgspec
from msgspec import Meta, Struct

from graveler.errors import InvalidInputError

# A JSON object. Nobody changes one that another holds.
Document = Mapping[str, Any]

# Deeper documents could exhaust the stack of a reader.
DEPTH_MAX = 100

FORMAT_VERSION_MAX = 3

Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Positive32 = Annotated[int, Meta(gt=0, le=2**31 - 1)]
Positive64 = Annotated[int, Meta(gt=0, le=2**63 - 1)]
TableUUID = Annotated[
    str, Meta(pattern="^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$", max_length=36)
]

_Kind = TypeVar("_Kind")


class _Shape(Struct, rename="kebab"):
    """A JSON object with at least these fields."""


class SchemaField(_Shape):
    id: Int32
    name: str
    required: bool
    type: "FieldType"
    doc: str | None = None


class StructType(_Shape, tag_field="type", tag="struct"):
    fields: list[SchemaField]


class ListType(_Shape, tag_field="type", tag="list"):
    element_id: Int32
    element: "FieldType"
    element_required: bool


class MapType(_Shape, tag_field="type", tag="map"):
    key_id: Int32
    key: "FieldType"
    value_id: Int32
    value: "FieldType"
    value_required: bool


FieldType = str | StructType | ListType | MapType


class TableSchema(StructType, tag_field="type", tag="struct"):
    identifier_field_ids: list[Int32] | None = None


class StoredSchema(StructType, tag_field="type", tag="struct"):
    schema_id: Int32
    identifier_field_ids: list[Int32] | None = None


class PartitionField(_Shape):
    source_id: Int32
    transform: str
    name: Annotated[str, Meta(min_length=1)]
    field_id: Int32 | None = None


class PartitionSpec(_Shape):
    fields: list[PartitionField]


class StoredSpec(PartitionSpec):
    spec_id: Int32


class SortField(_Shape):
    source_id: Int32
    transform: str
    direction: Literal["asc", "desc"]
    null_order: Literal["nulls-first", "nulls-last"]


class SortOrder(_Shape):
    order_id: Int32
    fields: list[SortField]


class TableSnapshot(_Shape):
    snapshot_id: Int64
    timestamp_ms: Int64
    sequence_number: Count = 0
    parent_snapshot_id: Int64 | None = None
    manifest_list: str | None = None
    manifests: list[str] | None = None
    summary: dict[str, str] | None = None
    schema_id: Int32 | None = None
    first_row_id: Count | None = None
    added_rows: Count | None = None
    key_id: str | None = None


class SnapshotRef(_Shape):
    snapshot_id: Int64
    type: Literal["branch", "tag"]
    min_snapshots_to_keep: Positive32 | None = None
    max_snapshot_age_ms: Positive64 | None = None
    max_ref_age_ms: Positive64 | None = None


class BlobMetadata(_Shape):
    type: str
    snapshot_id: Int64
    sequence_number: Int64
    fields: list[Int32]
    properties: dict[str, str] | None = None


class PartitionStatisticsFile(_Shape):
    snapshot_id: Int64
    statistics_path: str
    file_size_in_bytes: Count


class StatisticsFile(PartitionStatisticsFile):
    file_footer_size_in_bytes: Count
    blob_metadata: list[BlobMetadata]


class EncryptedKey(_Shape):
    key_id: str
    encrypted_key_metadata: str
    encrypted_by_id: str | None = None
    properties: dict[str, str] | None = None


class SnapshotLogEntry(_Shape):
    timestamp_ms: Int64
    snapshot_id: Int64


class MetadataLogEntry(_Shape):
    timestamp_ms: Int64
    metadata_file: str


class TableMetadata(_Shape):
    format_version: Annotated[int, Meta(ge=1, le=FORMAT_VERSION_MAX)]
    location: Annotated[str, Meta(min_length=1)]
    last_updated_ms: Int64
    last_column_id: Int32
    schemas: list[StoredSchema]
    current_schema_id: Int32
    partition_specs: list[StoredSpec]
    default_spec_id: Int32
    last_partition_id: Int32
    sort_orders: list[SortOrder]
    default_sort_order_id: Int32
    properties: dict[str, str]
    refs: dict[str, SnapshotRef]
    snapshots: list[TableSnapshot]
    snapshot_log: list[SnapshotLogEntry]
    metadata_log: list[MetadataLogEntry]
    statistics: list[StatisticsFile]
    partition_statistics: list[PartitionStatisticsFile]
    table_uuid: TableUUID | None = None
    last_sequence_number: Count = 0
    current_snapshot_id: Int64 | None = None
    next_row_id: Count | None = None
    encryption_keys: list[EncryptedKey] = []


class CreateTableRequest(_Shape):
    schema: TableSchema
    partition_spec: PartitionSpec | None = None
    write_order: SortOrder | None = None
    properties: dict[str, str] | None = None
    stage_create: bool | None = None


def checked(value: object, kind: type[_Kind], name: str) -> _Kind:
    """Return the JSON value of that name as an instance of the type.

    Raises:
        InvalidInputError: it has another shape; the message has the path of the wrong field.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise InvalidInputError(f"{name} is malformed: {error}") from error
    except RecursionError:
        raise InvalidInputError(f"{name} is nested too deeply") from None


def field(document: Document, name: str, kind: type[_Kind]) -> _Kind:
    """Return the field of the document as an instance of the type.

    Raises:
        InvalidInputError: it is absent or has another shape.
    """
    if name not in document:
        raise InvalidInputError(f"field {name!r} is missing")
    return checked(document[name], kind, f"field {name!r}")


def stored(document: Document, **changed: object) -> dict[str, Any]:
    """Return the document for metadata: without nulls, with other values of the changed fields.

    Some readers refuse a null where they accept an absent field. An underscore in the name of a
    changed field means a hyphen; None removes the field.

    Raises:
        InvalidInputError: it is nested deeper than DEPTH_MAX levels.
    """
    names = {name.replace("_", "-"): value for name, value in changed.items()}
    return cast("dict[str, Any]", _without_nulls({**document, **names}))


def _without_nulls(value: object, depth: int = 0) -> object:
    if depth > DEPTH_MAX:
        raise InvalidInputError(f"a document is nested deeper than {DEPTH_MAX} levels")
    if isinstance(value, list):
        return [_without_nulls(each, depth + 1) for each in value]
    if isinstance(value, dict):
        fields = ((name, _without_nulls(each, depth + 1)) for name, each in value.items())
        return {name: each for name, each in fields if each is not None}
    return value
