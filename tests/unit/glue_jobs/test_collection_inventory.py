"""Candidates from S3 Inventory reports: the same as a listing's, or an error."""

import csv
import gzip
import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote_plus

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from graveler.addresses import sign_address
from graveler.errors import CorruptDataError, InvalidInputError
from graveler.ports import ListedObject
from graveler.retention.candidates import Territory
from graveler_jobs.garbage_collection.inventory import (
    candidates_among,
    listed_in,
    namespaces_among,
    read_manifest,
)
from tests.support.fakes.memory import MemoryObjectStore
from tests.support.worlds.addresses import address, partition

BUCKET = "lakes"
NAMESPACE = f"s3://{BUCKET}/repo"
MANIFEST = "s3://reports/manifest.json"
CUTOFF_S = 1_648_728_000
TERRITORY = Territory(NAMESPACE, CUTOFF_S * 10**9, 0, (f"{NAMESPACE}/{partition(200)[:-1]}",))
SCHEMA = "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, ETag"


@dataclass(frozen=True)
class Row:
    key: str
    size_bytes: int | None = 1
    age_s: int = 1
    is_latest: bool = True
    is_delete_marker: bool = False

    @property
    def moment(self) -> datetime:
        return datetime.fromtimestamp(CUTOFF_S - self.age_s, UTC)


HANDED_OUT = sign_address(b"key", "repo", "main", b"path", address(102))
ROWS = [
    Row(f"repo/{address(1)}", 10, 100),
    Row(f"repo/{address(2)}", 11, 1),
    Row(f"repo/{address(100)}", 12, 1),
    Row(f"repo/{address(101)}", age_s=0),
    Row(f"repo/{address(200)}"),
    Row(f"repo/{HANDED_OUT}", 13, 1),
    Row(f"repo/{HANDED_OUT}x"),
    Row(f"repo/{HANDED_OUT}\n"),
    Row("repo/data/p/a b+é%&", 11, 1),
    Row("repo/data/direct", 12, 1),
    Row(f"repo/{partition(1)}part-0.parquet"),
    Row(f"repo/{address(1)}\n"),
    Row(f"repo/{partition(300)}_lakefs/dummy"),
    Row(f"repo/{partition(300)}_lakefs/two\nlines"),
    Row(f"other/repo/{address(1)}"),
    Row("repo/data/folder/", 0),
    Row("repo/data2/p/x"),
    Row(f"repo2/{address(1)}"),
    Row("repo/_lakefs/dummy"),
    Row(f"repo/{address(3)}", is_latest=False),
    Row(f"repo/{address(4)}", None, is_delete_marker=True),
]


def as_csv(rows: Sequence[Row]) -> bytes:
    lines = io.StringIO()
    writer = csv.writer(lines, quoting=csv.QUOTE_ALL, lineterminator="\n")
    for row in rows:
        modified = row.moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        flags = [str(flag).lower() for flag in (row.is_latest, row.is_delete_marker)]
        size = "" if row.size_bytes is None else row.size_bytes
        writer.writerow([BUCKET, quote_plus(row.key, "/"), "v", *flags, size, modified, "etag"])
    return gzip.compress(lines.getvalue().encode())


def as_parquet(rows: Sequence[Row]) -> bytes:
    content = io.BytesIO()
    table = pa.table(
        {
            "bucket": [BUCKET for _ in rows],
            "key": [row.key for row in rows],
            "is_latest": [row.is_latest for row in rows],
            "is_delete_marker": [row.is_delete_marker for row in rows],
            "size": pa.array([row.size_bytes for row in rows], pa.int64()),
            "last_modified_date": pa.array(
                [row.moment for row in rows], pa.timestamp("ms", tz="UTC")
            ),
        }
    )
    pq.write_table(table, content)
    return content.getvalue()


WRITERS = {"CSV": as_csv, "Parquet": as_parquet}


def report(kind: str, content: bytes, **changes: Any) -> MemoryObjectStore:
    """An object store that holds a report of one file."""
    objects = MemoryObjectStore()
    objects.put("s3://reports/file", content, "a/b")
    manifest = {
        "sourceBucket": BUCKET,
        "destinationBucket": "arn:aws:s3:::reports",
        "fileFormat": kind,
        "fileSchema": SCHEMA,
        "files": [{"key": "file", "size": 1, "MD5checksum": hashlib.md5(content).hexdigest()}],
    }
    objects.put(MANIFEST, json.dumps(manifest | changes).encode(), "application/json")
    return objects


def candidates(objects: MemoryObjectStore) -> list[tuple[str, int, int]]:
    inventory = read_manifest(objects, MANIFEST, NAMESPACE)
    (file,) = inventory.files
    found = candidates_among(listed_in(objects, inventory, file), inventory.bucket, TERRITORY)
    return [tuple(row.values()) for row in found.to_pylist()]


@pytest.mark.parametrize("kind", WRITERS)
def test_the_candidates_are_those_of_a_listing(kind: str) -> None:
    current = [row for row in ROWS if row.is_latest and not row.is_delete_marker]
    expected = []
    for row in current:
        modified_s = CUTOFF_S - row.age_s
        uri = f"s3://{BUCKET}/{row.key}"
        listed = ListedObject(uri, row.size_bytes or 0, modified_s * 10**9, "checksum")
        ours = TERRITORY.candidate(listed)
        if ours is not None:
            expected.append((ours, row.size_bytes, modified_s))
    assert len(expected) == 4
    assert candidates(report(kind, WRITERS[kind](ROWS))) == expected


@pytest.mark.parametrize("kind", WRITERS)
def test_reports_without_versions(kind: str) -> None:
    schema = "Bucket, Key, Size, LastModifiedDate"
    if kind == "CSV":
        line = f'"{BUCKET}","repo/{address(1)}","5","2022-03-31T11:59:59.000Z"\n'
        content = gzip.compress(line.encode())
    else:
        table = pq.read_table(io.BytesIO(as_parquet([Row(f"repo/{address(1)}", 5)])))
        written = io.BytesIO()
        pq.write_table(table.drop_columns(["is_latest", "is_delete_marker"]), written)
        content = written.getvalue()
    objects = report(kind, content, fileSchema=schema)
    assert candidates(objects) == [(address(1), 5, CUTOFF_S - 1)]


def test_a_point_in_a_namespace_is_a_point() -> None:
    rows = [Row(f"re.o/{address(1)}"), Row(f"repo/{address(2)}")]
    objects = report("CSV", as_csv(rows))
    inventory = read_manifest(objects, MANIFEST, f"s3://{BUCKET}/re.o")
    territory = replace(TERRITORY, namespace=f"s3://{BUCKET}/re.o")
    (file,) = inventory.files
    found = candidates_among(listed_in(objects, inventory, file), inventory.bucket, territory)
    assert found.column("address").to_pylist() == [address(1)]


@pytest.mark.parametrize("kind", WRITERS)
def test_partitions_that_were_namespaces_are_reported(kind: str) -> None:
    objects = report(kind, WRITERS[kind](ROWS))
    inventory = read_manifest(objects, MANIFEST, NAMESPACE)
    (file,) = inventory.files
    found = namespaces_among(listed_in(objects, inventory, file), inventory.bucket, TERRITORY)
    assert found.column("address").to_pylist() == [partition(300)]


def test_a_file_that_is_not_the_one_of_the_manifest() -> None:
    objects = report("CSV", as_csv(ROWS))
    objects.put("s3://reports/file", as_csv(ROWS[:1]), "a/b")
    with pytest.raises(CorruptDataError, match="s3://reports/file"):
        candidates(objects)


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize(
    "content",
    [b"", b"no such file", gzip.compress(b'"a","b"\n')],
    ids=["empty", "text", "of two columns"],
)
def test_a_file_that_is_none(kind: str, content: bytes) -> None:
    with pytest.raises(CorruptDataError, match="s3://reports/file"):
        candidates(report(kind, content))


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"files": 1}'])
def test_a_manifest_that_is_none(content: bytes) -> None:
    objects = MemoryObjectStore()
    objects.put(MANIFEST, content, "a/b")
    with pytest.raises(CorruptDataError, match=MANIFEST):
        read_manifest(objects, MANIFEST, NAMESPACE)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"sourceBucket": "lake"}, "lake"),
        ({"fileFormat": "ORC"}, "ORC"),
        ({"fileSchema": "Bucket, Key"}, "Size, LastModifiedDate"),
    ],
)
def test_a_report_that_cannot_be_used(changes: dict[str, str], named: str) -> None:
    with pytest.raises(InvalidInputError, match=named):
        read_manifest(report("CSV", as_csv(ROWS), **changes), MANIFEST, NAMESPACE)


def test_a_manifest_names_its_files() -> None:
    inventory = read_manifest(report("CSV", as_csv(ROWS)), MANIFEST, NAMESPACE)
    assert [uri for uri, _ in inventory.files] == ["s3://reports/file"]


def test_a_file_that_a_manifest_names_twice_is_read_once() -> None:
    objects = report("CSV", as_csv(ROWS))
    manifest = json.loads(objects.get(MANIFEST))
    objects.put(MANIFEST, json.dumps(manifest | {"files": manifest["files"] * 2}).encode(), "")
    assert len(read_manifest(objects, MANIFEST, NAMESPACE).files) == 1
