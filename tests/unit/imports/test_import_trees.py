"""Large folders are listed beside each other, and small ones page by page."""

from collections import Counter

import pytest

from graveler.imports.tree import list_tree
from tests.support.memory import MemoryObjectStore

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
