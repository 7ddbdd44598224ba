"""The first metadata of a table: what its creator gets."""

import pytest

from graveler.errors import InvalidInputError
from graveler.iceberg.creation import created_by_updates, new_metadata
from graveler.iceberg.metadata import read_metadata
from tests.support.checks.cases import for_each
from tests.support.worlds.iceberg_tables import (
    CREATED_MS,
    LOCATION,
    UNSORTED,
    UUID,
    column,
    order,
    request,
    schema,
    spec,
    table,
)

NESTED = schema(
    column(
        9,
        "m",
        {
            "type": "map",
            "key-id": 7,
            "key": "string",
            "value-id": 30,
            "value": {
                "type": "struct",
                "fields": [column(31, "x", "int"), column(5, "y", "date", required=True)],
            },
            "value-required": False,
        },
    ),
    column(4, "l", {"type": "list", "element-id": 8, "element": "int", "element-required": True}),
    **{"identifier-field-ids": [1]},
)


def test_a_new_table_has_the_fields_that_iceberg_requires():
    assert table() == {
        "format-version": 2,
        "table-uuid": UUID,
        "location": LOCATION,
        "last-sequence-number": 0,
        "last-updated-ms": CREATED_MS,
        "last-column-id": 3,
        "schemas": [schema()],
        "current-schema-id": 0,
        "partition-specs": [spec()],
        "default-spec-id": 0,
        "last-partition-id": 999,
        "sort-orders": [UNSORTED],
        "default-sort-order-id": 0,
        "properties": {"write.parquet.compression-codec": "zstd"},
        "current-snapshot-id": -1,
        "refs": {},
        "snapshots": [],
        "statistics": [],
        "partition-statistics": [],
        "snapshot-log": [],
        "metadata-log": [],
    }


@for_each(
    ("version", "more", "less"),
    [
        (1, {"schema", "partition-spec"}, {"last-sequence-number", "next-row-id"}),
        (2, {"last-sequence-number"}, {"schema", "partition-spec", "next-row-id"}),
        (3, {"last-sequence-number", "next-row-id"}, {"schema", "partition-spec"}),
    ],
)
def test_the_property_chooses_the_format_version(version, more, less):
    made = table(version)
    assert made["format-version"] == version
    assert more <= made.keys()
    assert less.isdisjoint(made)
    assert read_metadata(made) == made


def test_columns_get_ids_from_one_outer_ones_first():
    made = table(schema=NESTED)
    fields = made["schemas"][0]["fields"]
    inner = fields[3]["type"]
    assert [each["id"] for each in fields] == [1, 2, 3, 4, 5]
    assert (inner["key-id"], inner["value-id"]) == (6, 7)
    assert [each["id"] for each in inner["value"]["fields"]] == [8, 9]
    assert fields[4]["type"]["element-id"] == 10
    assert made["last-column-id"] == 10
    assert made["schemas"][0]["identifier-field-ids"] == [1]


def test_partitions_and_sort_order_follow_their_columns_to_new_ids():
    shifted = schema()
    for each in shifted["fields"]:
        each["id"] += 100
    made = table(
        schema=shifted,
        partition_spec=spec((102, "day", "d"), (101, "bucket[4]", "b"), first_id=1500),
        write_order=order(103, 8),
    )
    assert made["partition-specs"] == [spec((2, "day", "d"), (1, "bucket[4]", "b"))]
    assert made["sort-orders"] == [order(3, 1)]
    assert (made["default-spec-id"], made["default-sort-order-id"]) == (0, 1)
    assert made["last-partition-id"] == 1001


def test_reserved_properties_are_not_stored_and_others_are():
    asked = {"format-version": "2", "uuid": "x", "current-schema": "{}", "owner": "ann"}
    made = table(properties=asked | {"write.parquet.compression-codec": "gzip"})
    assert made["properties"] == {"owner": "ann", "write.parquet.compression-codec": "gzip"}


def test_unknown_fields_are_kept():
    made = table(schema=schema(column(4, "x", "int") | {"tag": [1]}, comment="c"))
    assert made["schemas"][0]["comment"] == "c"
    assert made["schemas"][0]["fields"][3]["tag"] == [1]


@for_each(
    ("fields", "named"),
    [
        ({"schema": None}, "$.schema"),
        ({"schema": schema(column(4, "x", "integer"))}, "'integer'"),
        ({"schema": schema(column(4, "x", "decimal(9)"))}, "decimal"),
        # A second of work for each thousand spaces would let one request stop a server.
        ({"schema": schema(column(4, "x", f"geography(,{' ' * 100_000}"))}, "geography"),
        ({"schema": schema(column(3, "x", "int"))}, "'x' with ID 3"),
        ({"schema": schema(column(4, "name", "int"))}, "'name' with ID 4"),
        ({"schema": schema(column(4, "x", "variant"))}, "needs format version 3"),
        ({"schema": schema(column(4, "x", "int") | {"initial-default": 1})}, "format version 3"),
        ({"schema": schema(column(4, "x", "unknown", required=True))}, "must be optional"),
        ({"schema": schema(**{"identifier-field-ids": [2]})}, "identifier-field-ids has 2"),
        ({"partition_spec": spec((9, "identity", "p"))}, "source-id 9"),
        ({"partition_spec": spec((3, "day", "p"))}, "'day' does not apply to type 'string'"),
        ({"partition_spec": spec((1, "bucket[0]", "p"))}, "bucket[0]"),
        ({"partition_spec": spec((1, "bucket[4]", "name"))}, "name of another column"),
        ({"partition_spec": spec((1, "identity", "p"), (2, "day", "p"))}, "occurs twice"),
        ({"write_order": order(9)}, "source-id 9"),
        ({"write_order": order(1, direction="up")}, "direction"),
        ({"properties": {"format-version": "4"}}, "format-version 4"),
        ({"properties": {"format-version": "two"}}, "'two'"),
        ({"properties": {"write.metadata.metrics.column.x": "none"}}, "column that the schema"),
        ({"properties": {"owner": 1}}, "properties"),
    ],
)
def test_a_wrong_request_is_refused_by_the_name_of_its_fault(fields, named):
    with pytest.raises(InvalidInputError) as refused:
        table(**fields)
    assert named in str(refused.value)


def test_a_column_of_version_3_is_welcome_there():
    assert table(3, schema=schema(column(4, "x", "geography(OGC:CRS84, karney)")))


def test_a_location_loses_its_slash():
    made = new_metadata(request(), uuid=UUID, location="s3://b/t/", time_ms=1)
    assert made["location"] == "s3://b/t"


CREATION = [
    {"action": "assign-uuid", "uuid": UUID},
    {"action": "upgrade-format-version", "format-version": 2},
    {"action": "add-schema", "schema": schema(), "last-column-id": 3},
    {"action": "set-current-schema", "schema-id": -1},
    {"action": "add-spec", "spec": spec()},
    {"action": "set-default-spec", "spec-id": -1},
    {"action": "add-sort-order", "sort-order": UNSORTED},
    {"action": "set-default-sort-order", "sort-order-id": -1},
    {"action": "set-location", "location": LOCATION},
    {"action": "set-properties", "updates": {"write.parquet.compression-codec": "zstd"}},
]


def test_a_staged_table_is_created_by_its_commit():
    other = UUID.replace("9", "8")
    assert created_by_updates(CREATION, uuid=other, time_ms=CREATED_MS) == table()


def test_a_staged_table_has_the_version_that_its_commit_names():
    first = {"action": "upgrade-format-version", "format-version": 1}
    made = created_by_updates([first, *CREATION[2:]], uuid=UUID, time_ms=CREATED_MS)
    assert made == table(1)


@for_each(
    "updates",
    [
        [],
        CREATION[:-2],
        [{"action": "upgrade-format-version", "format-version": 9}],
        [{"action": "upgrade-format-version", "format-version": "x"}],
        [CREATION[4]],
    ],
)
def test_a_commit_that_makes_no_whole_table_is_refused(updates):
    with pytest.raises(InvalidInputError):
        created_by_updates(updates, uuid=UUID, time_ms=CREATED_MS)
