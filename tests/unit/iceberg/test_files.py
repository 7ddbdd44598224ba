"""The files that a table's metadata name."""

from graveler.iceberg.files import FileKind, named_files
from graveler.iceberg.metadata import read_metadata
from tests.support.worlds.iceberg_tables import LOCATION, snapshot, table, with_snapshots


def test_every_snapshot_and_all_statistics_name_files() -> None:
    statistics = [{"statistics-path": "s"}]
    partitions = [{"statistics-path": "p"}]
    metadata = {
        **with_snapshots(table(), 1, 2),
        "statistics": statistics,
        "partition-statistics": partitions,
        "metadata-log": [{"metadata-file": "older", "timestamp-ms": 1}],
    }
    assert list(named_files(metadata)) == [
        (FileKind.MANIFEST_LIST, f"{LOCATION}/metadata/snap-1.avro"),
        (FileKind.MANIFEST_LIST, f"{LOCATION}/metadata/snap-2.avro"),
        (FileKind.OTHER, "s"),
        (FileKind.OTHER, "p"),
    ]


def test_snapshots_of_the_first_writers_name_their_manifests_themselves() -> None:
    first = {**snapshot(1, manifests=["m1", "m2"]), "sequence-number": 0}
    del first["manifest-list"]
    metadata = read_metadata({**table(1), "snapshots": [first], "current-snapshot-id": 1})
    assert list(named_files(metadata)) == [(FileKind.MANIFEST, "m1"), (FileKind.MANIFEST, "m2")]
