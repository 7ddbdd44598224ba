"""Inventories are read as they are stored, in any order, or refused."""

import gzip
import json
from hashlib import md5
from urllib.parse import quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from graveler.committed.store import Breaking
from graveler.errors import CorruptDataError, InvalidInputError
from graveler.imports import inventory, runs
from graveler.imports.inventory import listed_in, read_manifest
from graveler.imports.runs import Found, SortedRun, merged_runs, with_run
from graveler.model import MetaRangeID
from graveler.ports import ListedObject
from tests.support.fakes.memory import MemoryObjectStore
from tests.support.worlds.inventories import MANIFEST, put_inventory
from tests.support.worlds.model import NAMESPACE, committed_in_memory
from tests.support.worlds.strategies import paths, values

ROWS = [("é b+c", 3, "2026-11-20T00:00:00.000Z"), ("a/1", 0, "2026-11-21T01:02:03.000Z")]


@pytest.fixture
def objects():
    return MemoryObjectStore()


def rows_of(objects):
    found = read_manifest(objects, MANIFEST)
    return [row for number in range(len(found.files)) for row in listed_in(objects, found, number)]


@pytest.mark.parametrize("chunk_bytes", [1, 7, 10**6])
def test_an_inventory_lists_the_objects_of_its_bucket(objects, chunk_bytes, monkeypatch):
    monkeypatch.setattr(inventory, "_CHUNK_BYTES", chunk_bytes)
    put_inventory(objects, [ROWS, ROWS[:1]])
    first = ListedObject("s3://raw/é b+c", 3, 1_795_132_800 * 10**9, md5(b"0").hexdigest())
    found = rows_of(objects)
    assert [each.uri for each in found] == ["s3://raw/é b+c", "s3://raw/a/1", "s3://raw/é b+c"]
    assert found[0] == first


def test_old_versions_and_deleted_objects_are_left_out(objects):
    put_inventory(
        objects,
        [ROWS * 2],
        more={
            "IsLatest": ["true", "true", "false", "true"],
            "IsDeleteMarker": ["false", "true", "false", "false"],
        },
    )
    assert [each.uri for each in rows_of(objects)] == ["s3://raw/é b+c", "s3://raw/a/1"]


def test_a_file_of_old_versions_alone_is_reported_while_it_is_read(objects, monkeypatch):
    monkeypatch.setattr(inventory, "_CHUNK_BYTES", 100)
    old = {"IsLatest": ["false"] * 200, "IsDeleteMarker": ["false"] * 200}
    put_inventory(objects, [ROWS * 100], more=old)
    reports = []
    found = read_manifest(objects, MANIFEST)
    assert list(listed_in(objects, found, 0, lambda: reports.append(1))) == []
    assert len(reports) > 100


def test_a_missing_manifest_is_refused(objects):
    with pytest.raises(InvalidInputError, match="does not exist"):
        read_manifest(objects, MANIFEST)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"destinationBucket": 1}'])
def test_what_is_no_manifest_is_refused(objects, content):
    objects.put(MANIFEST, content, "application/json")
    with pytest.raises(InvalidInputError, match="no manifest"):
        read_manifest(objects, MANIFEST)


@pytest.mark.parametrize("changed", [{"fileFormat": "Parquet"}, {"fileSchema": "Bucket, Key"}])
def test_a_report_that_cannot_be_imported_says_what_to_make(objects, changed):
    put_inventory(objects, [ROWS])
    manifest = json.loads(objects.get(MANIFEST)) | changed
    objects.put(MANIFEST, json.dumps(manifest).encode(), "application/json")
    with pytest.raises(InvalidInputError, match="as CSV with Key, Size, LastModifiedDate, ETag"):
        read_manifest(objects, MANIFEST)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-5],
        lambda content: b"x" + content[1:],
        lambda _: gzip.compress(b'"raw","a"\n'),
        lambda _: gzip.compress(b'"raw","a\xff","1","2026-11-20","z"\n'),
        lambda content: gzip.compress(gzip.decompress(content) * 2),
    ],
)
def test_a_damaged_file_is_an_error_that_names_it(objects, damage):
    put_inventory(objects, [ROWS])
    uri = read_manifest(objects, MANIFEST).files[0][0]
    objects.put(uri, damage(objects.get(uri)), "application/gzip")
    with pytest.raises(CorruptDataError, match=uri):
        rows_of(objects)
    objects.delete(uri)
    with pytest.raises(CorruptDataError, match=uri):
        rows_of(objects)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("Size", "secret"),
        ("Size", str(2**63)),
        ("Size", "-1"),
        ("LastModifiedDate", "secret"),
        ("LastModifiedDate", "0001-01-01T00:00:00"),
        ("LastModifiedDate", "9999-12-31T23:59:59Z"),
        ("Key", "secret%ff"),
        ("ETag", "a secret"),
        ("ETag", ""),
    ],
)
def test_an_invalid_value_is_an_error_that_names_its_place_only(objects, column, value):
    put_inventory(objects, [ROWS])
    row = {"Bucket": "raw", "Key": "a", "Size": "1", "LastModifiedDate": "2026-11-20", "ETag": "e"}
    good, bad = ",".join(row.values()), ",".join((row | {column: value}).values())
    content = gzip.compress(f"{good}\n{bad}\n".encode())
    found = read_manifest(objects, MANIFEST)
    uri = found.files[0][0]
    objects.put(uri, content, "application/gzip")
    damaged = replace(found, files=((uri, md5(content).hexdigest()),))
    with pytest.raises(InvalidInputError) as caught:
        list(listed_in(objects, damaged, 0))
    assert str(caught.value) == f"{uri}, row 2: the value of the column {column} is invalid"


@pytest.mark.parametrize(
    "changed",
    [
        {"sourceBucket": "raw/x"},
        {"sourceBucket": "\ud800"},
        {"sourceBucket": 5},
        {"destinationBucket": "arn:aws:s3:::.."},
        {"files": [{"key": "\ud800", "MD5checksum": "x"}]},
        {"files": [{"key": "a/../../b", "MD5checksum": "x"}]},
    ],
)
def test_a_manifest_with_an_invalid_name_is_refused(objects, changed):
    put_inventory(objects, [ROWS])
    manifest = json.loads(objects.get(MANIFEST)) | changed
    objects.put(MANIFEST, json.dumps(manifest).encode(), "application/json")
    with pytest.raises(InvalidInputError, match="no manifest"):
        read_manifest(objects, MANIFEST)


@settings(deadline=None)
@given(
    st.lists(st.lists(st.tuples(paths, values), min_size=1, max_size=8), max_size=12),
    st.integers(2, 4),
    paths | st.just(b""),
)
def test_runs_are_merged_into_sorted_records(parts, runs_max, start):
    committed, _ = committed_in_memory(Breaking(3))
    made: tuple[SortedRun, ...] = ()
    expected, reports = {}, []
    # Each path is in one part, as each key is in an inventory once.
    for part in parts:
        records = [(path, value) for path, value in part if path not in expected]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(runs, "_RUNS_MAX", runs_max)
            made = with_run(committed, NAMESPACE, lambda: reports.append(1), made, 0, records)
        expected |= dict(records)
    assert len([run for run in made if run.level == 0]) < runs_max
    found = list(merged_runs(committed, NAMESPACE, made, start))
    assert found == sorted((path, value) for path, value in expected.items() if path >= start)


def test_a_file_without_rows_takes_no_memory(objects, monkeypatch):
    monkeypatch.setattr(inventory, "_CHUNK_BYTES", 2**16)
    put_inventory(objects, [ROWS])
    uri = read_manifest(objects, MANIFEST).files[0][0]
    objects.put(uri, gzip.compress(bytes(2**20)), "application/gzip")
    with pytest.raises(CorruptDataError, match="a row has more than 16384 bytes"):
        rows_of(objects)


def test_a_manifest_that_is_too_large_is_refused(objects, monkeypatch):
    monkeypatch.setattr(inventory, "_MANIFEST_BYTES_MAX", 100)
    put_inventory(objects, [ROWS])
    with pytest.raises(InvalidInputError, match="is no manifest"):
        read_manifest(objects, MANIFEST)


def test_what_is_found_so_far_survives_as_json():
    found = Found(MetaRangeID("ab"), (SortedRun(1, MetaRangeID("cd"), 2),), 3)
    assert Found.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert Found.from_json(json.loads(json.dumps(Found().to_json()))) == Found()


def test_keys_are_encoded_as_s3_does(objects):
    put_inventory(objects, [ROWS])
    (uri, _), *_ = read_manifest(objects, MANIFEST).files
    assert quote_plus("é b+c").encode() in gzip.decompress(objects.get(uri))
