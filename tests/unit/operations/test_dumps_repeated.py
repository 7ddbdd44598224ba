"""A restore that crashed, or runs twice at once, has the same result as a single one."""

from contextlib import suppress
from functools import partial

import pytest

from graveler.errors import ConflictError, InvalidInputError, NotFoundError, ThrottledError
from graveler.model import ProtectionRule, Repository
from graveler.model.tasks import LEASE_S, TaskKind, TaskMessage, TaskState
from graveler.operations import branches, commits, dumps, repositories, tags
from graveler.operations.tasks.requests import cancel, status
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.memory import MemoryRefStore
from tests.support.fakes.tasks import run, run_all
from tests.support.faults.counting import Calls, engine_around
from tests.support.faults.faults import Crash, CrashAt, FailAt, Meanwhile
from tests.support.worlds.dumps import NOTHING, make_bare, refs_of, restored, small_batches
from tests.support.worlds.scenarios import NAMESPACE, REPO, commit, prepared_world, upload


@pytest.fixture(autouse=True)
def several_batches():
    with small_batches():
        yield


class Lake:
    """A repository with its dump, and a bare repository to restore it into."""

    def __init__(self) -> None:
        self.world: MemoryWorld = prepared_world()
        self.dumped = dumps.dump(self.engine, REPO)
        make_bare(self.engine)

    @property
    def engine(self):
        """Return the engine of a new process."""
        return self.world.engine()

    @property
    def bare(self) -> Repository:
        return self.engine.refs.repository("bare")

    def restore(self, around=None):
        engine = self.engine if around is None else engine_around(self.engine, around)
        dumps.restore(engine, "bare", self.dumped)

    def is_restored(self) -> bool:
        return refs_of(self.engine, "bare") == refs_of(self.engine, REPO)


def calls_of_a_restore() -> list[str]:
    calls = Calls()
    with small_batches():
        Lake().restore(calls)
    return calls.names


PLACES = range(1, len(calls_of_a_restore()) + 1)


def stopped_at(call: str) -> Lake:
    """Return a lake whose restore crashed after the first call of that name."""
    lake = Lake()
    number = calls_of_a_restore().index(call) + 1
    with pytest.raises(Crash):
        lake.restore(CrashAt(number))
    return lake


def test_a_restore_makes_every_kind_of_call():
    names = calls_of_a_restore()
    assert names.count("refs.restore_commits") == 3
    assert names.count("refs.restore_branches") == names.count("refs.restore_tags") == 2
    assert names.count("refs.update_repository") == 2


@pytest.mark.parametrize("number", PLACES)
def test_after_a_crash_the_same_restore_does_the_rest(number):
    lake = Lake()
    with pytest.raises(Crash):
        lake.restore(CrashAt(number))
    if number < PLACES[-1]:
        assert lake.bare.is_bare
        lake.restore()
    assert lake.is_restored()
    assert restored(lake.world) == ["bare"]


@pytest.mark.parametrize("landed", [False, True])
@pytest.mark.parametrize("number", PLACES)
def test_after_throttling_the_same_restore_does_the_rest(number, landed):
    lake = Lake()
    fault = FailAt(number, ThrottledError("slow down"), landed=landed)
    with pytest.raises(ThrottledError):
        lake.restore(fault)
    if lake.bare.is_bare:
        lake.restore()
    assert lake.is_restored()


@pytest.mark.parametrize("number", PLACES)
def test_two_concurrent_restores_both_succeed(number):
    lake = Lake()
    meanwhile = Meanwhile(number, lake.restore)
    try:
        lake.restore(meanwhile)
    except InvalidInputError as error:  # it came when all was done
        assert "can only restore into a bare" in error.message  # noqa: PT017 - most do not raise
    assert meanwhile.has_happened
    assert lake.is_restored()
    assert restored(lake.world) == ["bare"]


@pytest.mark.parametrize("number", PLACES)
def test_a_late_restore_brings_no_deleted_name_back(number):
    lake = Lake()
    (name, *_) = (branch for branch in refs_of(lake.engine, REPO)[0] if branch != "main")
    (tag, *_) = refs_of(lake.engine, REPO)[1]

    def finish_and_delete():
        lake.restore()
        branches.delete(lake.engine, "bare", name)
        tags.delete(lake.engine, "bare", tag.name)

    with suppress(InvalidInputError):  # it came when all was done
        lake.restore(Meanwhile(number, finish_and_delete))
    found = refs_of(lake.engine, "bare")
    assert name not in found[0]
    assert tag not in found[1]


def test_a_restore_that_is_cancelled_when_it_has_ended_is_not_shown_as_cancelled():
    lake = Lake()
    task = dumps.start_restore(lake.engine, "bare", lake.dumped, "somebody")

    def around(name, call):
        made = call()
        if name == "refs.update_repository" and not lake.bare.is_bare:
            cancel(lake.engine, "bare", task.id)
            lake.world.clock.tick(LEASE_S // 2)  # a report reads it
        return made

    run(engine_around(lake.engine, around), TaskMessage("bare", task.id))
    assert status(lake.engine, "bare", task.id).state is TaskState.COMPLETED


def test_a_stalled_runner_of_a_restore_brings_no_deleted_name_back():
    lake = Lake()
    task = dumps.start_restore(lake.engine, "bare", lake.dumped, "somebody")
    message = TaskMessage("bare", task.id)
    (tag, *_) = refs_of(lake.engine, REPO)[1]

    def finish_and_delete():
        lake.world.clock.tick(LEASE_S + 1)
        run(lake.engine, message, runner="second")
        tags.delete(lake.engine, "bare", tag.name)

    number = calls_of_a_task().index("refs.restore_tags") + 1
    run(engine_around(lake.engine, Meanwhile(number, finish_and_delete)), message, runner="first")
    assert status(lake.engine, "bare", task.id).state is TaskState.COMPLETED
    assert tag not in refs_of(lake.engine, "bare")[1]


@pytest.mark.parametrize("kept", [slice(0, 1), slice(1, 2)], ids=["first", "second"])
@pytest.mark.parametrize("whole", [0, 1])
def test_a_commit_lost_inside_of_a_batch_is_stored_by_the_next_attempt(whole, kept, monkeypatch):
    """DynamoDB may store any part of a batch before the process dies."""
    lake = Lake()
    store = MemoryRefStore.restore_commits
    batches = []

    def store_a_part(refs, repository, some):
        batches.append(some)
        if len(batches) > whole:
            store(refs, repository, some[kept])
            raise Crash("in the middle of a batch")
        store(refs, repository, some)

    with monkeypatch.context() as patch:
        patch.setattr(MemoryRefStore, "restore_commits", store_a_part)
        with pytest.raises(Crash):
            lake.restore()
    assert len(refs_of(lake.engine, "bare")[2]) < len(refs_of(lake.engine, REPO)[2])
    lake.restore()
    assert lake.is_restored()


def test_a_repeated_restore_skips_stored_batches():
    lake = Lake()
    names = calls_of_a_restore()
    last = len(names) - names[::-1].index("refs.restore_commits")
    with pytest.raises(Crash):
        lake.restore(CrashAt(last))
    calls = Calls()
    lake.restore(calls)
    assert calls.names.count("refs.restore_commits") == 1
    assert lake.is_restored()


def test_changes_made_in_a_half_restored_repository_stay():
    lake = stopped_at("refs.restore_branches")
    (first, *_) = refs_of(lake.engine, "bare")[0]
    made = commits.commit(
        lake.engine,
        "bare",
        first,
        commits.CommitRequest("meanwhile", "somebody", allow_empty=True),
    )
    lake.restore()
    assert refs_of(lake.engine, "bare")[0][first] == (made.id, False)
    for name, head in refs_of(lake.engine, REPO)[0].items():
        assert name == first or refs_of(lake.engine, "bare")[0][name] == head


def test_another_dump_cannot_be_mixed_into_a_restore_that_has_begun():
    lake = stopped_at("refs.restore_commits")
    tags.create(lake.engine, REPO, name="another", ref="main")
    second = dumps.dump(lake.engine, REPO)
    for restore in (dumps.restore, partial(dumps.start_restore, user="somebody")):
        with pytest.raises(ConflictError, match=lake.dumped.commits_id):
            restore(lake.engine, "bare", second)
    tags.delete(lake.engine, REPO, "another")
    lake.restore()
    assert lake.is_restored()


@pytest.mark.parametrize("number", PLACES[1:])
def test_a_repository_created_again_gets_nothing_of_the_old_restore(number):
    lake = Lake()

    def make_anew():
        repositories.delete(lake.engine, "bare")
        make_bare(lake.engine)

    with pytest.raises(NotFoundError, match="was deleted and created again"):
        lake.restore(Meanwhile(number, make_anew))
    assert refs_of(lake.engine, "bare") == NOTHING
    assert lake.bare.restoring == ""
    lake.restore()
    assert lake.is_restored()


@pytest.mark.parametrize("number", PLACES)
def test_settings_made_meanwhile_stay(number):
    lake = Lake()
    rules = (ProtectionRule("main"),)
    set_rules = partial(repositories.set_protection_rules, lake.engine, "bare", rules)
    meanwhile = Meanwhile(number, set_rules)
    lake.restore(meanwhile)
    assert meanwhile.has_happened
    assert lake.is_restored()
    assert lake.bare.protection_rules == rules


def test_a_task_reports_its_result():
    lake = Lake()
    dump = dumps.start_dump(lake.engine, REPO, "somebody")
    restore = dumps.start_restore(lake.engine, "bare", lake.dumped, "somebody")
    run_all(lake.world.task_queue, lake.engine)
    found = status(lake.engine, REPO, dump.id, TaskKind.DUMP)
    assert (found.state, found.failure) == (TaskState.COMPLETED, None)
    assert dumps.dump_of(found) == lake.dumped
    found = status(lake.engine, "bare", restore.id, TaskKind.RESTORE)
    assert (found.state, found.failure) == (TaskState.COMPLETED, None)
    assert lake.is_restored()
    for kind, task_id in ((TaskKind.DUMP, restore.id), (TaskKind.RESTORE, "RRnone")):
        with pytest.raises(NotFoundError):
            status(lake.engine, "bare", task_id, kind)


def calls_of_a_task() -> list[str]:
    calls = Calls()
    with small_batches():
        lake = Lake()
        dumps.start_restore(lake.engine, "bare", lake.dumped, "somebody")
        run_all(lake.world.task_queue, engine_around(lake.engine, calls))
    return calls.names


@pytest.mark.parametrize("number", range(1, len(calls_of_a_task()) + 1))
def test_a_restore_whose_runner_died_is_completed_by_the_next_one(number):
    lake = Lake()
    task = dumps.start_restore(lake.engine, "bare", lake.dumped, "somebody")
    message = TaskMessage("bare", task.id)
    with suppress(Crash):
        run(engine_around(lake.engine, CrashAt(number)), message, runner="first")
    lake.world.clock.tick(LEASE_S + 1)
    run(lake.engine, message, runner="second")
    assert status(lake.engine, "bare", task.id).state is TaskState.COMPLETED
    assert lake.is_restored()
    assert restored(lake.world) == ["bare"]


def test_work_goes_on_in_a_restored_repository():
    lake = Lake()
    lake.restore()
    repositories.delete(lake.engine, REPO)
    repositories.create(lake.engine, name=REPO, storage_namespace=NAMESPACE, bare=True)
    dumps.restore(lake.engine, REPO, lake.dumped)
    upload(lake.engine, b"new", b"new")
    commit(lake.engine)
    branches.create(lake.engine, REPO, name="more", source="main~1")
    again = dumps.dump(lake.engine, REPO)
    assert again != lake.dumped
