"""A library of Avro reads the files between a table's metadata and its data."""

from io import BytesIO
from typing import Any

import fastavro
import pytest

from graveler.iceberg.manifests import DataFile, manifest, manifest_list
from tests.support.worlds.iceberg_tables import schema

SNAPSHOT = 2**62 + 1
SMALL = DataFile("s3://bucket/a.parquet", 1000, 7, {3: b"a"}, {3: "é".encode()})
LARGE = DataFile("s3://bucket/ü.parquet", 2**40, 2**33, {}, {})


def read(avro: bytes) -> tuple[dict[str, str], list[Any]]:
    reader = fastavro.reader(BytesIO(avro))
    return reader.metadata, list(reader)


@pytest.mark.parametrize("files", [[], [SMALL], [SMALL, LARGE] * 100])
def test_a_manifest_names_its_files(files: list[DataFile]) -> None:
    about, entries = read(manifest(files, SNAPSHOT, schema()))
    assert (about["format-version"], about["content"], about["schema-id"]) == ("2", "data", "0")
    for entry, file in zip(entries, files, strict=True):
        found = entry.pop("data_file")
        bounds = [{"key": 3, "value": value} for value in file.lower.values()]
        assert found["lower_bounds"] == bounds
        assert (found["file_path"], found["file_format"]) == (file.uri, "PARQUET")
        assert (found["record_count"], found["file_size_in_bytes"]) == (
            file.records,
            file.size_bytes,
        )
        numbers = {"sequence_number": 1, "file_sequence_number": 1}
        assert entry == {"status": 1, "snapshot_id": SNAPSHOT, **numbers}


def test_a_list_counts_the_files_and_rows_of_its_manifest() -> None:
    about, (entry,) = read(manifest_list("s3://bucket/m.avro", 300, [SMALL, LARGE], SNAPSHOT))
    assert (about["format-version"], about["snapshot-id"]) == ("2", str(SNAPSHOT))
    counts = {name: number for name, number in entry.items() if name.endswith("_count")}
    assert counts == {
        "added_files_count": 2,
        "existing_files_count": 0,
        "deleted_files_count": 0,
        "added_rows_count": 7 + 2**33,
        "existing_rows_count": 0,
        "deleted_rows_count": 0,
    }
    assert (entry["manifest_path"], entry["manifest_length"]) == ("s3://bucket/m.avro", 300)
    assert (entry["added_snapshot_id"], entry["min_sequence_number"]) == (SNAPSHOT, 1)


def test_equal_files_give_equal_manifests() -> None:
    assert manifest([SMALL], SNAPSHOT, schema()) == manifest([SMALL], SNAPSHOT, schema())
