"""Large folders are listed beside each other, and small ones page by page."""

from bisect import bisect_left
from collections import Counter
from itertools import product
from threading import Event, Lock
from typing import Any

import pytest

from graveler.imports import listing, parallel_listing
from graveler.imports.listing import records_after
from graveler.imports.parallel_listing import PAGE_OBJECTS, list_tree
from graveler.imports.request import SourceType, source_of
from graveler.ports import ListedObject
from tests.support.fakes.memory import MemoryObjectStore

PAGE = 20


class Counting(MemoryObjectStore):
    """Counts the listings that were begun."""

    def __init__(self):
        super().__init__()
        self.begun = Counter()

    def list_objects(self, prefix_uri, start_after_uri=""):
        self.begun[prefix_uri] += 1
        return super().list_objects(prefix_uri, start_after_uri)


@pytest.fixture
def objects():
    return Counting()


def fill(objects, folders, objects_each):
    for folder in range(folders):
        for number in range(objects_each):
            objects.put(f"s3://raw/{folder:04}/{number:03}", b"", "a/b")


def listed(objects):
    found = [each.uri for each in list_tree(objects, "s3://raw/", page_objects=PAGE)]
    assert found == objects.uris()
    return objects.begun


def test_large_folders_are_listed_apart(objects):
    fill(objects, folders=12, objects_each=2 * PAGE)
    begun = listed(objects)
    # The folders themselves are listed, too.
    assert begun == {"s3://raw/": 2} | {f"s3://raw/{number:04}/": 1 for number in range(12)}


class Slow(Counting):
    """Lists no folder of the tree before the import has reported."""

    def __init__(self):
        super().__init__()
        self.is_reported = Event()

    def list_objects(self, prefix_uri, start_after_uri=""):
        if prefix_uri != "s3://raw/":
            assert self.is_reported.wait(60)
        return super().list_objects(prefix_uri, start_after_uri)


def test_an_import_reports_while_it_waits_for_a_folder(monkeypatch):
    monkeypatch.setattr(parallel_listing, "_TICK_S", 0.01)
    objects, folders = Slow(), 0
    fill(objects, folders=1, objects_each=2 * PAGE)

    def report():
        nonlocal folders
        folders += 1
        if folders > 1:  # the first report is that of the folder
            objects.is_reported.set()

    found = list_tree(objects, "s3://raw/", page_objects=PAGE, report=report)
    assert [each.uri for each in found] == objects.uris()


def test_small_folders_are_listed_in_one_request_for_many(objects):
    fill(objects, folders=200, objects_each=1)
    assert listed(objects) == {"s3://raw/": 1}


def test_many_small_folders_behind_a_large_one_are_listed_together(objects):
    fill(objects, folders=1, objects_each=3 * PAGE)
    for folder in range(1, 200):
        objects.put(f"s3://raw/{folder:04}/x", b"", "a/b")
    begun = listed(objects)
    assert begun["s3://raw/"] == 3
    assert begun.total() < 25


def test_a_folder_that_is_larger_than_what_is_listed_ahead_is_listed_to_its_end(objects):
    fill(objects, folders=3, objects_each=5 * PAGE)
    found = list_tree(objects, "s3://raw/", page_objects=PAGE, ahead_objects=PAGE)
    assert [each.uri for each in found] == objects.uris()


def test_a_listing_that_is_given_up_ends(objects):
    fill(objects, folders=12, objects_each=2 * PAGE)
    found = list_tree(objects, "s3://raw/", page_objects=PAGE)
    for _ in range(PAGE + 1):
        next(found)
    found.close()  # type: ignore[attr-defined] # it is a generator
    assert objects.begun.total() <= 14


class Flowing(MemoryObjectStore):
    """Counts the objects that listings have shown, less those that their reader has."""

    def __init__(self, uris):
        super().__init__()
        self._uris = sorted(uris)
        self.held = self.most_held = 0
        self._counting = Lock()

    def list_objects(self, prefix_uri, start_after_uri=""):
        start = bisect_left(self._uris, max(prefix_uri, f"{start_after_uri}\x00"))
        while start < len(self._uris) and self._uris[start].startswith(prefix_uri):
            with self._counting:
                self.held += 1
                self.most_held = max(self.held, self.most_held)
            yield ListedObject(self._uris[start], 1, 0, "checksum")
            start += 1

    def list_folder(self, folder_uri):
        start = bisect_left(self._uris, folder_uri)
        while start < len(self._uris) and self._uris[start].startswith(folder_uri):
            uri = self._uris[start]
            name, slash, _ = uri.removeprefix(folder_uri).partition("/")
            child = f"{folder_uri}{name}/"
            yield child if slash else ListedObject(uri, 1, 0, "checksum")
            start = bisect_left(self._uris, f"{child}\U0010ffff") if slash else start + 1

    def read(self, found):
        """Return the URIs of what is found, which is not held from then on."""
        uris = []
        for each in found:
            with self._counting:
                self.held -= 1
            uris.append(each.uri)
        return uris


def test_large_and_small_folders_may_alternate_without_end():
    folders = [("a", 8), *[(f"b{number}", 1) for number in range(10)]]
    uris = [
        f"s3://raw/{cycle:03}{folder}/{number}"
        for cycle in range(700)
        for folder, count in folders
        for number in range(count)
    ]
    objects: Any = Flowing(uris)
    found = list_tree(objects, "s3://raw/", page_objects=4, ahead_objects=8)
    assert objects.read(found) == uris


def test_folders_inside_folders_are_listed_ahead_within_a_bound():
    uris = [f"s3://raw/{'/'.join(name)}" for name in product("0123456789", repeat=4)]
    objects: Any = Flowing(uris)
    found = list_tree(objects, "s3://raw/", page_objects=2, ahead_objects=8)
    assert objects.read(found) == uris
    # Nine folders of eight objects and half as many of each next level, and pages.
    assert objects.most_held <= 9 * (8 + 4 + 2) + 20


def test_sources_with_one_destination_share_what_is_listed_ahead(monkeypatch):
    monkeypatch.setattr(listing, "AHEAD_OBJECTS", 4 * PAGE_OBJECTS)
    for count in (1, 4, 8):
        objects: Any = Flowing(
            f"s3://raw/{source}/{folder}/{source}-{number:04}"
            for source in range(count)
            for folder in range(10)
            for number in range(1500)
        )
        sources = [source_of(SourceType.PREFIX, f"s3://raw/{n}/", "") for n in range(count)]
        found = records_after(objects, sources)
        for _ in range(2000):
            next(found)
        # Nine folders, a page of each source, and what was read.
        assert objects.most_held <= (9 * 4 + count + 2) * PAGE_OBJECTS
