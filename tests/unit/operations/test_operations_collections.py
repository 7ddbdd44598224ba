"""Whole collections in memory: what goes is what the repository itself has stored."""

import pytest

from graveler.operations import commits, repositories, writes
from graveler.operations.garbage import territory
from graveler.operations.lookup import read_repository
from graveler.retention.candidates import MINIMUM_AGE_S
from tests.support.addresses import address, partition
from tests.support.engines import MemoryWorld
from tests.support.lake import NAMESPACE, REPO, commit, content, named, new_lake, upload
from tests.support.memory_collection import MemoryCollection


@pytest.fixture
def world() -> MemoryWorld:
    return new_lake()


def collection(world: MemoryWorld, name: str = REPO) -> MemoryCollection:
    return MemoryCollection(world.engine(), world.files.read_all, name, MINIMUM_AGE_S)


def collect(world: MemoryWorld) -> set[str]:
    """The keys in the namespace of what is deleted when everything has become old."""
    world.clock.tick(MINIMUM_AGE_S + 1)
    return {uri.removeprefix(f"{NAMESPACE}/") for uri in collection(world).run()}


def test_what_others_write_under_data_stays(world: MemoryWorld) -> None:
    garbage = upload(world.engine(), b"a", b"1").entry.address
    upload(world.engine(), b"a", b"2")
    for key in ("data/2019/part-0.parquet", "data/x", f"{garbage}.parquet", "data2/x", "x"):
        world.objects.put(f"{NAMESPACE}/{key}", b"years of work", "a/b")
    assert collect(world) == {garbage}


def test_abandoned_uploads_of_lakefs_go_as_our_own_do(world: MemoryWorld) -> None:
    key = "data/gp0n1l7d77pn0cke6jjg/cg6p50nd77pn0cke6jk0"
    world.objects.put(f"{NAMESPACE}/{key}", b"1", "a/b")
    assert collect(world) == {key}


@pytest.mark.parametrize("place", ["data/inner", "data", partition(10**6)[:-1]])
def test_data_of_a_deleted_repository_inside_stay_until_it_is_restored(
    world: MemoryWorld, place: str
) -> None:
    engine = world.engine()
    inner = f"{NAMESPACE}/{place}"
    repositories.create(engine, name="inner", storage_namespace=inner, read_only=True)
    writes.upload(
        engine,
        "inner",
        "main",
        b"p",
        read_content=lambda: (b"inner", "a/b"),
        metadata={},
        force=True,
    )
    request = commits.CommitRequest("m", "s", force=True)
    commits.commit(engine, "inner", "main", request)
    world.objects.put(f"{inner}/_lakefs/dummy", b"1", "a/b")
    world.objects.put(f"{inner}/{address(1).rpartition('/')[2]}", b"1", "a/b")
    before = set(world.objects.uris(inner))
    repositories.delete(engine, "inner", force=True)
    garbage = upload(engine, b"a", b"1").entry.address
    upload(engine, b"a", b"2")
    gone = collect(world)
    assert before <= set(world.objects.uris(inner))
    # A namespace that is all of data/ is left alone, and its neighbours' garbage with it.
    assert gone == (set() if place == "data" else {garbage})


def test_nothing_is_a_candidate_where_all_of_data_was_a_namespace(world: MemoryWorld) -> None:
    world.objects.put(f"{NAMESPACE}/data/_lakefs/dummy", b"1", "a/b")
    engine = world.engine()
    found = territory(engine, read_repository(engine, REPO), 0)
    assert found.foreign == (f"{NAMESPACE}/data",)
    assert not found.holds(address(1))


def test_imported_and_linked_objects_elsewhere_are_never_candidates(world: MemoryWorld) -> None:
    engine = world.engine()
    imported = [f"{NAMESPACE}/imported", "s3://elsewhere/data/x", f"s3://elsewhere/{address(1)}"]
    for uri in imported:
        world.objects.put(uri, b"1", "a/b")
        writes.stage(
            engine,
            REPO,
            "main",
            uri.encode(),
            physical_address=uri,
            checksum="any",
            size_bytes=1,
            metadata={},
        )
    commit(engine)
    for uri in imported:
        writes.delete(engine, REPO, "main", uri.encode())
    world.clock.tick(MINIMUM_AGE_S + 1)
    run = collection(world)
    run.list_candidates()
    assert run.candidates == set()
    assert run.run() == set()
    assert [content(engine, named(engine, "main"), uri.encode()) for uri in imported] == [b"1"] * 3
