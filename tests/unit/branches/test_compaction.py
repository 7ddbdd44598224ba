"""However many commits are refused, a branch stays small, and nothing that was staged is lost.

What pre-commit refuses has sealed the branch before, so here a seal stands for a refused commit.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count

import pytest
from msgspec.structs import replace

from graveler.branches import heads
from graveler.branches.changes import StagedSource
from graveler.branches.lookup import current_branch
from graveler.branches.views import view_of_branch
from graveler.engine import Engine
from graveler.errors import GravelerError, NotFoundError, StillRunningError
from graveler.limits import SEALED_REPLACED_MAX, SEALED_TOKENS_MAX, TOKEN_RETENTION_S
from graveler.model import Branch
from graveler.model.tasks import TaskKind, TaskMessage, TaskSettings, TaskState
from graveler.operations import branches, commits, merges, writes
from graveler.operations.tasks.requests import cancel
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.tasks import run, run_all
from tests.support.faults.counting import Calls, engine_around
from tests.support.faults.faults import Crash, CrashAt, Meanwhile
from tests.support.worlds.lake import REPO, commit, content, paths, upload

MAX = 3  # of sealed tokens, so that there are few calls to try
OLD = dict.fromkeys((b"kept", b"deleted", b"new"), b"old")
# A request leaves everything that takes time to a task, and does not wait for it.
IMPATIENT = TaskSettings(request_work_s=0, request_wait_s=0)


def main_of(engine: Engine) -> Branch:
    return current_branch(engine, REPO, "main")[1]


def seal(engine: Engine) -> Branch:
    return heads.seal(*current_branch(engine, REPO, "main"))


def fill(engine: Engine, amount: int = MAX) -> None:
    """Leave as many sealed tokens, and something staged over them, as earlier versions did.

    Then main shows `kept` from its head, `new`, and `0` to `<amount - 1>`, of which the last two
    are in the newest tokens.
    """
    for path in OLD:
        upload(engine, path, b"old")
    commit(engine)
    for number in range(amount):
        upload(engine, b"%d" % number, b"%d" % number)
        upload(engine, b"new", b"%d" % number)
        if number == amount - 2:
            writes.delete(engine, REPO, "main", b"deleted")
        heads.replace_token(*current_branch(engine, REPO, "main"))
    upload(engine, b"new", b"new")


def shown(engine: Engine, ref: str = "main") -> dict[bytes, bytes]:
    return {path: content(engine, ref, path) for path in paths(engine, ref)}


FULL = {b"%d" % n: b"%d" % n for n in range(MAX)} | {b"kept": b"old", b"new": b"new"}


def drop_what_is_due(world: MemoryWorld) -> None:
    world.clock.tick(TOKEN_RETENTION_S + 1)
    for token in world.refs.due(world.clock.now_ns()):
        world.staging.drop(token)


def check_all_is_there(world: MemoryWorld, expected: dict[bytes, bytes]) -> None:
    """What is expected is staged and in the next commit, and nothing else stays for ever."""
    engine = world.engine()
    drop_what_is_due(world)
    assert set(world.staging.tokens()) <= set(main_of(engine).tokens)
    assert shown(engine) == expected
    with suppress(GravelerError):  # nothing may be left to commit
        commit(engine)
    assert shown(engine, "main@") == expected


@pytest.fixture
def full(world: MemoryWorld) -> MemoryWorld:
    world.sealed_tokens_max = MAX
    fill(world.engine())
    return world


def test_any_number_of_refused_commits_leaves_eight_sealed_tokens(world, engine):
    upload(engine, b"old", b"old")
    expected = {b"old": b"old", b"same": b"49"}
    for number in range(50):
        path = b"%02d" % number
        upload(engine, path, path)
        upload(engine, b"same", path)
        if number % 3:
            writes.delete(engine, REPO, "main", path)
        else:
            expected[path] = path
        assert len(seal(engine).sealed_tokens) <= SEALED_TOKENS_MAX
    check_all_is_there(world, expected)


def test_the_newest_of_several_sealed_changes_of_a_path_stays(world, engine):
    world.sealed_tokens_max = MAX
    for number in range(2 * MAX):
        upload(engine, b"p" if number < MAX else b"other", b"%d" % number)
        heads.replace_token(*current_branch(engine, REPO, "main"), MAX)
    assert len(main_of(engine).sealed_tokens) <= MAX
    assert content(engine, "main", b"p") == b"%d" % (MAX - 1)


def test_a_large_old_token_is_not_written_again(world, engine):
    for number in range(100):
        upload(engine, b"%d" % number, b"large")
    large = main_of(engine).staging_token
    calls = Calls()
    for _ in range(60):
        seal(engine_around(engine, calls))
        upload(engine, b"small", b"small")
    assert large in main_of(engine).sealed_tokens
    assert "staging.fill" in calls.names


def test_a_crash_at_any_moment_of_a_compaction_loses_nothing(full):
    for number in count(1):
        world = full.fork()
        try:
            seal(engine_around(world.engine(), CrashAt(number)))
        except Crash:
            check_all_is_there(world, FULL)
            continue
        break
    assert number > 2 * MAX


def _reset_new(engine: Engine) -> None:
    branches.reset(engine, REPO, "main", kind="object", path=b"new")


def _commit_and_hard_reset(engine: Engine) -> None:
    commit(engine)
    branches.hard_reset(engine, REPO, "main", ref="main~1")


MEANWHILE: dict[str, tuple[Callable[[Engine], object], dict[bytes, bytes]]] = {
    "another compaction": (seal, FULL),
    "a commit": (commit, FULL),
    "a write": (lambda e: upload(e, b"0", b"later"), FULL | {b"0": b"later"}),
    "a reset of everything": (lambda e: branches.reset(e, REPO, "main", kind="reset"), OLD),
    "a reset of an object": (_reset_new, FULL | {b"new": b"old"}),
    "a commit and a hard reset": (_commit_and_hard_reset, OLD),
}


@pytest.mark.parametrize("what", MEANWHILE)
def test_what_others_do_at_any_moment_of_a_compaction_holds(full, what):
    do, expected = MEANWHILE[what]
    for number in count(1):
        world = full.fork()
        meanwhile = Meanwhile(number, partial(do, world.engine()))
        assert len(seal(engine_around(world.engine(), meanwhile)).sealed_tokens) <= MAX
        if not meanwhile.has_happened:
            break
        check_all_is_there(world, expected)
    assert number > 2 * MAX


def test_a_branch_that_is_deleted_during_a_compaction_leaves_no_token(full):
    for number in count(1):
        world = full.fork()

        def delete(world=world):
            found, main = current_branch(world.engine(), REPO, "main")
            world.exports.delete_branch(found.record, main, found.event("x"), 1)

        meanwhile = Meanwhile(number, delete)
        with suppress(NotFoundError):
            seal(engine_around(world.engine(), meanwhile))
        if not meanwhile.has_happened:
            break
        drop_what_is_due(world)
        assert world.staging.tokens() == []


def test_a_compaction_has_a_write_that_its_scan_missed(full):
    """A store may make the items of one transaction visible at different times."""
    engine = full.engine()
    repository, branch = current_branch(engine, REPO, "main")
    late, bumped = b"%d" % (MAX - 1), []

    def show_late(name, call):
        if name == "staging.scan" and not bumped:
            return (change for change in call() if change[0] != late)
        if name == "refs.replace_sealed" and not bumped:
            bumped.append(
                engine.refs.bump_version(repository.record, "main", branch.sealed_tokens[0])
            )
        return call()

    heads.seal(replace(repository, engine=engine_around(engine, show_late)), branch)
    assert None not in bumped
    check_all_is_there(full, FULL)


def test_a_writer_whose_token_is_merged_at_once_is_told_that_it_has_written(full):
    engine = full.engine()

    def meanwhile(name, call):
        result = call()
        if name == "staging.stage":
            seal(engine)
            upload(engine, b"next", b"next")
            assert seal(engine).sealed_tokens
            for _ in range(MAX):
                upload(engine, b"next", b"next")
                seal(engine)
        return result

    upload(engine_around(full.engine(), meanwhile), b"0", b"written")
    check_all_is_there(full, FULL | {b"0": b"written", b"next": b"next"})


def test_a_compaction_that_is_slower_than_the_cleanup_brings_no_token_in(full):
    slow = []

    def stall(name, call):
        if name == "refs.replace_sealed" and not slow:
            slow.append(name)
            drop_what_is_due(full)
        return call()

    assert len(seal(engine_around(full.engine(), stall)).sealed_tokens) <= MAX
    assert slow
    check_all_is_there(full, FULL)


def test_a_crowded_branch_of_an_earlier_version_heals_by_its_next_commit(world, engine):
    fill(engine, 2 * SEALED_REPLACED_MAX + 5)
    expected = shown(engine)
    assert len(seal(engine).sealed_tokens) <= SEALED_TOKENS_MAX
    check_all_is_there(world, expected)


def test_a_writer_that_ends_a_seal_of_a_crowded_branch_makes_room(world, engine):
    fill(engine, 2 * SEALED_REPLACED_MAX)
    expected = shown(engine) | {b"more": b"more"}
    engine.staging.close(main_of(engine).staging_token)
    upload(engine, b"more", b"more")
    assert len(main_of(engine).sealed_tokens) <= SEALED_REPLACED_MAX
    check_all_is_there(world, expected)


def test_a_crowded_branch_can_be_reset(world, engine):
    fill(engine, 2 * SEALED_REPLACED_MAX)
    branches.reset(engine, REPO, "main", kind="reset")
    assert main_of(engine).sealed_tokens == ()
    drop_what_is_due(world)
    assert world.staging.tokens() == []


def test_readers_and_slices_that_hold_the_branch_from_before_go_on_reading(full):
    engine = full.engine()
    repository, before = current_branch(engine, REPO, "main")
    staged = StagedSource(before.sealed_tokens, before.version)
    base = repository.content(before.commit_id)
    changes = list(staged.changes(repository, base)(b"", None))
    assert seal(full.engine()).sealed_tokens[1:] != before.sealed_tokens
    assert list(staged.changes(repository, base)(b"", None)) == changes
    view = view_of_branch(repository, before)
    assert view.get(b"0") is not None
    assert shown(engine) == FULL  # by what it remembers of the branch


def test_a_merge_onto_changes_without_effect_takes_them_off(world, engine):
    upload(engine, b"a", b"a")
    commit(engine)
    branches.create(engine, REPO, name="source", source="main")
    upload(engine, b"b", b"b", "source")
    commit(engine, "source")
    for _ in range(SEALED_TOKENS_MAX):
        writes.delete(engine, REPO, "main", b"absent")
        heads.replace_token(*current_branch(engine, REPO, "main"))
    writes.delete(engine, REPO, "main", b"absent")
    calls = Calls()
    request = merges.MergeRequest("somebody")
    merges.merge(engine_around(world.engine(), calls), REPO, "source", "main", request)
    assert "staging.fill" not in calls.names
    assert main_of(engine).sealed_tokens == ()
    assert shown(engine) == {b"a": b"a", b"b": b"b"}


# Tasks


def test_a_request_leaves_a_long_compaction_to_its_task(full):
    full.task_settings = IMPATIENT
    with pytest.raises(StillRunningError):
        commit(full.engine())
    assert len(main_of(full.engine()).sealed_tokens) == MAX
    run_all(full.task_queue, full.engine())
    assert shown(full.engine(), "main@") == FULL


def test_a_task_that_is_started_for_a_full_branch_seals_it_itself(full):
    engine = full.engine()
    calls = Calls()
    request = commits.CommitRequest("message", "somebody")
    commits.start_commit(engine_around(engine, calls), REPO, "main", request)
    assert "staging.fill" not in calls.names
    run_all(full.task_queue, engine)
    assert shown(engine, "main@") == FULL


def _run_with(world: MemoryWorld, do: Callable[[], object], left_s: Callable[[], float]) -> None:
    """Run the task of a commit; something happens before its compaction writes."""
    request = commits.CommitRequest("message", "somebody")
    task = commits.start_commit(world.engine(), REPO, "main", request)

    def around(name, call):
        if name == "refs.offer_token":
            do()
        return call()

    message = TaskMessage(REPO, task.id)
    run(engine_around(world.engine(), around), message, time_left_s=left_s)


def test_a_task_that_is_cancelled_during_its_compaction_leaves_the_branch_as_it_was(full):
    engine, before = full.engine(), main_of(full.engine())

    def stop() -> None:
        (task,) = engine.refs.tasks(current_branch(engine, REPO, "main")[0].record, "", 10).results
        cancel(engine, REPO, task.id, TaskKind.COMMIT)

    _run_with(full, stop, lambda: 900.0)
    (task,) = engine.refs.tasks(current_branch(engine, REPO, "main")[0].record, "", 10).results
    assert task.state is TaskState.CANCELLED
    assert main_of(full.engine()) == before
    check_all_is_there(full, FULL)


def test_a_task_without_time_for_its_compaction_leaves_it_to_the_next_runner(full):
    before, left_s = main_of(full.engine()), [900.0]
    _run_with(full, lambda: left_s.append(1.0), lambda: left_s[-1])
    assert main_of(full.engine()) == before
    full.clock.tick(60)
    run_all(full.task_queue, full.engine())
    assert shown(full.engine(), "main@") == FULL
    check_all_is_there(full, FULL)


def test_a_branch_whose_compaction_takes_longer_than_a_call_can_be_committed(full):
    request = commits.CommitRequest("message", "somebody")
    task = commits.start_commit(full.engine(), REPO, "main", request)
    left_s = [0.0]

    def around(name, call):
        left_s.append(1.0) if name == "refs.offer_token" else None
        return call()

    while not task.has_ended:
        full.clock.tick(60)
        left_s.append(900.0)
        engine = engine_around(full.engine(), around)
        ran = run(engine, TaskMessage(REPO, task.id), time_left_s=lambda: left_s[-1])
        assert ran is not None
        task = ran
    assert task.state is TaskState.COMPLETED
    check_all_is_there(full, FULL)
