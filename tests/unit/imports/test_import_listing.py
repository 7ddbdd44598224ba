"""An import stops at what it cannot bring, and opens no listing before it needs it."""

from threading import Barrier

import pytest

from graveler.entries import value_entry
from graveler.errors import InvalidInputError, NotFoundError
from graveler.imports.listing import records_after
from graveler.imports.request import SourceType, source_of
from graveler.model import AddressType, Entry
from graveler.ports import ListedObject
from tests.support.fakes.memory import MemoryObjectStore


@pytest.fixture
def objects():
    store = MemoryObjectStore()
    for key in ("a/1", "a/2", "b/1"):
        store.put(f"s3://raw/{key}", key.encode(), "text/plain")
    return store


def source(uri, destination="", kind=SourceType.PREFIX):
    return source_of(kind, uri, destination)


def test_a_record_is_the_entry_that_lakefs_makes(objects):
    ((path, value),) = records_after(objects, [source("s3://raw/b", "to")])
    info = objects.head("s3://raw/b/1")
    assert path == b"to/b/1"
    assert value_entry(value) == Entry(
        "s3://raw/b/1", AddressType.FULL, 3, info.checksum, info.last_modified_ns
    )
    found = records_after(objects, [source("s3://raw/b/1", "to", SourceType.OBJECT)])
    assert list(found) == [(b"to", value)]


def test_a_missing_object_is_an_error(objects):
    with pytest.raises(NotFoundError, match="s3://raw/a does not exist"):
        list(records_after(objects, [source("s3://raw/a", "to", SourceType.OBJECT)]))


def test_single_objects_are_read_several_at_a_time():
    together = Barrier(4)

    class Waiting(MemoryObjectStore):
        def head(self, uri, *, with_checksums=False):
            together.wait(timeout=30)
            return super().head(uri, with_checksums=with_checksums)

    objects = Waiting()
    sources = [source(f"s3://raw/{n}", f"to/{n}", SourceType.OBJECT) for n in range(8)]
    for each in sources:
        objects.put(each.uri, b"", "a/b")
    assert [path for path, _ in records_after(objects, sources)] == [
        f"to/{n}".encode() for n in range(8)
    ]


def test_a_missing_bucket_is_an_error(objects):
    objects.missing_buckets.add("gone")
    with pytest.raises(InvalidInputError, match="gone"):
        list(records_after(objects, [source("s3://gone/a/")]))


@pytest.mark.parametrize("key", ["a/../x", "..", "a/.."])
def test_an_address_that_tools_would_misread_is_an_error(objects, key):
    objects.put(f"s3://raw/{key}", b"", "a/b")
    with pytest.raises(InvalidInputError, match=r"cannot be imported: .*'\.\.'"):
        list(records_after(objects, [source("s3://raw/")]))


def test_a_path_that_is_too_long_is_an_error_that_names_the_object(objects):
    found = records_after(objects, [source("s3://raw/b/", "d" * 1022)])
    assert len(next(found)[0]) == 1024
    with pytest.raises(
        InvalidInputError, match=r"s3://raw/b/1 cannot be imported: .*1025 is above"
    ):
        next(records_after(objects, [source("s3://raw/b/", "d" * 1023)]))


def test_a_folders_own_marker_is_imported_unless_its_path_is_empty(objects):
    objects.put("s3://raw/c/", b"", "a/b")
    assert [path for path, _ in records_after(objects, [source("s3://raw/c/", "to")])] == [b"to/"]
    assert list(records_after(objects, [source("s3://raw/c/")])) == []


def test_an_unordered_listing_is_an_error():
    class Unordered(MemoryObjectStore):
        def list_objects(self, prefix_uri, start_after_uri=""):  # noqa: ARG002 - the port's
            for name in "ba":
                yield ListedObject(f"{prefix_uri}{name}", 1, 0, "checksum")

    with pytest.raises(InvalidInputError, match="not listed by key"):
        list(records_after(Unordered(), [source("s3://raw/")]))


def test_sources_with_different_destinations_are_listed_one_after_another():
    opened = []

    class Watched(MemoryObjectStore):
        def list_objects(self, prefix_uri, start_after_uri=""):
            opened.append(prefix_uri)
            yield from super().list_objects(prefix_uri, start_after_uri)

    objects = Watched()
    for name in ("x/1", "x/2", "y/1"):
        objects.put(f"s3://raw/{name}", b"", "a/b")
    found = records_after(objects, [source("s3://raw/y/", "2"), source("s3://raw/x/", "1")])
    assert next(found)[0] == b"1/1"
    assert opened == ["s3://raw/x/"]
    assert [path for path, _ in found] == [b"1/2", b"2/1"]
