"""The made-up repositories of the benchmarks: sorted, seeded, of any size, with real entries."""

from collections import Counter
from itertools import islice, pairwise
from random import Random

import pytest

from bench.dataset import Dataset
from graveler.entries import entry_value, value_entry

SIZES = [1, 3, 99, 5_000, 123_456]


@pytest.mark.parametrize("objects", SIZES)
def test_a_dataset_is_a_sorted_stream_of_its_size(objects):
    keys = list(Dataset(objects).keys())
    assert len(keys) == objects
    assert all(one < other for one, other in pairwise(keys))


@pytest.mark.parametrize("objects", SIZES)
def test_any_object_can_be_asked_for_alone(objects):
    dataset = Dataset(objects)
    numbers = range(0, objects, max(1, objects // 500))
    keys = list(dataset.keys())
    assert [dataset.key(number) for number in numbers] == [keys[number] for number in numbers]
    assert list(dataset.keys(objects // 3, objects // 2)) == keys[objects // 3 : objects // 2]


def test_a_seed_gives_the_same_dataset_again_and_another_seed_another():
    first, again, other = (list(Dataset(1_000, seed).records()) for seed in (1, 1, 2))
    assert first == again
    assert not {key for key, _ in first} & {key for key, _ in other}
    assert not {value for _, value in first} & {value for _, value in other}


def test_values_are_what_the_engine_would_encode():
    for _, value in islice(Dataset(2_000).records(), 0, None, 7):
        assert entry_value(value_entry(value)) == value


def test_versions_of_an_object_differ():
    dataset = Dataset(10)
    assert dataset.value(3) == dataset.value(3, version=0) != dataset.value(3, version=1)


def test_folders_are_few_and_wide_or_deep_or_many():
    sizes = Counter(key.rpartition(b"/")[0] for key, _ in Dataset(100_000).records())
    assert sizes[b"raw/landing"] == 4_000
    assert max(folder.count(b"/") for folder in sizes) >= 10
    assert 40 <= sorted(sizes.values())[len(sizes) // 2] <= 120


def test_changes_overwrite_add_and_delete_in_key_order():
    dataset = Dataset(5_000)
    keys = set(dataset.keys())
    changes = list(dataset.changes(dataset.random_numbers(Random(1), 1_000), version=1))
    assert len(changes) == 1_000
    assert all(one[0] < other[0] for one, other in pairwise(changes))
    deleted = [key for key, value in changes if value is None]
    added = [key for key, _ in changes if key not in keys]
    assert set(deleted) <= keys
    assert 50 < len(deleted) < 150
    assert 50 < len(added) < 150


def test_neighbours_begin_with_a_partition():
    dataset = Dataset(100_000)
    numbers = dataset.neighbours(Random(1), 500)
    assert len(numbers) == 500
    first, before = dataset.key(numbers[0]), dataset.key(numbers[0] - 1)
    assert first.rpartition(b"/")[0] != before.rpartition(b"/")[0]
