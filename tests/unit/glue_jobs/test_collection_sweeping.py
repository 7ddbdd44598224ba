"""Deleting in thousands, trying again, and never where nothing may be deleted."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glue_jobs.garbage_collection.listing import CANDIDATE_SCHEMA
from glue_jobs.garbage_collection.sweeping import delete, thousands
from graveler.errors import CorruptDataError
from graveler.limits import DELETE_OBJECTS_MAX
from graveler.retention.candidates import Territory
from tests.support.addresses import address, partition
from tests.support.memory import MemoryObjectStore

NAMESPACE = "s3://bucket/repo"
TERRITORY = Territory(NAMESPACE, 100)
A, B, INSIDE = address(1), address(2), address(100)


def batch(addresses: Sequence[str]) -> pa.RecordBatch:
    rows = [pa.array(addresses, pa.string()), pa.array([7] * len(addresses), pa.int64())]
    times = pa.array([0] * len(addresses), pa.int64())
    return pa.RecordBatch.from_arrays([*rows, times], schema=CANDIDATE_SCHEMA)


@given(st.lists(st.integers(0, 2500), max_size=6))
def test_requests_are_full_and_nothing_is_lost(sizes: list[int]) -> None:
    names = iter(range(10**6))
    batches = [batch([f"data/{next(names)}" for _ in range(size)]) for size in sizes]
    made = [each.column("address").to_pylist() for each in thousands(batches)]
    assert [name for each in made for name in each] == [f"data/{n}" for n in range(sum(sizes))]
    assert all(len(each) == DELETE_OBJECTS_MAX for each in made[:-1])
    assert all(0 < len(each) <= DELETE_OBJECTS_MAX for each in made)


class Stubborn(MemoryObjectStore):
    """Answers for some objects that it could not delete them, so many times."""

    def __init__(self, refusals: dict[str, int]) -> None:
        super().__init__()
        self.refusals = refusals
        self.requests: list[Sequence[str]] = []

    def delete_many(self, uris: Sequence[str]) -> Mapping[str, str]:
        self.requests.append(list(uris))
        problems = {uri: "InternalError: " for uri in uris if self.refusals.get(uri, 0) > 0}
        for uri in problems:
            self.refusals[uri] -= 1
        super().delete_many([uri for uri in uris if uri not in problems])
        return problems


def stored(objects: MemoryObjectStore, *addresses: str) -> list[str]:
    for each in addresses:
        objects.put(f"{NAMESPACE}/{each}", b"1", "a/b")
    return list(addresses)


def test_what_could_not_be_deleted_is_tried_again_after_a_pause() -> None:
    objects = Stubborn({f"{NAMESPACE}/{B}": 2})
    pauses: list[float] = []
    wanted = batch(stored(objects, A, B))
    deleted, problems = delete(objects, TERRITORY, wanted, pauses.append)
    assert deleted.column("address").to_pylist() == [A, B]
    assert problems == {}
    assert objects.uris() == []
    assert objects.requests[1:] == [[f"{NAMESPACE}/{B}"]] * 2
    assert pauses == sorted(pauses)
    assert len(pauses) == 2


def test_what_stays_is_told() -> None:
    objects = Stubborn({f"{NAMESPACE}/{B}": 10**6})
    wanted = batch(stored(objects, A, B))
    deleted, problems = delete(objects, TERRITORY, wanted, lambda _: None)
    assert deleted.column("address").to_pylist() == [A]
    assert list(problems) == objects.uris() == [f"{NAMESPACE}/{B}"]


def test_missing_objects_are_fine() -> None:
    deleted, problems = delete(MemoryObjectStore(), TERRITORY, batch([A]), lambda _: None)
    assert (deleted.num_rows, problems) == (1, {})


@pytest.mark.parametrize(
    "foreign", ["_lakefs/dummy", "data2/x", "", "data/2019/part-0.parquet", INSIDE]
)
def test_nothing_is_deleted_if_anything_lies_elsewhere(foreign: str) -> None:
    objects = MemoryObjectStore()
    kept = stored(objects, A)
    territory = Territory(NAMESPACE, 100, (f"{NAMESPACE}/{partition(100)[:-1]}",))
    with pytest.raises(CorruptDataError):
        delete(objects, territory, batch([*kept, foreign]), lambda _: None)
    assert len(objects.uris()) == 1
