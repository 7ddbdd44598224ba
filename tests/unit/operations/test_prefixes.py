"""Copies and moves of prefixes: what is staged, what is left alone, and what happens on the way."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from math import inf
from typing import Any
from unittest.mock import patch

import pytest
from msgspec import structs

from graveler.branches.heads import replace_token
from graveler.branches.lookup import current_branch, read_repository
from graveler.engine import Engine
from graveler.errors import ForbiddenError, GravelerError, InvalidInputError, NotFoundError
from graveler.model import ProtectionRule
from graveler.model.tasks import LEASE_S, REPORT_S, Task, TaskMessage, TaskState
from graveler.operations import (
    branches,
    links,
    objects,
    repositories,
    retention,
    writes,
)
from graveler.operations.prefixes import walk
from graveler.operations.prefixes.requests import (
    IfExists,
    PrefixRequest,
    start_copy,
    start_move,
)
from graveler.operations.task_work import WORK
from graveler.operations.tasks.advance import advance
from graveler.operations.tasks.requests import cancel, status
from graveler.ports import Clock
from graveler.retention.candidates import MINIMUM_AGE_S
from graveler.retention.rules import make_rules
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.memory_collection import MemoryCollection
from tests.support.fakes.tasks import run, run_all
from tests.support.faults.counting import engine_around
from tests.support.faults.faults import Crash
from tests.support.worlds.lake import REPO, commit, content, named, paths, upload

DAY_S = 24 * 60 * 60


@contextmanager
def small_steps() -> Iterator[None]:
    """Stage at most two changes in a step, and read at most three paths at once."""
    with (
        patch.object(walk, "CHANGES_TOGETHER_MAX", 2),
        patch.object(walk, "PAGE_PATHS", 3),
    ):
        yield


@pytest.fixture(autouse=True)
def _small_steps() -> Iterator[None]:
    with small_steps():
        yield


@pytest.fixture
def lake(world: MemoryWorld) -> Engine:
    """A lake with committed and staged objects under `a/`, one deleted, and others beside them."""
    engine = world.engine()
    for path in (b"a", b"a/1", b"a/2", b"a/3", b"a/gone", b"b/other", b"z"):
        upload(engine, path, b"first " + path, metadata={"k": path.decode()})
    commit(engine)
    upload(engine, b"a/2", b"second")
    upload(engine, b"a/4/x", b"staged")
    writes.delete(engine, REPO, "main", b"a/gone")
    return engine


def copy(engine: Engine, source: str, destination: str, branch: str = "main", **more: Any) -> Task:
    request = PrefixRequest(source, destination, **more)
    return start_copy(engine, REPO, branch, request, "ann")


def move(engine: Engine, source: str, destination: str, **more: Any) -> Task:
    return start_move(engine, REPO, "main", PrefixRequest(source, destination, **more), "ann")


def done(world: MemoryWorld, task: Task) -> Task:
    """Run all tasks; return the task as it ended."""
    run_all(world.task_queue, world.engine())
    ended = status(world.engine(), REPO, task.id)
    assert ended.has_ended
    return ended


def completed(world: MemoryWorld, task: Task) -> dict[str, str]:
    ended = done(world, task)
    assert ended.state is TaskState.COMPLETED, ended.failure
    return dict(ended.result)


def failed(world: MemoryWorld, task: Task) -> GravelerError:
    ended = done(world, task)
    assert ended.state is TaskState.FAILED
    assert ended.failure is not None
    return ended.failure.error


def under(engine: Engine, prefix: bytes, ref: str = "main") -> dict[bytes, bytes]:
    """Return the contents of the objects with the prefix, by the rest of their paths."""
    return {
        path.removeprefix(prefix): content(engine, ref, path)
        for path in paths(engine, ref)
        if path.startswith(prefix)
    }


A = {b"1": b"first a/1", b"2": b"second", b"3": b"first a/3", b"4/x": b"staged"}


def test_a_copy_has_what_readers_of_the_source_see(world: MemoryWorld, lake: Engine) -> None:
    before = set(world.objects.uris())
    task = copy(lake, "a/", "copy/of/")
    assert completed(world, task) == {"copied": "4", "skipped": "0"}
    assert under(lake, b"copy/of/") == under(lake, b"a/") == A
    found = objects.stat(lake, REPO, "main", b"copy/of/1").entry
    assert found.metadata == {"k": "a/1"}
    # Metadata only.
    data = {uri for uri in world.objects.uris() if "/data/" in uri}
    assert data <= before


def test_a_move_leaves_nothing_at_the_source(world: MemoryWorld, lake: Engine) -> None:
    source = objects.stat(lake, REPO, "main", b"a/1").entry
    assert completed(world, move(lake, "a/", "moved/")) == {"copied": "4", "skipped": "0"}
    assert under(lake, b"moved/") == A
    assert paths(lake, "main") == [b"a", b"b/other", *(b"moved/" + path for path in A), b"z"]
    assert objects.stat(lake, REPO, "main", b"moved/1").entry == source
    commit(lake)
    assert under(lake, b"moved/", "main@") == A


def test_nothing_is_committed(world: MemoryWorld, lake: Engine) -> None:
    head = named(lake, "main")
    completed(world, move(lake, "a/", "moved/"))
    assert named(lake, "main") == head
    assert under(lake, b"moved/", "main@") == {}


def test_a_prefix_is_no_folder(world: MemoryWorld, lake: Engine) -> None:
    completed(world, copy(lake, "a", "c"))
    assert set(under(lake, b"c")) == {b"", *(b"/" + path for path in A)}


@pytest.mark.parametrize("ref", ["main@", "dev", "main"])
def test_a_copy_may_have_another_ref_as_its_source(
    world: MemoryWorld, lake: Engine, ref: str
) -> None:
    branches.create(lake, REPO, name="dev", source="main")
    branches.create(lake, REPO, name="to", source="main")
    upload(lake, b"a/5", b"on dev", "dev")
    expected = under(lake, b"a/", ref)
    completed(world, copy(lake, "a/", "a/again/", "to", source_ref=ref))
    assert under(lake, b"a/again/", "to") == expected


def test_a_commit_stays_the_source_however_the_ref_moves(world: MemoryWorld, lake: Engine) -> None:
    expected = under(lake, b"a/", "main@")
    task = copy(lake, "a/", "copy/", source_ref="main@")
    commit(lake)
    completed(world, task)
    assert under(lake, b"copy/") == expected


class TestExisting:
    """Objects that the destination has already."""

    @pytest.fixture(autouse=True)
    def existing(self, lake: Engine) -> None:
        upload(lake, b"to/2", b"here")
        upload(lake, b"to/5", b"beside")

    def test_by_default_the_first_one_ends_the_task(self, world: MemoryWorld, lake: Engine) -> None:
        error = failed(world, move(lake, "a/", "to/"))
        assert str(error) == "path already exists: 'to/2'"
        at_destination = under(lake, b"to/")
        assert at_destination.pop(b"2") == b"here"
        assert at_destination.pop(b"5") == b"beside"
        # What moved before has one path, and what did not has one.
        assert {**under(lake, b"a/"), **at_destination} == A
        assert not at_destination.keys() & under(lake, b"a/").keys()

    def test_they_may_be_skipped(self, world: MemoryWorld, lake: Engine) -> None:
        task = move(lake, "a/", "to/", if_exists=IfExists.SKIP)
        assert completed(world, task) == {"copied": "3", "skipped": "1"}
        assert under(lake, b"to/") == {**A, b"2": b"here", b"5": b"beside"}
        assert under(lake, b"a/") == {b"2": A[b"2"]}

    def test_they_may_be_overwritten(self, world: MemoryWorld, lake: Engine) -> None:
        task = move(lake, "a/", "to/", if_exists=IfExists.OVERWRITE)
        assert completed(world, task) == {"copied": "4", "skipped": "0"}
        assert under(lake, b"to/") == {**A, b"5": b"beside"}
        assert under(lake, b"a/") == {}

    def test_what_was_deleted_does_not_exist(self, world: MemoryWorld, lake: Engine) -> None:
        commit(lake)
        writes.delete(lake, REPO, "main", b"to/2")
        completed(world, copy(lake, "a/", "to/"))
        assert under(lake, b"to/") == {**A, b"5": b"beside"}


@pytest.mark.parametrize(
    ("source", "destination"), [("a/", "a/"), ("a/", "a/b/"), ("a/b/", "a/"), ("", "b/"), ("a", "")]
)
def test_overlapping_prefixes_of_one_branch_are_refused(
    lake: Engine, source: str, destination: str
) -> None:
    for start in (copy, move):
        with pytest.raises(InvalidInputError, match="overlap"):
            start(lake, source, destination)


def test_prefixes_of_two_refs_may_overlap(world: MemoryWorld, lake: Engine) -> None:
    expected = under(lake, b"", "main@")
    completed(world, copy(lake, "", "all/", source_ref="main@"))
    assert under(lake, b"all/") == expected
    completed(world, copy(lake, "", "", source_ref="main@", if_exists=IfExists.OVERWRITE))
    assert {path: text for path, text in under(lake, b"").items() if path in expected} == expected


@pytest.mark.parametrize(
    ("source", "more", "error"),
    [
        ("nothing/", {}, NotFoundError),
        ("a/gone", {}, NotFoundError),
        ("a/", {"source_ref": "none"}, NotFoundError),
        ("a/", {"source_ref": "main$"}, InvalidInputError),
        ("a/", {"source_ref": "main~x"}, InvalidInputError),
        ("é" * 600, {}, InvalidInputError),
    ],
)
def test_a_bad_request_starts_no_task(
    world: MemoryWorld, lake: Engine, source: str, more: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        copy(lake, source, "copy/", **more)
    assert world.task_queue.waiting == []


def test_a_protected_branch_takes_nothing(world: MemoryWorld, lake: Engine) -> None:
    task = copy(lake, "a/", "copy/")
    repositories.set_protection_rules(lake, REPO, [ProtectionRule("main")])
    with pytest.raises(ForbiddenError):
        copy(lake, "a/", "other/")
    assert isinstance(failed(world, task), ForbiddenError)
    assert under(lake, b"copy/") == {}


def test_a_path_that_gets_too_long_ends_the_task(world: MemoryWorld, lake: Engine) -> None:
    error = failed(world, copy(lake, "a/", "x" * 1022))
    assert isinstance(error, InvalidInputError)


def test_an_equal_request_joins_the_open_task(world: MemoryWorld, lake: Engine) -> None:
    task = move(lake, "a/", "moved/")
    assert move(lake, "a/", "moved/").id == task.id
    assert move(lake, "a/", "other/").id != task.id


@pytest.mark.parametrize(("place", "left"), [(2, {b"1", b"2", b"3", b"4/x"}), (3, {b"3", b"4/x"})])
def test_a_cancelled_task_stages_nothing_more(
    world: MemoryWorld, lake: Engine, place: int, left: set[bytes]
) -> None:
    task = move(lake, "a/", "moved/")
    steps = []

    def cancelling(name: str, call: Callable[[], Any]) -> Any:
        if name == "staging.stage_step":
            steps.append(name)
            if len(steps) == place:
                cancel(lake, REPO, task.id)
        return call()

    run(engine_around(world.engine(), cancelling), TaskMessage(REPO, task.id))
    ended = status(lake, REPO, task.id)
    assert (ended.state, ended.done) == (TaskState.CANCELLED, 2)
    assert under(lake, b"moved/") == {path: A[path] for path in (b"1", b"2")}
    assert under(lake, b"a/").keys() == left


class Interrupted:
    """A clock that calls something at the n-th reading of the time."""

    def __init__(self, clock: Clock, number: int, call: Callable[[], None]) -> None:
        self._clock, self._left, self._call = clock, number, call

    def now_ns(self) -> int:
        self._left -= 1
        if not self._left:
            self._call()
        return self._clock.now_ns()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._clock, name)


@pytest.mark.parametrize("number", range(1, 12))
def test_a_task_that_a_beat_finds_cancelled_stages_nothing_more(
    world: MemoryWorld, lake: Engine, number: int
) -> None:
    task = move(lake, "a/", "moved/")
    beats: list[Any] = []
    moved: list[dict[bytes, bytes]] = []

    @contextmanager
    def at_work(beat: Callable[[], None], _seconds: float) -> Iterator[None]:
        beats.append(beat)
        yield

    def cancel_it() -> None:
        cancel(lake, REPO, task.id)
        world.clock.tick(REPORT_S)
        moved.append(under(lake, b"moved/"))
        for beat in beats:
            if not beat.__self__._lock._is_owned():  # another thread would wait
                beat()

    engine = world.engine()
    engine = replace(engine, clock=Interrupted(engine.clock, number, cancel_it))
    message = TaskMessage(REPO, task.id)
    advance(engine, message, WORK, runner="one", time_left_s=lambda: inf, at_work=at_work)
    assert moved == [under(lake, b"moved/")]


def places(begun: Callable[[], tuple[MemoryWorld, TaskMessage]]) -> range:
    calls = []

    def count(name: str, call: Callable[[], Any]) -> Any:
        calls.append(name)
        return call()

    world, message = begun()
    run(engine_around(world.engine(), count), message)
    return range(1, len(calls) + 1)


def test_a_runner_that_dies_anywhere_is_followed_by_one_that_goes_on(
    world: MemoryWorld, lake: Engine
) -> None:
    task = move(lake, "a/", "moved/")

    def begun() -> tuple[MemoryWorld, TaskMessage]:
        return world.fork(), TaskMessage(REPO, task.id)

    for is_after in (False, True):
        for place in places(begun):
            fork, message = begun()
            seen = 0

            def dying(
                _name: str, call: Callable[[], Any], at: int = place, after: bool = is_after
            ) -> Any:
                nonlocal seen
                seen += 1
                if seen == at:
                    if after:
                        call()
                    raise Crash
                return call()

            with pytest.raises(Crash):
                run(engine_around(fork.engine(), dying), message)
            # Somebody writes to what has moved: it must not be overwritten by a repetition.
            moved = b"moved/1" in paths(fork.engine(), "main")
            if moved:
                upload(fork.engine(), b"moved/1", b"newer")
            fork.clock.tick(LEASE_S + 1)
            run(fork.engine(), message, runner="next")
            ended = status(fork.engine(), REPO, task.id)
            assert ended.state is TaskState.COMPLETED, place
            assert ended.result == {"copied": "4", "skipped": "0"}
            expected = {**A, b"1": b"newer"} if moved else A
            assert under(fork.engine(), b"moved/") == expected
            assert under(fork.engine(), b"a/") == {}


@pytest.mark.parametrize("place", range(1, 15))
@pytest.mark.parametrize(
    "write",
    [
        lambda engine: upload(engine, b"a/1", b"newer"),
        lambda engine: upload(engine, b"moved/1", b"newer"),
        lambda engine: writes.delete(engine, REPO, "main", b"a/2"),
        commit,
        lambda engine: branches.reset(engine, REPO, "main", kind="object", path=b"a/2"),
        lambda engine: writes.set_user_metadata(engine, REPO, "main", b"a/3", {"new": ""}),
    ],
)
def test_no_write_beside_a_move_is_lost(
    world: MemoryWorld, lake: Engine, write: Callable[[Engine], object], place: int
) -> None:
    """The write comes before a read or a transaction of the move."""
    task = move(lake, "a/", "moved/", if_exists=IfExists.SKIP)
    calls = []
    before: dict[bytes, bytes] = {}

    def beside(name: str, call: Callable[[], Any]) -> Any:
        if name in ("staging.scan", "staging.stage_step"):
            calls.append(name)
            if len(calls) == place:
                with suppress(NotFoundError):  # the object has moved
                    write(lake)
                before.update(under(lake, b""))
        return call()

    run(engine_around(world.engine(), beside), TaskMessage(REPO, task.id))
    assert status(lake, REPO, task.id).state is TaskState.COMPLETED
    if not before:
        return
    after = under(lake, b"")
    for name, text in A.items():
        source, moved = before.get(b"a/" + name), before.get(b"moved/" + name)
        wanted: set[tuple[bytes | None, bytes | None]]
        wanted = {(None, moved if source is None or moved == b"newer" else source)}
        if source is None:
            wanted.add((None, text))  # its copy was under way
        elif moved not in (None, source):
            wanted.add((source, moved))  # its step is done, or somebody else wrote there
        assert (after.pop(b"a/" + name, None), after.pop(b"moved/" + name, None)) in wanted
    assert after == {path: before[path] for path in (b"a", b"b/other", b"z")}


def test_a_step_whose_token_is_sealed_makes_the_commit_scan_again(
    world: MemoryWorld, lake: Engine
) -> None:
    task = copy(lake, "a/1", "copied/1")
    sealed = []

    def seal(name: str, call: Callable[[], Any]) -> Any:
        result = call()
        if name == "staging.stage_step":
            sealed.append(replace_token(*current_branch(lake, REPO, "main")))
        return result

    run(engine_around(world.engine(), seal), TaskMessage(REPO, task.id))
    assert current_branch(lake, REPO, "main")[1].version == sealed[0].version + 1


@pytest.mark.parametrize("dies", [False, True])
@pytest.mark.parametrize("start", [copy, move])
def test_a_copy_that_a_commit_missed_is_made_again(
    world: MemoryWorld, lake: Engine, start: Callable[..., Task], dies: bool
) -> None:
    """To the task it is all the same that a user resets the path before the commit."""
    task = start(lake, "a/", "to/")
    stepped = []

    def missed(name: str, call: Callable[[], Any]) -> Any:
        result = call()
        if name == "staging.stage_step" and not stepped:
            stepped.append(name)
            branches.reset(lake, REPO, "main", kind="object", path=b"to/1")
            commit(lake)
            if dies:
                raise Crash
        return result

    with suppress(Crash):
        run(engine_around(world.engine(), missed), TaskMessage(REPO, task.id))
    world.clock.tick(LEASE_S + 1)
    assert completed(world, task) == {"copied": "4", "skipped": "0"}
    assert under(lake, b"to/") == A
    assert under(lake, b"a/") == ({} if start is move else A)


def test_a_deletion_that_a_commit_missed_is_made_again(world: MemoryWorld, lake: Engine) -> None:
    task = move(lake, "a/", "to/")
    steps = []

    def missed(name: str, call: Callable[[], Any]) -> Any:
        result = call()
        if name == "staging.stage_step":
            steps.append(name)
            if len(steps) == 2:
                branches.reset(lake, REPO, "main", kind="object", path=b"a/1")
                commit(lake)
        return result

    run(engine_around(world.engine(), missed), TaskMessage(REPO, task.id))
    assert status(lake, REPO, task.id).result == {"copied": "4", "skipped": "0"}
    assert (under(lake, b"a/"), under(lake, b"to/")) == ({}, A)


def test_a_move_deletes_nothing_before_its_copy_is_sure(world: MemoryWorld, lake: Engine) -> None:
    """A commit takes the token between the two transactions."""
    task = move(lake, "a/1", "to/1")
    heads = []

    def sealing(name: str, call: Callable[[], Any]) -> Any:
        result = call()
        if name == "staging.stage_step" and not heads:
            heads.append(commit(lake))
        return result

    run(engine_around(world.engine(), sealing), TaskMessage(REPO, task.id))
    assert content(lake, heads[0].id, b"a/1") == content(lake, heads[0].id, b"to/1") == A[b"1"]
    assert b"a/1" not in paths(lake, "main")


@pytest.mark.parametrize("mode", [IfExists.FAIL, IfExists.SKIP])
def test_a_cancelled_move_can_be_repeated(world: MemoryWorld, lake: Engine, mode: IfExists) -> None:
    task = move(lake, "a/", "to/")

    def cancelling(name: str, call: Callable[[], Any]) -> Any:
        result = call()
        if name == "staging.stage_step":
            cancel(lake, REPO, task.id)
        return result

    run(engine_around(world.engine(), cancelling), TaskMessage(REPO, task.id))
    assert len(under(lake, b"to/")) == 2
    assert under(lake, b"a/") == A
    completed(world, move(lake, "a/", "to/", if_exists=mode))
    assert (under(lake, b"a/"), under(lake, b"to/")) == ({}, A)


@pytest.mark.parametrize("mode", [IfExists.FAIL, IfExists.SKIP])
@pytest.mark.parametrize("start", [copy, move])
@pytest.mark.parametrize(
    ("write", "changed"),
    [
        (lambda engine: upload(engine, b"a/1", b"newer"), {b"1": b"newer"}),
        (lambda engine: upload(engine, b"a/0", b"newer"), {b"0": b"newer"}),
        (lambda engine: upload(engine, b"to/1", b"newer"), {b"1": b"newer"}),
        (lambda engine: writes.delete(engine, REPO, "main", b"a/1"), {}),
        (lambda engine: writes.delete(engine, REPO, "main", b"to/1"), {}),
        (commit, {}),
    ],
)
def test_a_task_that_goes_on_knows_its_own_copies(
    world: MemoryWorld,
    lake: Engine,
    write: Callable[[Engine], object],
    changed: dict[bytes, bytes],
    start: Callable[..., Task],
    mode: IfExists,
) -> None:
    """The runner dies after it has copied, and somebody writes before the next one goes on."""
    task = start(lake, "a/", "to/", if_exists=mode)

    def dying(name: str, call: Callable[[], Any]) -> Any:
        result = call()
        if name == "staging.stage_step":
            raise Crash
        return result

    with suppress(Crash):
        run(engine_around(world.engine(), dying), TaskMessage(REPO, task.id))
    write(lake)
    world.clock.tick(LEASE_S + 1)
    copied = len(A | changed)
    assert completed(world, task) == {"copied": str(copied), "skipped": "0"}
    assert under(lake, b"to/") == A | changed
    assert start is copy or under(lake, b"a/") == {}


def test_a_source_that_changed_since_its_copy_is_not_deleted_for_it(
    world: MemoryWorld, lake: Engine
) -> None:
    task = move(lake, "a/", "to/")

    def dying(name: str, call: Callable[[], Any]) -> Any:
        result = call()
        if name == "staging.stage_step":
            upload(lake, b"a/1", b"newer")
            upload(lake, b"to/1", b"of others")
            raise Crash
        return result

    with suppress(Crash):
        run(engine_around(world.engine(), dying), TaskMessage(REPO, task.id))
    world.clock.tick(LEASE_S + 1)
    assert str(failed(world, task)) == "path already exists: 'to/1'"
    assert under(lake, b"a/") == {**A, b"1": b"newer"}
    assert under(lake, b"to/")[b"1"] == b"of others"


def test_a_task_of_an_earlier_version_goes_on(world: MemoryWorld, lake: Engine) -> None:
    task = move(lake, "a/", "to/")
    found = lake.refs.repository(REPO)
    assert found is not None
    saved = {"after": b"a/1".hex(), "copied": 1, "skipped": 0}
    lake.refs.replace_task(found, task, structs.replace(task, saved=saved), None)
    assert completed(world, task) == {"copied": "4", "skipped": "0"}
    assert under(lake, b"to/") == {path: A[path] for path in A if path != b"1"}


def test_large_objects_are_staged_in_smaller_steps(
    world: MemoryWorld, lake: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DynamoDB refuses transactions of more than 4 MB."""
    monkeypatch.setattr(walk, "_STEP_BYTES_MAX", 1)
    steps: list[str] = []

    def count(name: str, call: Callable[[], Any]) -> Any:
        steps.extend([name] * (name == "staging.stage_step"))
        return call()

    task = copy(lake, "a/", "copy/")
    run(engine_around(world.engine(), count), TaskMessage(REPO, task.id))
    assert under(lake, b"copy/") == A
    assert len(steps) == len(A)


def test_imported_objects_are_copied_as_they_are(world: MemoryWorld, lake: Engine) -> None:
    world.objects.put("s3://elsewhere/x", b"data", "a/b")
    links.stage(lake, REPO, "main", b"in/x", links.StoredData("s3://elsewhere/x", "abc", 4))
    completed(world, copy(lake, "in/", "out/"))
    assert objects.stat(lake, REPO, "main", b"out/x").physical_address == "s3://elsewhere/x"


class TestCollections:
    def collection(self, world: MemoryWorld) -> MemoryCollection:
        return MemoryCollection(world.engine(), world.files.read_all, REPO, MINIMUM_AGE_S)

    def test_old_data_that_move_are_claimed_first(self, world: MemoryWorld, lake: Engine) -> None:
        uris = {
            objects.stat(lake, REPO, "main", path).physical_address
            for path in paths(lake, "main")
            if path.startswith(b"a/")
        }
        world.clock.tick(3 * DAY_S)
        completed(world, move(lake, "a/", "moved/"))
        claimed = lake.refs.claimed_addresses(read_repository(lake, REPO).record)
        assert {f"s3://bucket/lake/{each}" for each in claimed} == uris

    def test_an_object_that_is_replaced_meanwhile_is_claimed_too(
        self, world: MemoryWorld, lake: Engine
    ) -> None:
        old = upload(lake, b"old", b"old")
        world.clock.tick(3 * DAY_S)
        task = copy(lake, "a/", "copy/")
        replaced = []

        def beside(name: str, call: Callable[[], Any]) -> Any:
            if name == "refs.claim_addresses" and not replaced:
                replaced.append(name)
                call()
                writes.copy(
                    lake, REPO, "main", b"a/1", source_ref=None, source_path=b"old", shallow=True
                )
                # The other copy's own claim counts for nothing here.
                return world.refs.records_of(read_repository(lake, REPO).record).claimed.clear()
            return call()

        run(engine_around(world.engine(), beside), TaskMessage(REPO, task.id))
        assert status(lake, REPO, task.id).state is TaskState.COMPLETED
        assert under(lake, b"copy/")[b"1"] == b"old"
        assert old.entry.address in lake.refs.claimed_addresses(read_repository(lake, REPO).record)

    def test_collected_content_of_an_expired_commit_ends_the_task(
        self, world: MemoryWorld, lake: Engine
    ) -> None:
        retention.set_rules(lake, REPO, make_rules(1, []))
        expired = named(lake, "main")
        commit(lake)
        world.clock.tick(3 * DAY_S)
        commit(lake, allow_empty=True)
        assert self.collection(world).run()
        error = failed(world, copy(lake, "a/", "copy/", source_ref=expired))
        assert error.message == "No data"
        assert under(lake, b"copy/") == {}
