"""Updates of a table's metadata: each kind does what Iceberg's Java library does, or is refused."""

import msgspec
import pytest

from graveler.errors import ConflictError, InvalidInputError
from graveler.http.errors import status_of
from graveler.iceberg.metadata import read_metadata
from graveler.iceberg.updates import UPDATES
from tests.support.checks.cases import for_each
from tests.support.worlds.iceberg_tables import (
    CREATED_MS,
    UNSORTED,
    UUID,
    add,
    column,
    order,
    schema,
    set_ref,
    snapshot,
    spec,
    table,
    updated,
    with_snapshots,
)

OTHER = UUID.replace("9", "8")
WIDER = schema(column(4, "x", "int"))
FILE = {"snapshot-id": 2, "statistics-path": "s3://b/f", "file-size-in-bytes": 9}
STATISTICS = {**FILE, "file-footer-size-in-bytes": 1, "blob-metadata": []}
KEY = {"key-id": "k", "encrypted-key-metadata": "eA=="}
COMMITTED_MS = CREATED_MS + 60_000


def do(action, **fields):
    return {"action": action, **{name.replace("_", "-"): value for name, value in fields.items()}}


def rich(version=2):
    """Return a table with two of everything."""
    made = with_snapshots(table(version, properties={"format-version": str(version)}), 1, 2)
    if version > 1:
        assert made["last-sequence-number"] == 2
    return updated(
        made,
        set_ref(1, "old", "tag"),
        do("add-schema", schema=WIDER),
        do("add-spec", spec=spec((1, "bucket[4]", "b"))),
        do("add-sort-order", sort_order=order(1)),
        do("set-properties", updates={"owner": "ann", "team": "a"}),
        do("set-statistics", statistics=STATISTICS),
        do("set-partition-statistics", partition_statistics=FILE),
        do("add-encryption-key", encryption_key=KEY),
    )


RICH = rich()


@for_each(
    ("update", "changed"),
    [
        (do("assign-uuid", uuid=OTHER), {"table-uuid": OTHER}),
        (
            do("upgrade-format-version", format_version=3),
            {"format-version": 3, "next-row-id": 0},
        ),
        (
            do("add-schema", schema=schema(column(9, "y", "int"))),
            {
                "schemas": [
                    *RICH["schemas"],
                    schema(column(9, "y", "int"), **{"schema-id": 2}),
                ],
                "last-column-id": 9,
            },
        ),
        (do("set-current-schema", schema_id=1), {"current-schema-id": 1}),
        (do("remove-schemas", schema_ids=[1, 9]), {"schemas": RICH["schemas"][:1]}),
        (
            do("add-spec", spec=spec((2, "day", "d"), first_id=1001)),
            {
                "partition-specs": [
                    *RICH["partition-specs"],
                    {**spec((2, "day", "d"), first_id=1001), "spec-id": 2},
                ],
                "last-partition-id": 1001,
            },
        ),
        (do("set-default-spec", spec_id=1), {"default-spec-id": 1}),
        (
            do("remove-partition-specs", spec_ids=[1]),
            {"partition-specs": RICH["partition-specs"][:1]},
        ),
        (
            do("add-sort-order", sort_order=order(2, 7)),
            {"sort-orders": [*RICH["sort-orders"], order(2, 2)]},
        ),
        (do("set-default-sort-order", sort_order_id=1), {"default-sort-order-id": 1}),
        (
            add(snapshot(3, 2)),
            {"snapshots": [*RICH["snapshots"], snapshot(3, 2)], "last-sequence-number": 3},
        ),
        (
            set_ref(1, "b", max_ref_age_ms=5),
            {
                "refs": {
                    **RICH["refs"],
                    "b": {"type": "branch", "snapshot-id": 1, "max-ref-age-ms": 5},
                }
            },
        ),
        (do("remove-snapshot-ref", ref_name="old"), {"refs": {"main": RICH["refs"]["main"]}}),
        (
            do("remove-snapshots", snapshot_ids=[1, 77]),
            {
                "snapshots": RICH["snapshots"][1:],
                "refs": {"main": RICH["refs"]["main"]},
                "snapshot-log": RICH["snapshot-log"][1:],
            },
        ),
        (
            do("set-statistics", snapshot_id=1, statistics=STATISTICS | {"statistics-path": "n"}),
            {"statistics": [STATISTICS | {"statistics-path": "n"}]},
        ),
        (do("remove-statistics", snapshot_id=2), {"statistics": []}),
        (
            do("set-partition-statistics", partition_statistics=FILE | {"snapshot-id": 1}),
            {"partition-statistics": [FILE, FILE | {"snapshot-id": 1}]},
        ),
        (do("remove-partition-statistics", snapshot_id=2), {"partition-statistics": []}),
        (do("set-location", location="s3://b/new/"), {"location": "s3://b/new"}),
        (
            do("set-properties", updates={"owner": "bob"}),
            {"properties": {**RICH["properties"], "owner": "bob"}},
        ),
        (
            do("set-properties", updated={"owner": "bob"}),
            {"properties": {**RICH["properties"], "owner": "bob"}},
        ),
        (
            do("remove-properties", removals=["team", "none"]),
            {"properties": {k: v for k, v in RICH["properties"].items() if k != "team"}},
        ),
        (
            do("add-encryption-key", encryption_key=KEY | {"key-id": "l"}),
            {"encryption-keys": [KEY, KEY | {"key-id": "l"}]},
        ),
        (do("remove-encryption-key", key_id="k"), {"encryption-keys": []}),
    ],
    ids=lambda row: row[0],
)
def test_an_update_changes_its_fields_and_the_time_and_no_others(update, changed):
    before = msgspec.json.encode(RICH)
    found = updated(RICH, update, time_ms=COMMITTED_MS + 1)
    assert found == {**RICH, **changed, "last-updated-ms": COMMITTED_MS + 1}
    assert msgspec.json.encode(RICH) == before
    assert read_metadata(found) == found


@for_each(
    "update",
    [
        do("assign-uuid", uuid=UUID),
        do("upgrade-format-version", format_version=2),
        do("add-schema", schema={**WIDER, "schema-id": 9}),
        do("set-current-schema", schema_id=0),
        do("add-spec", spec=spec((1, "bucket[4]", "b"), first_id=1007)),
        do("add-sort-order", sort_order=order(1, 5)),
        do("add-sort-order", sort_order=UNSORTED),
        set_ref(2),
        do("remove-snapshot-ref", ref_name="none"),
        do("remove-snapshots", snapshot_ids=[77]),
        do("remove-statistics", snapshot_id=77),
        do("remove-schemas", schema_ids=[]),
        do("set-properties", updates={"owner": "ann"}),
        do("add-encryption-key", encryption_key=KEY),
        do("remove-encryption-key", key_id="none"),
    ],
)
def test_an_update_to_what_is_there_changes_nothing(update):
    assert updated(RICH, update, previous_file="s3://b/1.json") is RICH


@for_each(
    ("update", "named"),
    [
        (do("assign-uuid", uuid="x"), "table-uuid"),
        (do("upgrade-format-version", format_version=1), "format-version 1"),
        (do("upgrade-format-version", format_version=4), "format-version 4"),
        (do("add-schema", schema=schema(column(4, "x", "timestamp_ns"))), "format version 3"),
        (do("add-schema", schema={"type": "struct", "fields": [{"id": 1}]}), "$.fields[0]"),
        (do("set-current-schema", schema_id=9), "schema-id 9"),
        (do("set-current-schema", schema_id=-1), "schema-id -1"),
        (do("remove-schemas", schema_ids=[0]), "current-schema-id 0"),
        (do("add-spec", spec=spec((9, "identity", "n"))), "source-id 9"),
        (do("add-spec", spec=spec((2, "truncate[2]", "n"))), "'truncate[2]' does not apply"),
        (do("set-default-spec", spec_id=9), "spec-id 9"),
        (do("set-default-spec", spec_id=-1), "spec-id -1"),
        (do("remove-partition-specs", spec_ids=[0]), "default-spec-id 0"),
        (do("add-sort-order", sort_order={**UNSORTED, "order-id": 3}), "ID 0"),
        (do("add-sort-order", sort_order=order(1, 0)), "ID 0"),
        (do("set-default-sort-order", sort_order_id=9), "order-id 9"),
        (add(snapshot(2, 1)), "snapshot 2 exists already"),
        (add(snapshot(3, 2) | {"manifest-list": None}), "manifest-list"),
        (add(snapshot(3, 2) | {"timestamp-ms": 1.0}), "timestamp-ms"),
        (set_ref(9), "snapshot 9"),
        (set_ref(1, "main", "tag"), "'main' must be a branch"),
        (set_ref(1, "t", "tag", min_snapshots_to_keep=1), "tag 't'"),
        (set_ref(1, "b", min_snapshots_to_keep=0), "min-snapshots-to-keep"),
        (do("remove-snapshot-ref"), "'ref-name'"),
        (do("remove-snapshots", snapshot_ids=["1"]), "snapshot-ids"),
        (do("set-statistics", statistics=FILE), "file-footer-size-in-bytes"),
        (do("remove-statistics"), "'snapshot-id'"),
        (do("set-partition-statistics", partition_statistics=[]), "partition-statistics"),
        (do("remove-partition-statistics", snapshot_id=None), "'snapshot-id'"),
        (do("set-location", location="/"), "location"),
        (do("set-properties", updates={"a": None}), "updates"),
        (do("set-properties", updates={"write.metadata.previous-versions-max": "x"}), "'x'"),
        (do("remove-properties", removals="owner"), "removals"),
        (do("add-encryption-key", encryption_key={"key-id": "x"}), "encrypted-key-metadata"),
        (do("remove-encryption-key", key_id=1), "key-id"),
        (do("add-view-version"), "'add-view-version' is not one of"),
        ({}, "'action'"),
    ],
)
def test_a_wrong_update_is_refused_by_the_name_of_its_fault(update, named):
    with pytest.raises(InvalidInputError) as refused:
        updated(RICH, update, previous_file="s3://b/1.json")
    assert named in str(refused.value)
    assert status_of(refused.value) == 400


def test_every_kind_of_the_specification_is_known():
    assert len(UPDATES) == 23


@for_each(
    ("version", "added"),
    [
        (2, snapshot(3, 2, sequence_number=2)),
        (3, snapshot(3, 2, sequence_number=2, first_row_id=20, added_rows=1)),
        (3, snapshot(3, 2, first_row_id=19, added_rows=1)),
    ],
)
def test_a_snapshot_that_another_commit_overtook_is_a_conflict(version, added):
    with pytest.raises(ConflictError) as failed:
        updated(with_snapshots(table(version), 1, 2), add(added))
    assert status_of(failed.value) == 409


def test_a_snapshot_without_parent_may_have_an_old_sequence_number():
    found = updated(RICH, add(snapshot(3, sequence_number=1)), set_ref(3, "other"))
    assert found["last-sequence-number"] == 2


def test_rows_of_version_3_are_numbered_through():
    found = with_snapshots(table(3), 1, 2)
    assert found["next-row-id"] == 20
    assert [each["first-row-id"] for each in found["snapshots"]] == [0, 10]
    with pytest.raises(InvalidInputError, match="first-row-id"):
        updated(found, add(snapshot(3, 2)))


def test_minus_one_names_what_the_commit_added_last():
    found = updated(
        RICH,
        do("add-schema", schema=schema(column(5, "y", "int"))),
        do("set-current-schema", schema_id=-1),
        do("add-spec", spec={"fields": [{"source-id": 5, "transform": "identity", "name": "y"}]}),
        do("set-default-spec", spec_id=-1),
        do("add-sort-order", sort_order=order(1, 4)),
        do("set-default-sort-order", sort_order_id=-1),
    )
    assert found["current-schema-id"] == 2
    assert found["partition-specs"][2]["fields"][0]["field-id"] == 1001
    assert (found["default-spec-id"], found["default-sort-order-id"]) == (2, 1)


def test_a_partition_field_without_id_gets_that_of_an_equal_field():
    fields = [
        {"source-id": 2, "transform": "day", "name": "d"},
        {"source-id": 1, "transform": "bucket[4]", "name": "other"},
    ]
    found = updated(RICH, do("add-spec", spec={"fields": fields}))
    assert [each["field-id"] for each in found["partition-specs"][2]["fields"]] == [1001, 1000]
    with pytest.raises(InvalidInputError, match="has no field-id"):
        updated(RICH, do("add-spec", spec={"fields": [fields[0], {**fields[1], "field-id": 1000}]}))


def test_the_current_schema_keeps_the_columns_that_partitions_and_order_need():
    found = updated(
        RICH, do("set-default-spec", spec_id=1), do("set-default-sort-order", sort_order_id=1)
    )
    without = {**schema(), "fields": schema()["fields"][1:]}
    change = [do("add-schema", schema=without), do("set-current-schema", schema_id=-1)]
    with pytest.raises(InvalidInputError, match="source-id 1"):
        updated(found, *change)
    default = do("set-default-spec", spec_id=0), do("set-default-sort-order", sort_order_id=0)
    assert updated(found, *change, *default)["current-schema-id"] == 2


def test_main_moves_the_current_snapshot_and_the_log_says_since_when():
    found = updated(RICH, add(snapshot(3, 2)), set_ref(3))
    assert found["current-snapshot-id"] == 3
    assert found["snapshot-log"][-1] == {"timestamp-ms": CREATED_MS + 3000, "snapshot-id": 3}
    back = updated(found, set_ref(1), time_ms=COMMITTED_MS + 5)
    assert back["snapshot-log"][-1] == {"timestamp-ms": COMMITTED_MS + 5, "snapshot-id": 1}


def test_a_snapshot_that_a_commit_replaces_at_once_was_never_current():
    added = [add(snapshot(3, 2)), set_ref(3), add(snapshot(4, 3)), set_ref(4)]
    found = updated(RICH, *added)
    assert [each["snapshot-id"] for each in found["snapshot-log"]] == [1, 2, 4]


def test_a_removed_current_snapshot_leaves_a_table_without_one():
    found = updated(RICH, do("remove-snapshots", snapshot_ids=[2]))
    assert found["current-snapshot-id"] == -1
    assert found["refs"].keys() == {"old"}
    assert (found["statistics"], found["partition-statistics"]) == ([], [])
    assert found["snapshot-log"] == []


def test_history_before_a_removed_snapshot_is_dropped():
    found = updated(with_snapshots(table(), 1, 2, 3), do("remove-snapshots", snapshot_ids=[2]))
    assert [each["snapshot-id"] for each in found["snapshot-log"]] == [3]


def test_a_clock_that_is_minutes_ahead_is_refused():
    late = snapshot(3, 2, timestamp_ms=COMMITTED_MS + 60_001)
    with pytest.raises(InvalidInputError, match="clocks"):
        updated(RICH, add(late), set_ref(3))


def test_the_log_of_metadata_files_keeps_as_many_as_the_property_says():
    found = updated(
        RICH, do("set-properties", updates={"write.metadata.previous-versions-max": "2"})
    )
    for number in range(4):
        updates = [do("set-properties", updates={"n": str(number)})]
        time_ms = COMMITTED_MS + number
        found = updated(found, *updates, time_ms=time_ms, previous_file=f"s3://b/{number}.json")
    assert found["metadata-log"] == [
        {"timestamp-ms": COMMITTED_MS + 1, "metadata-file": "s3://b/2.json"},
        {"timestamp-ms": COMMITTED_MS + 2, "metadata-file": "s3://b/3.json"},
    ]


def test_the_log_of_metadata_files_keeps_at_least_the_last():
    kept = do("set-properties", updates={"write.metadata.previous-versions-max": "0"})
    found = updated(RICH, kept, previous_file="s3://b/1.json")
    found = updated(found, do("set-properties", updates={"n": "1"}), previous_file="s3://b/2.json")
    assert [each["metadata-file"] for each in found["metadata-log"]] == ["s3://b/2.json"]


def test_readers_of_version_1_find_the_current_schema_and_spec_alone():
    found = updated(
        table(1),
        do("add-schema", schema=WIDER),
        do("set-current-schema", schema_id=-1),
        do("add-spec", spec=spec((4, "identity", "x"))),
        do("set-default-spec", spec_id=-1),
    )
    assert found["schema"] == found["schemas"][1]
    assert found["partition-spec"] == spec((4, "identity", "x"))["fields"]
    upgraded = updated(found, do("upgrade-format-version", format_version=2))
    assert {"schema", "partition-spec"}.isdisjoint(upgraded)
    with pytest.raises(InvalidInputError, match="format version 1"):
        updated(found, do("add-spec", spec=spec((1, "identity", "i"), first_id=1001)))


def test_unknown_fields_are_kept_and_nulls_are_not():
    added = snapshot(3, 2) | {"parent-snapshot-id": None, "new-field": {"a": 1}}
    found = updated({**RICH, "new": 1}, add(added))
    assert found["snapshots"][-1] == snapshot(3) | {"new-field": {"a": 1}}
    assert found["new"] == 1


def test_a_fault_names_the_update():
    with pytest.raises(InvalidInputError, match="update 1, set-current-schema: "):
        updated(RICH, do("set-location", location="x"), do("set-current-schema", schema_id=9))


def test_a_schema_of_a_writer_of_nulls_is_compared():
    old = {**table(), "schemas": [schema(**{"identifier-field-ids": None})]}
    made = updated(old, do("add-schema", schema=schema()), do("set-properties", updates={"a": "b"}))
    assert made["schemas"] == old["schemas"]
