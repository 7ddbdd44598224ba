"""What a collection reads from files of tables, and what it does not dare to guess."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from io import BytesIO
from typing import Any

import fastavro
import msgspec
import pytest

from graveler.errors import (
    BucketRefusedError,
    CorruptDataError,
    GoneError,
    GravelerError,
    InvalidInputError,
)
from graveler.iceberg.files import FileKind
from graveler_jobs.garbage_collection.table_files import (
    _found,
    _of_list,
    _of_manifest,
    _of_metadata,
)
from tests.support.checks.cases import for_each
from tests.support.worlds.iceberg_tables import LOCATION, table, with_snapshots
from tests.support.worlds.table_files import ADDED, DELETED, EXISTING, manifest, manifest_list

URI = "s3://bucket/lake/_iceberg/x/file"

Names = Callable[[bytes], Iterable[tuple[str, str]]]


def read(content: bytes | Exception, names: Names) -> list[tuple[str, str]]:
    """What a file of that content names, or the error of reading it."""
    future = Future[bytes]()
    if isinstance(content, bytes):
        future.set_result(content)
    else:
        future.set_exception(content)
    return [(each["kind"], each["uri"]) for each in _found(URI, future, names)]


def test_metadata_name_lists_which_name_manifests() -> None:
    content = msgspec.json.encode(with_snapshots(table(), 1))
    name = f"{LOCATION}/metadata/snap-1.avro"
    assert read(content, _of_metadata) == [(FileKind.MANIFEST_LIST, name)]
    found = read(manifest_list("s3a://b/m1", "s3n://b/m2", "s3://b/m3"), _of_list)
    assert found == [(FileKind.MANIFEST, f"s3://b/m{number}") for number in (1, 2, 3)]
    assert read(manifest_list(), _of_list) == []


def test_a_manifest_names_what_its_snapshot_has() -> None:
    content = manifest({"s3://b/a": ADDED, "s3a://b/e": EXISTING, "s3://b/d": DELETED})
    assert read(content, _of_manifest) == [
        (FileKind.OTHER, "s3://b/a"),
        (FileKind.OTHER, "s3://b/e"),
    ]


def test_a_manifest_may_have_values_that_python_has_not() -> None:
    named = [{"name": "file_path", "type": "string"}]
    fields: Any = [
        {"name": "status", "type": "int"},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "data_file", "type": {"name": "r2", "type": "record", "fields": named}},
    ]
    year_10000 = {"status": ADDED, "day": 2_932_897, "data_file": {"file_path": "s3://b/a"}}
    content = BytesIO()
    schema = {"name": "manifest_entry", "type": "record", "fields": fields}
    fastavro.writer(content, fastavro.parse_schema(schema), [year_10000])
    assert read(content.getvalue(), _of_manifest) == [(FileKind.OTHER, "s3://b/a")]


def test_a_collected_table_names_nothing() -> None:
    assert read(GoneError("no data"), _of_metadata) == []


AVRO = manifest({"s3://b/a": ADDED})


@for_each(
    ("content", "names", "expected"),
    [
        (GoneError("no data"), _of_manifest, CorruptDataError),
        (InvalidInputError("'file:///x' is not an S3 URI"), _of_list, CorruptDataError),
        (b"", _of_manifest, CorruptDataError),
        (b"PAR1", _of_list, CorruptDataError),
        (AVRO[:-1], _of_manifest, CorruptDataError),
        (AVRO[:40], _of_manifest, CorruptDataError),
        (AVRO.replace(b"deflate", b"unknown"), _of_manifest, CorruptDataError),
        (manifest_list("s3://b/m"), _of_manifest, CorruptDataError),
        (AVRO, _of_list, CorruptDataError),
        (b"[]", _of_metadata, CorruptDataError),
        (b"{}", _of_metadata, CorruptDataError),
        (BucketRefusedError("no"), _of_metadata, BucketRefusedError),
    ],
    ids=lambda row: (row[0], row[1].__name__),
)
def test_what_cannot_be_read_ends_the_run(
    content: bytes | Exception, names: Names, expected: type[GravelerError]
) -> None:
    with pytest.raises(expected) as caught:
        read(content, names)
    assert URI in str(caught.value)
    assert expected is not CorruptDataError or "drop the table" in str(caught.value)
