"""Shallow copies: two paths share data, which stay while one of the two needs them."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from graveler.branches.views import ObjectStat
from graveler.engine import Engine
from graveler.errors import GoneError, InvalidInputError, NotFoundError
from graveler.operations import branches, links, objects, repositories, retention, writes
from graveler.retention.candidates import MINIMUM_AGE_S
from graveler.retention.rules import make_rules
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.memory_collection import MemoryCollection
from tests.support.faults.counting import engine_around
from tests.support.worlds.lake import REPO, commit, content, named, new_lake, upload

DAY_S = 24 * 60 * 60


def copy(
    engine: Engine,
    source: bytes,
    path: bytes,
    *,
    branch: str = "main",
    ref: str | None = None,
) -> ObjectStat:
    return writes.copy(engine, REPO, branch, path, source_ref=ref, source_path=source, shallow=True)


def claimed(engine: Engine) -> list[str]:
    repository = engine.refs.repository(REPO)
    assert repository is not None
    return list(engine.refs.claimed_addresses(repository))


def collection(world: MemoryWorld) -> MemoryCollection:
    return MemoryCollection(world.engine(), world.files.read_all, REPO, MINIMUM_AGE_S)


def grow_old(world: MemoryWorld) -> None:
    """Let so much time pass that all data may be garbage, and no commit is too young."""
    world.clock.tick(3 * DAY_S)


@pytest.fixture
def source(engine: Engine) -> ObjectStat:
    """A committed object with metadata."""
    found: ObjectStat = upload(engine, b"a", b"data", metadata={"k": "v"})
    commit(engine)
    return found


def test_a_shallow_copy_names_the_same_data(world: MemoryWorld, source: ObjectStat) -> None:
    engine = world.engine()
    before = set(world.objects.uris())
    made = copy(engine, b"a", b"b")
    assert made.physical_address == source.physical_address
    assert set(world.objects.uris()) == before
    found = objects.stat(engine, REPO, "main", b"b")
    assert found.entry.metadata == {"k": "v"}
    assert (found.entry.checksum, found.entry.size_bytes) == (source.entry.checksum, 4)
    assert found.entry.last_modified_ns > source.entry.last_modified_ns
    assert content(engine, "main", b"b") == b"data"


def test_the_source_may_be_any_ref_of_the_repository(engine: Engine, source: ObjectStat) -> None:
    old = named(engine, "main")
    upload(engine, b"a", b"new")
    branches.create(engine, REPO, name="dev", source="main")
    assert copy(engine, b"a", b"b").physical_address != source.physical_address
    for ref in ("main@", "dev", old, f"{old[:8]}~0"):
        made = copy(engine, b"a", b"c", branch="dev", ref=ref)
        assert made.physical_address == source.physical_address


def test_an_object_from_outside_is_copied_as_it_is(engine: Engine) -> None:
    data = links.StoredData("s3://elsewhere/x", "abc", 4)
    engine.objects.put("s3://elsewhere/x", b"data", "a/b")
    links.stage(engine, REPO, "main", b"a", data)
    assert copy(engine, b"a", b"b").physical_address == "s3://elsewhere/x"
    assert claimed(engine) == []


def test_what_is_not_there_cannot_be_copied(world: MemoryWorld, source: ObjectStat) -> None:
    engine = world.engine()
    with pytest.raises(NotFoundError):
        copy(engine, b"nothing", b"b")
    world.objects.delete(source.physical_address)
    with pytest.raises(GoneError, match="No data"):
        copy(engine, b"a", b"b")
    with pytest.raises(NotFoundError):
        objects.stat(engine, REPO, "main", b"b")


@pytest.mark.parametrize("path", [b"a", b"b"])
def test_changes_of_one_path_leave_the_other(
    engine: Engine, source: ObjectStat, path: bytes
) -> None:
    other = {b"a": b"b", b"b": b"a"}[path]
    copy(engine, b"a", b"b")
    writes.set_user_metadata(engine, REPO, "main", path, {"new": ""})
    assert objects.stat(engine, REPO, "main", other).entry.metadata == {"k": "v"}
    upload(engine, path, b"overwritten")
    assert content(engine, "main", other) == b"data"
    writes.delete(engine, REPO, "main", path)
    assert content(engine, "main", other) == b"data"
    commit(engine, allow_empty=True)
    assert content(engine, "main", other) == b"data"


def test_a_copy_onto_itself_stays_what_it_is(engine: Engine, source: ObjectStat) -> None:
    assert copy(engine, b"a", b"a").physical_address == source.physical_address
    assert content(engine, "main", b"a") == b"data"


def test_no_data_are_shared_across_repositories(engine: Engine, source: ObjectStat) -> None:
    """A collection of the other repository would not know of the copy."""
    repositories.create(engine, name="other", storage_namespace="s3://bucket/other")
    with pytest.raises(InvalidInputError, match="make a full copy"):
        writes.copy(
            engine,
            "other",
            "main",
            b"b",
            source_ref="main",
            source_path=b"a",
            source_repository=REPO,
            shallow=True,
        )


def test_old_data_that_are_staged_by_hand_are_claimed_before(
    world: MemoryWorld, source: ObjectStat
) -> None:
    """A collection that misses the new name reads the claim."""
    entry = source.entry
    grow_old(world)
    described = links.StoredData(source.physical_address, entry.checksum, entry.size_bytes)
    when_staged: list[list[str]] = []

    def around(name: str, call: Callable[[], Any]) -> Any:
        if name in ("staging.stage", "staging.stage_if"):
            when_staged.append(claimed(world.engine()))
        return call()

    links.stage(engine_around(world.engine(), around), REPO, "main", b"b", described)
    assert when_staged == [[entry.address]]


def test_young_data_need_no_claim(world: MemoryWorld, source: ObjectStat) -> None:
    world.clock.tick(DAY_S - 1000)
    copy(world.engine(), b"a", b"b")
    assert claimed(world.engine()) == []
    world.clock.tick(1000)
    copy(world.engine(), b"a", b"b")
    assert [f"s3://bucket/lake/{each}" for each in claimed(world.engine())] == [
        source.physical_address
    ]


class TestCollections:
    """What a collection deletes when two paths share data."""

    @pytest.mark.usefixtures("source")
    @pytest.mark.parametrize("gone", [b"a", b"b"])
    def test_data_stay_while_one_path_names_them(self, world: MemoryWorld, gone: bytes) -> None:
        engine = world.engine()
        retention.set_rules(engine, REPO, make_rules(1, []))
        copy(engine, b"a", b"b")
        commit(engine)
        writes.delete(engine, REPO, "main", gone)
        commit(engine)
        grow_old(world)
        commit(engine, allow_empty=True)  # the earlier ones expire
        assert collection(world).run() == set()
        (left,) = {b"a", b"b"} - {gone}
        assert content(engine, "main", left) == b"data"

    def test_data_that_no_path_names_are_garbage(
        self, world: MemoryWorld, source: ObjectStat
    ) -> None:
        engine = world.engine()
        retention.set_rules(engine, REPO, make_rules(1, []))
        copy(engine, b"a", b"b")
        for path in (b"a", b"b"):
            writes.delete(engine, REPO, "main", path)
        commit(engine)
        grow_old(world)
        commit(engine, allow_empty=True)
        assert collection(world).run() == {source.physical_address}

    @pytest.mark.usefixtures("source")
    def test_a_staged_copy_keeps_the_data_of_an_expired_commit(self, world: MemoryWorld) -> None:
        engine = world.engine()
        retention.set_rules(engine, REPO, make_rules(1, []))
        old = named(engine, "main")
        writes.delete(engine, REPO, "main", b"a")
        commit(engine)
        copy(engine, b"a", b"b", ref=old)
        grow_old(world)
        assert collection(world).run() == set()
        assert content(engine, "main", b"b") == b"data"

    def test_collected_data_cannot_be_copied(self, world: MemoryWorld, source: ObjectStat) -> None:
        engine = world.engine()
        retention.set_rules(engine, REPO, make_rules(1, []))
        old = named(engine, "main")
        writes.delete(engine, REPO, "main", b"a")
        commit(engine)
        grow_old(world)
        commit(engine, allow_empty=True)
        assert collection(world).run() == {source.physical_address}
        with pytest.raises(GoneError):
            copy(engine, b"a", b"b", ref=old)

    @pytest.mark.parametrize(
        ("branch", "path"), [("main", b"b"), ("main", b"z"), ("early", b"m"), ("new", b"m")]
    )
    def test_data_that_move_at_any_moment_of_a_look_stay(self, branch: str, path: bytes) -> None:
        """Even if the mark has missed them, too."""
        for moment in count(1):
            world = world_of_staged_data()
            run = collection(world)
            run.list_candidates()
            run.marked = set(run.candidates)

            def move(world: MemoryWorld = world) -> None:
                copy(world.engine(), b"m", path, branch=branch, ref="main")
                writes.delete(world.engine(), REPO, "main", b"m")

            at = At(moment, move)
            world.staging.between = world.refs.between = run.between = at
            run.look()
            while run.delete_batch():
                pass
            if not at.is_done:
                break
            assert world.objects.head(
                objects.stat(world.engine(), REPO, branch, path).physical_address
            )
        assert moment > 5


class At:
    """Does something once, at the nth call."""

    def __init__(self, number: int, act: Callable[[], None]) -> None:
        self._number = number
        self._act = act
        self.is_done = False

    def __call__(self) -> None:
        self._number -= 1
        if self._number == 0:
            self._act()
            self.is_done = True


def world_of_staged_data() -> MemoryWorld:
    """Return a lake with old staged data on three branches, which is read in pages of one path."""
    world = new_lake()
    engine = world.engine()
    for name in ("early", "new"):
        branches.create(engine, REPO, name=name, source="main")
        upload(engine, b"x", b"other", name)
    for path in (b"a", b"m", b"n"):
        upload(engine, path, path)
    grow_old(world)
    world.staging.page_amount = 1
    return world
