"""Metadata as read from a file: old writers are understood, and contradictions refused."""

import pytest

from graveler.errors import InvalidInputError
from graveler.iceberg.metadata import read_metadata
from tests.support.checks.cases import for_each
from tests.support.worlds.iceberg_tables import UUID, schema, spec, table, with_snapshots

TABLE = with_snapshots(table(), 1, 2)
MAIN = TABLE["refs"]["main"]


def without(metadata, *names):
    return {name: value for name, value in metadata.items() if name not in names}


def test_the_first_writers_of_version_1_are_understood():
    whole = table(1, partition_spec=spec((1, "identity", "id")))
    old = without(
        whole, "schemas", "current-schema-id", "partition-specs", "default-spec-id", "refs",
        "last-partition-id", "sort-orders", "default-sort-order-id", "properties", "snapshots",
        "statistics", "partition-statistics", "snapshot-log", "metadata-log", "table-uuid",
    )  # fmt: skip
    old["schema"] = without(schema(), "schema-id")
    old["partition-spec"] = [without(each, "field-id") for each in old["partition-spec"]]
    found = read_metadata(old)
    assert without(found, "schema", "partition-spec", "properties") == without(
        whole, "schema", "partition-spec", "properties", "table-uuid"
    )


def test_main_is_the_current_snapshot_of_writers_without_refs():
    assert read_metadata(without(TABLE, "refs"))["refs"] == TABLE["refs"]
    assert read_metadata(without(table(), "refs"))["refs"] == {}


@for_each(
    ("changes", "named"),
    [
        ({"format-version": 4}, "format-version"),
        ({"table-uuid": "x"}, "table-uuid"),
        ({"table-uuid": None}, "table-uuid"),
        ({"format-version": 3}, "next-row-id"),
        ({"schemas": []}, "schema-id 0 is unknown"),
        ({"schemas": [schema(), schema()]}, "schema-id 0 is ambiguous"),
        ({"schemas": [without(schema(), "type")]}, "has no type"),
        ({"partition-specs": [{"spec-id": 0, "fields": [{"source-id": 1}]}]}, "partition-specs"),
        ({"default-spec-id": 9}, "spec-id 9"),
        ({"default-sort-order-id": 9}, "order-id 9"),
        ({"partition-specs": [spec((9, "identity", "x"))]}, "source-id 9"),
        ({"current-snapshot-id": 9, "refs": {}}, "current snapshot 9"),
        ({"current-snapshot-id": 1}, "'main'"),
        ({"refs": {"b": {**MAIN, "snapshot-id": 9}}}, "unknown snapshot 9"),
        ({"snapshots": TABLE["snapshots"] * 2}, "same snapshot-id"),
        ({"last-sequence-number": 1}, "sequence-number 2"),
        ({"snapshot-log": [*TABLE["snapshot-log"], {"snapshot-id": 2}]}, "snapshot-log[2]"),
        ({"metadata-log": [{"timestamp-ms": 2**62, "metadata-file": "f"}]}, "metadata-log"),
        ({"last-updated-ms": 0}, "snapshot-log goes back"),
    ],
)
def test_metadata_that_contradict_themselves_are_refused(changes, named):
    with pytest.raises(InvalidInputError) as refused:
        read_metadata({**TABLE, **changes})
    assert named in str(refused.value)


def test_numbers_that_have_no_default_are_not_left_out():
    with pytest.raises(InvalidInputError, match="last-sequence-number"):
        read_metadata(without(table(), "last-sequence-number"))


@for_each("document", [None, [], "x", {}, {"format-version": 1}, {"format-version": 2}])
def test_other_json_is_refused(document):
    with pytest.raises(InvalidInputError):
        read_metadata(document)


def test_a_file_of_the_specification_is_kept_as_it_is():
    document = {**TABLE, "table-uuid": UUID.upper(), "encryption-keys": [], "unknown": {"a": None}}
    assert read_metadata(document) == document
