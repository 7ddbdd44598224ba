"""Whole garbage collections in memory: they delete only what the repository itself stored."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from graveler.branches.lookup import read_repository
from graveler.engine import Engine
from graveler.errors import ContentionError, PreconditionFailedError
from graveler.operations import (
    branches,
    commits,
    links,
    recorded_uploads,
    repositories,
    retention,
    writes,
)
from graveler.operations.collection_reads import territory
from graveler.operations.tables import namespaces, tables
from graveler.ports import UploadedPart
from graveler.retention.candidates import MINIMUM_AGE_S, TABLES_MINIMUM_AGE_S
from graveler.retention.liveness import LOOK_S
from graveler.retention.rules import make_rules
from tests.support.fakes.clocks import SkewedClock
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.memory import CountingNames
from tests.support.fakes.memory_collection import MemoryCollection
from tests.support.faults.counting import engine_around
from tests.support.faults.faults import Meanwhile
from tests.support.worlds.addresses import address, partition
from tests.support.worlds.iceberg_tables import request
from tests.support.worlds.lake import NAMESPACE, REPO, commit, content, named, upload


def collection(world: MemoryWorld, name: str = REPO) -> MemoryCollection:
    return MemoryCollection(world.engine(), world.files.read_all, name, MINIMUM_AGE_S)


def collect(world: MemoryWorld) -> set[str]:
    """Return the keys of the namespace that a collection deletes when everything is old."""
    world.clock.tick(MINIMUM_AGE_S + 1)
    return {uri.removeprefix(f"{NAMESPACE}/") for uri in collection(world).run()}


def test_objects_of_other_software_under_data_stay(world: MemoryWorld) -> None:
    garbage = upload(world.engine(), b"a", b"1").entry.address
    upload(world.engine(), b"a", b"2")
    for key in ("data/2019/part-0.parquet", "data/x", f"{garbage}.parquet", "data2/x", "x"):
        world.objects.put(f"{NAMESPACE}/{key}", b"years of work", "a/b")
    assert collect(world) == {garbage}


def test_abandoned_uploads_of_lakefs_are_deleted_like_our_own(world: MemoryWorld) -> None:
    key = "data/gp0n1l7d77pn0cke6jjg/cg6p50nd77pn0cke6jk0"
    world.objects.put(f"{NAMESPACE}/{key}", b"1", "a/b")
    assert collect(world) == {key}


@pytest.mark.parametrize("place", ["data/inner", "data", partition(10**6)[:-1]])
def test_data_of_a_deleted_repository_inside_the_namespace_stay(
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
    # A namespace at data/ itself is kept, with the garbage beside it.
    assert gone == (set() if place == "data" else {garbage})


def test_a_namespace_at_the_data_folder_has_no_candidates(world: MemoryWorld) -> None:
    world.objects.put(f"{NAMESPACE}/data/_lakefs/dummy", b"1", "a/b")
    engine = world.engine()
    found = territory(read_repository(engine, REPO), 0, 0)
    assert found.foreign == (f"{NAMESPACE}/data",)
    assert not found.holds(address(1))


def test_a_table_that_is_renamed_while_a_collection_reads_its_branch_stays(
    world: MemoryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, sales = world.engine(), ("sales",)
    namespaces.create(engine, REPO, "main", sales, {})
    tables.create(engine, REPO, "main", sales, "z", request())
    world.clock.tick(TABLES_MINIMUM_AGE_S + 1)
    run = collection(world)
    run.list_candidates()
    scan = world.staging.scan

    def renamed_meanwhile(*where: Any) -> Iterator[tuple[bytes, bytes | None]]:
        """The new path has no entry when it is read, and the old one none any more."""
        tables.rename(engine, REPO, "main", (sales, "z"), (sales, "a"))
        return (each for each in scan(*where) if not each[0].endswith(b"/tables/a"))

    with monkeypatch.context() as patch:
        patch.setattr(world.staging, "scan", renamed_meanwhile)
        run.look_at_staged()
    run.look_at_commits()
    run.mark()
    assert len(run.candidates) == 2, "the files of the namespace and of the table"
    assert run.marked == set()


def test_imported_and_linked_objects_elsewhere_are_never_candidates(world: MemoryWorld) -> None:
    engine = world.engine()
    imported = [f"{NAMESPACE}/imported", "s3://elsewhere/data/x", f"s3://elsewhere/{address(1)}"]
    for uri in imported:
        world.objects.put(uri, b"1", "a/b")
        links.stage(
            engine,
            REPO,
            "main",
            uri.encode(),
            links.StoredData(physical_address=uri, checksum="any", size_bytes=1),
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


def with_clock(world: MemoryWorld, seconds: float) -> Engine:
    """Return an engine on a machine whose clock is that far ahead."""
    clock = SkewedClock(world.clock, round(seconds * 10**9))
    return replace(world.engine(), clock=clock, names=CountingNames(clock))


HOUR_S = 3600


def test_a_late_link_is_safe_from_collection_despite_skewed_clocks(
    world: MemoryWorld,
) -> None:
    given = links.get_physical_address(with_clock(world, HOUR_S), REPO, "main", b"path")
    world.objects.put(given, b"linked", "a/b")
    world.clock.tick(26 * HOUR_S - 60)  # a day for a clock that is an hour slow, less a minute
    frozen: list[str] = []

    def freeze(name: str, call: Callable[[], Any]) -> Any:
        if name.startswith("staging.") and not frozen:  # the address has been checked
            frozen.append(name)
            world.clock.tick(HOUR_S)
            late = with_clock(world, HOUR_S)
            gone = MemoryCollection(late, world.files.read_all, REPO, MINIMUM_AGE_S).run()
            assert gone == set()
        return call()

    links.link(
        engine_around(with_clock(world, -HOUR_S), freeze),
        REPO,
        "main",
        b"path",
        links.StoredData(physical_address=given, checksum="any", size_bytes=6),
    )
    assert frozen
    assert content(world.engine(), "main", b"path") == b"linked"


def expired(world: MemoryWorld, objects: int) -> list[str]:
    """Return the addresses of objects at 0, 1, ... of a commit that is not active any more."""
    engine = world.engine()
    now_s = engine.now_s()
    addresses = [upload(engine, b"%d" % n, b"%d" % n).entry.address for n in range(objects)]
    commit(engine, date_s=now_s - 9 * 86400)
    for number in range(objects):
        writes.delete(engine, REPO, "main", b"%d" % number)
    commit(engine, date_s=now_s - 5 * 86400)
    upload(engine, b"later", b"later")
    commit(engine, date_s=now_s - 4 * 86400)
    retention.set_rules(engine, REPO, make_rules(1, []))
    world.clock.tick(MINIMUM_AGE_S + 1)
    return addresses


def marked(world: MemoryWorld, **options: Any) -> MemoryCollection:
    run = MemoryCollection(world.engine(), world.files.read_all, REPO, MINIMUM_AGE_S, **options)
    run.list_candidates()
    run.look_at_staged()
    run.look_at_commits()
    run.mark()
    return run


def passes(world: MemoryWorld, seconds: float) -> bool:
    """Let time pass at a look for the lease, which is still held."""
    world.clock.tick(seconds)
    return True


def revive(world: MemoryWorld) -> None:
    branches.create(world.engine(), REPO, name="revived", source="main~2")


@pytest.mark.parametrize("passed_s", [LOOK_S + 10, 12 * HOUR_S])
def test_objects_revived_while_a_run_is_stalled_stay(world: MemoryWorld, passed_s: int) -> None:
    addresses = expired(world, 3)
    run = marked(world, batch_objects=1)
    run.look()
    assert run.delete_batch()
    revive(world)
    world.clock.tick(passed_s)
    assert not run.delete_batch()
    assert run.sweep() == {f"{NAMESPACE}/{min(addresses)}"}
    assert sum(world.objects.head(f"{NAMESPACE}/{each}") is not None for each in addresses) == 2


def test_a_sweep_of_hours_checks_again_and_deletes_everything(world: MemoryWorld) -> None:
    addresses = expired(world, 20)
    run = marked(world, batch_objects=1, has_lease=lambda: passes(world, LOOK_S / 4))
    assert run.sweep() == {f"{NAMESPACE}/{each}" for each in addresses}
    folder = f"{NAMESPACE}/_lakefs/retention/gc/unified/memory/looks/"
    assert len({uri[len(folder) :][:4] for uri in world.objects.uris(folder)}) > 5


def test_a_run_whose_checks_take_too_long_gives_up(world: MemoryWorld) -> None:
    expired(world, 1)
    run = marked(world, has_lease=lambda: passes(world, LOOK_S + 1))
    with pytest.raises(PreconditionFailedError):
        run.sweep()
    assert run.deleted == set()


def test_a_run_that_lost_its_lease_deletes_nothing_more(world: MemoryWorld) -> None:
    expired(world, 3)
    answers = iter([True, False])
    run = marked(world, batch_objects=1, has_lease=lambda: next(answers))
    with pytest.raises(ContentionError):
        run.sweep()
    assert len(run.deleted) == 1


STEPS = ("list_candidates", "look_at_staged", "look_at_commits", "mark", "look", "sweep")


@pytest.mark.parametrize("number", range(len(STEPS) + 1))
@pytest.mark.parametrize("then", ["nothing", "commit"])
def test_a_long_upload_that_completes_during_a_collection_keeps_its_data(
    world: MemoryWorld, number: int, then: str
) -> None:
    """S3 dates the object by the start of the upload, days ago."""
    engine = world.engine()
    begun = recorded_uploads.create(engine, REPO, "main", b"large", metadata={})
    uri = f"{NAMESPACE}/{begun.address}"
    parts = [UploadedPart(1, engine.objects.upload_part(uri, begun.store_id, 1, b"content"))]
    world.clock.tick(MINIMUM_AGE_S + 1)
    run = collection(world)

    def complete() -> None:
        recorded_uploads.complete(engine, REPO, "main", b"large", begun.id, parts)
        if then == "commit":
            commit(engine)

    for step, name in enumerate(STEPS):
        if step == number:
            complete()
        getattr(run, name)()
    if number == len(STEPS):
        complete()
    assert content(engine, "main", b"large") == b"content"


def test_a_long_upload_completes_between_any_two_reads_of_a_collection(world: MemoryWorld) -> None:
    begun = recorded_uploads.create(world.engine(), REPO, "main", b"large", metadata={})
    objects, uri = world.objects, f"{NAMESPACE}/{begun.address}"
    parts = [UploadedPart(1, objects.upload_part(uri, begun.store_id, 1, b"content"))]
    # As if the completion had stopped before its transaction: the object is there, and old.
    objects.complete_upload(uri, begun.store_id, parts)
    world.clock.tick(MINIMUM_AGE_S + 1)
    for number in range(1, 200):
        lake = world.fork()

        def complete(lake: MemoryWorld = lake) -> None:
            engine = lake.engine()
            recorded_uploads.complete(engine, REPO, "main", b"large", begun.id, parts)
            commit(engine)

        meanwhile = Meanwhile(number, complete)
        engine = engine_around(lake.engine(), meanwhile)
        MemoryCollection(engine, lake.files.read_all, REPO, MINIMUM_AGE_S).run()
        if not meanwhile.has_happened:
            complete()
        assert content(lake.engine(), "main", b"large") == b"content"
        if not meanwhile.has_happened:
            return
    pytest.fail("a collection takes too many calls")


def test_data_of_an_aborted_upload_are_garbage(world: MemoryWorld) -> None:
    """Its completion joined the parts, and lost to the abort."""
    engine = world.engine()
    begun = recorded_uploads.create(engine, REPO, "main", b"large", metadata={})
    uri = f"{NAMESPACE}/{begun.address}"
    part = UploadedPart(1, engine.objects.upload_part(uri, begun.store_id, 1, b"content"))
    engine.objects.complete_upload(uri, begun.store_id, [part])
    assert collect(world) == set()
    recorded_uploads.abort(engine, REPO, "main", b"large", begun.id)
    assert collect(world) == {begun.address}
