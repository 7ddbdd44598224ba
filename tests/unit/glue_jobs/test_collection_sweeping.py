"""Deleting in thousands, trying again, and never where nothing may be deleted."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graveler.branches.lookup import read_repository
from graveler.errors import CorruptDataError
from graveler.limits import DELETE_OBJECTS_MAX
from graveler.model import Repository
from graveler.retention.candidates import Territory
from graveler.retention.liveness import begin_look
from graveler.retention.runs import LEASE
from graveler_jobs.garbage_collection.listing import CANDIDATE_SCHEMA
from graveler_jobs.garbage_collection.sweeping import (
    LEASE_IS_LOST,
    LOOK_IS_OLD,
    Deleted,
    Round,
    delete,
    thousands,
)
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.memory import MemoryObjectStore
from tests.support.fakes.memory_jobs import MemoryJobStore
from tests.support.worlds.addresses import address, partition
from tests.support.worlds.lake import REPO, new_lake

NAMESPACE = "s3://bucket/repo"
TERRITORY = Territory(NAMESPACE, 100, 100)
A, B, INSIDE = address(1), address(2), address(100)


def batch(addresses: Sequence[str]) -> pa.RecordBatch:
    rows = [pa.array(addresses, pa.string()), pa.array([7] * len(addresses), pa.int64())]
    times = pa.array([0] * len(addresses), pa.int64())
    return pa.RecordBatch.from_arrays([*rows, times], schema=CANDIDATE_SCHEMA)


@settings(deadline=None)  # the first one waits for pyarrow
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


def never() -> str:
    """Nothing stops the deletion."""
    return ""


def addresses_of(done: Deleted) -> list[str]:
    assert done.rows is not None
    found: list[str] = done.rows.column("address").to_pylist()
    return found


def stored(objects: MemoryObjectStore, *addresses: str) -> list[str]:
    for each in addresses:
        objects.put(f"{NAMESPACE}/{each}", b"1", "a/b")
    return list(addresses)


def test_what_could_not_be_deleted_is_tried_again_after_a_pause() -> None:
    objects = Stubborn({f"{NAMESPACE}/{B}": 2})
    pauses: list[float] = []
    wanted = batch(stored(objects, A, B))
    done = delete(objects, TERRITORY, wanted, pauses.append, never)
    assert addresses_of(done) == [A, B]
    assert (done.problems, done.left, done.stopped) == ({}, 0, "")
    assert objects.uris() == []
    assert objects.requests[1:] == [[f"{NAMESPACE}/{B}"]] * 2
    assert pauses == sorted(pauses)
    assert len(pauses) == 2


def test_objects_that_stay_are_reported() -> None:
    objects = Stubborn({f"{NAMESPACE}/{B}": 10**6})
    wanted = batch(stored(objects, A, B))
    done = delete(objects, TERRITORY, wanted, lambda _: None, never)
    assert addresses_of(done) == [A]
    assert list(done.problems) == objects.uris() == [f"{NAMESPACE}/{B}"]
    assert (done.left, done.stopped) == (0, "")


def test_missing_objects_are_fine() -> None:
    done = delete(MemoryObjectStore(), TERRITORY, batch([A]), lambda _: None, never)
    assert (addresses_of(done), done.problems) == ([A], {})


@pytest.mark.parametrize(
    "foreign", ["_lakefs/dummy", "data2/x", "", "data/2019/part-0.parquet", INSIDE]
)
def test_nothing_is_deleted_if_anything_lies_elsewhere(foreign: str) -> None:
    objects = MemoryObjectStore()
    kept = stored(objects, A)
    territory = Territory(NAMESPACE, 100, 100, (f"{NAMESPACE}/{partition(100)[:-1]}",))
    with pytest.raises(CorruptDataError):
        delete(objects, territory, batch([*kept, foreign]), lambda _: None, never)
    assert len(objects.uris()) == 1


def test_no_request_is_sent_when_the_look_has_grown_too_old() -> None:
    objects = Stubborn({})
    wanted = batch(stored(objects, A, B))
    done = delete(objects, TERRITORY, wanted, lambda _: None, lambda: LOOK_IS_OLD)
    assert (addresses_of(done), done.problems) == ([], {})
    assert (done.left, done.stopped) == (2, LOOK_IS_OLD)
    assert objects.requests == []
    assert len(objects.uris()) == 2


def test_nor_is_a_request_repeated_then() -> None:
    """The pause before it may be long: a frozen process sleeps for an hour."""
    objects = Stubborn({f"{NAMESPACE}/{B}": 10**6})
    wanted = batch(stored(objects, A, B))
    pauses: list[float] = []
    done = delete(objects, TERRITORY, wanted, pauses.append, lambda: LOOK_IS_OLD if pauses else "")
    assert addresses_of(done) == [A]
    assert (done.problems, done.left, done.stopped) == ({}, 1, LOOK_IS_OLD)
    assert len(objects.requests) == 1


@pytest.fixture
def world() -> MemoryWorld:
    return new_lake()


def round_of(world: MemoryWorld, jobs: MemoryJobStore, life_s: int = 600) -> Round:
    """A round whose look begins now, by a run that has the lease."""
    engine = world.engine()
    repository = read_repository(engine, REPO)
    now_ns = world.clock.now_ns()
    assert jobs.take_lease(repository.record, LEASE, "run", now_ns=now_ns, until_ns=now_ns + 10**9)
    look = begin_look(world.objects, f"{NAMESPACE}/looks/", 1, life_s)
    return Round(repository.record, "run", look, TERRITORY, f"{NAMESPACE}/", 0)


def test_an_executor_that_wakes_up_after_an_hour_deletes_nothing(world: MemoryWorld) -> None:
    jobs = MemoryJobStore(world.refs)
    this = round_of(world, jobs)
    assert this.stopped(jobs, world.objects, "0") == ""
    world.clock.tick(3600)
    assert this.stopped(jobs, world.objects, "0") == LOOK_IS_OLD


def test_an_executor_stops_when_another_run_has_taken_over(world: MemoryWorld) -> None:
    jobs = MemoryJobStore(world.refs)
    this = round_of(world, jobs)
    later_ns = world.clock.now_ns() + 10**12
    assert jobs.take_lease(this.repository, LEASE, "other", now_ns=later_ns, until_ns=later_ns + 1)
    assert this.stopped(jobs, world.objects, "0") == LEASE_IS_LOST


def test_an_executor_stops_when_its_run_has_ended(world: MemoryWorld) -> None:
    jobs = MemoryJobStore(world.refs)
    this = round_of(world, jobs)
    jobs.end_lease(this.repository, LEASE, "run")
    assert this.stopped(jobs, world.objects, "0") == LEASE_IS_LOST


def test_the_age_of_the_look_is_asked_last(world: MemoryWorld) -> None:
    """An executor that is frozen while it reads the lease notices it."""

    class Freezing(MemoryJobStore):
        def has_lease(self, repository: Repository, kind: str, holder: str) -> bool:
            world.clock.tick(3600)
            return super().has_lease(repository, kind, holder)

    jobs = Freezing(world.refs)
    assert round_of(world, jobs).stopped(jobs, world.objects, "0") == LOOK_IS_OLD
