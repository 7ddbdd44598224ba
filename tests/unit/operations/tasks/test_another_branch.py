"""A branch is deleted and made again, or reset, while a task works for it or after that."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from graveler.engine import Engine
from graveler.errors import (
    ConflictError,
    InvalidInputError,
    MergeConflictError,
    NoChangesError,
    NotFoundError,
    StillRunningError,
)
from graveler.imports.request import ImportRequest, ImportSource, SourceType
from graveler.model import Commit
from graveler.model.tasks import Task, TaskMessage, TaskSettings, TaskState
from graveler.operations import branches, commits, imports, merges, pulls, replays
from graveler.operations.prefixes.requests import PrefixRequest, start_copy, start_move
from graveler.operations.tasks.requests import cancel
from graveler.operations.tasks.waiting import FIRST_REQUEST, ClientWait
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.tasks import run, run_all
from tests.support.faults.counting import engine_around
from tests.support.worlds.scenarios import ABSENT, REPO, contents, the_pull_request, upload
from tests.support.worlds.task_scenarios import (
    IMPATIENT,
    SCENARIOS,
    TaskScenario,
    diverged_world,
    task_now,
)

_, MERGE, REVERT, CHERRY_PICK, MERGE_PULL = SCENARIOS
COMMIT = TaskScenario(
    "commit",
    "clean",
    lambda engine, wait: commits.commit(
        engine, REPO, "clean", commits.CommitRequest("commit", "somebody"), wait
    ),
)
REPEATED = [COMMIT, MERGE, REVERT, CHERRY_PICK]
ALL = [*REPEATED, MERGE_PULL]
ANOTHER = "another branch has its name now"


def names_of(scenarios: list[TaskScenario]) -> list[str]:
    return [scenario.name for scenario in scenarios]


def world_of(scenario: TaskScenario) -> MemoryWorld:
    """Return a world where the scenario has something to do."""
    world = diverged_world()
    if scenario is COMMIT:
        upload(world.engine(), b"new", branch="clean")
    return world


def impatient(world: MemoryWorld) -> Engine:
    """Return an engine whose requests leave all work to tasks, and do not wait."""
    return replace(world.engine(), task_settings=IMPATIENT)


def at_once(world: MemoryWorld) -> Engine:
    """Return an engine whose requests do the work themselves, and join tasks."""
    settings = TaskSettings(request_work_s=10_000, request_wait_s=0)
    return replace(world.engine(), task_settings=settings)


def left_to_task(scenario: TaskScenario, world: MemoryWorld, *, is_last: bool = True) -> str:
    """Ask without waiting; return the ID of the task that does the work."""
    with pytest.raises(StillRunningError) as raised:
        scenario.ask(impatient(world), ClientWait(is_last=is_last))
    return raised.value.task_id


def head(world: MemoryWorld, branch: str) -> str:
    return branches.get(world.engine(), REPO, branch).commit_id


def recreate(world: MemoryWorld, branch: str, source: str = "") -> None:
    """Delete the branch and make another one of its name, with what was staged."""
    engine = world.engine()
    at = source or head(world, branch)
    branches.delete(engine, REPO, branch)
    branches.create(engine, REPO, name=branch, source=at)


def reset(world: MemoryWorld, branch: str, source: str) -> None:
    branches.hard_reset(world.engine(), REPO, branch, ref=source)


def run_tasks(world: MemoryWorld) -> None:
    run_all(world.task_queue, world.engine())


def commit_more(world: MemoryWorld, branch: str, path: bytes = b"more still") -> Commit:
    engine = replace(world.engine(), task_settings=TaskSettings())
    upload(engine, path, b"other", branch)
    return commits.commit(engine, REPO, branch, commits.CommitRequest("more", "somebody"))


def before_first(port_call: str, do: Callable[[], object]) -> Callable[[str, Callable], Any]:
    """Let another process do something before the first call of that name."""
    waiting = [do]

    def around(name: str, call: Callable[[], Any]) -> Any:
        if name == port_call and waiting:
            waiting.pop()()
        return call()

    return around


# What an ended task answers.


@pytest.mark.parametrize("undo", [recreate, reset])
@pytest.mark.parametrize("scenario", REPEATED, ids=names_of(REPEATED))
def test_a_repeated_request_gets_no_commit_that_its_branch_does_not_have(scenario, undo):
    world = world_of(scenario)
    before = head(world, scenario.branch)
    left_to_task(scenario, world)
    run_tasks(world)
    undone = head(world, scenario.branch)
    undo(world, scenario.branch, before)
    world.clock.tick(120)
    if scenario is COMMIT:
        upload(world.engine(), b"new", branch="clean")
    made = scenario.ask(at_once(world), FIRST_REQUEST)
    assert made.id != undone
    assert head(world, scenario.branch) == made.id


@pytest.mark.parametrize("undo", [recreate, reset])
def test_a_commit_of_nothing_is_refused_although_an_equal_one_was_undone(undo):
    world = world_of(COMMIT)
    before = head(world, "clean")
    left_to_task(COMMIT, world)
    run_tasks(world)
    undo(world, "clean", before)
    with pytest.raises(NoChangesError):
        COMMIT.ask(at_once(world), FIRST_REQUEST)


def test_a_commit_whose_changes_another_one_took_is_not_answered_with_an_earlier_commit():
    """The earlier commit of an equal request lacks them, and was the head until then."""
    world = world_of(COMMIT)
    left_to_task(COMMIT, world)
    run_tasks(world)
    upload(world.engine(), b"new", branch="clean")
    takes = before_first("staging.close", lambda: commit_more(world, "clean"))
    with pytest.raises(NoChangesError):
        COMMIT.ask(engine_around(at_once(world), takes), FIRST_REQUEST)


@pytest.mark.parametrize("scenario", ALL, ids=names_of(ALL))
def test_a_repeated_request_gets_the_commit_that_others_built_on(scenario):
    world = world_of(scenario)
    left_to_task(scenario, world)
    run_tasks(world)
    made = head(world, scenario.branch)
    commit_more(world, scenario.branch)
    assert scenario.ask(impatient(world), FIRST_REQUEST).id == made


def test_a_task_that_ends_while_it_is_looked_for_has_done_what_was_asked_for():
    """The request reads the branch first, and then finds that the task has ended."""
    world = world_of(REVERT)
    left_to_task(REVERT, world)
    ends = before_first("refs.joinable_task", lambda: run_tasks(world))
    made = REVERT.ask(engine_around(at_once(world), ends), FIRST_REQUEST)
    assert head(world, "dev") == made.id


def test_a_pull_request_that_was_merged_is_answered_although_its_source_was_deleted():
    world = world_of(MERGE_PULL)
    left_to_task(MERGE_PULL, world)
    run_tasks(world)
    branches.delete(world.engine(), REPO, "dev")
    assert MERGE_PULL.ask(impatient(world), FIRST_REQUEST).id == head(world, "clean")


def test_a_pull_request_stays_merged_when_its_destination_is_reset():
    world = world_of(MERGE_PULL)
    before = head(world, "clean")
    left_to_task(MERGE_PULL, world)
    run_tasks(world)
    reset(world, "clean", before)
    with pytest.raises(InvalidInputError, match="is merged by"):
        MERGE_PULL.ask(at_once(world), FIRST_REQUEST)


def test_a_conflict_that_was_resolved_is_not_reported_again():
    world = world_of(MERGE)
    clean = head(world, "clean")
    commit_more(world, "clean", b"more")
    left_to_task(MERGE, world)
    run_tasks(world)
    reset(world, "clean", clean)
    made = MERGE.ask(at_once(world), FIRST_REQUEST)
    assert head(world, "clean") == made.id


def test_a_failure_is_reported_as_long_as_nothing_moved_the_branch():
    world = world_of(MERGE)
    commit_more(world, "clean", b"more")
    left_to_task(MERGE, world)
    run_tasks(world)
    with pytest.raises(MergeConflictError):
        MERGE.ask(impatient(world), FIRST_REQUEST)


@pytest.mark.parametrize("is_cancelled", [True, False])
def test_a_task_of_a_deleted_branch_says_nothing_about_another_one(is_cancelled):
    world = world_of(MERGE)
    clean = head(world, "clean")
    if is_cancelled:
        cancel(world.engine(), REPO, left_to_task(MERGE, world))
    else:
        commit_more(world, "clean", b"more")
        left_to_task(MERGE, world)
        run_tasks(world)
    recreate(world, "clean", clean)
    made = MERGE.ask(at_once(world), FIRST_REQUEST)
    assert head(world, "clean") == made.id


def test_a_cancelled_request_is_a_conflict_although_the_branch_moved():
    world = world_of(MERGE)
    cancel(world.engine(), REPO, left_to_task(MERGE, world))
    commit_more(world, "clean")
    with pytest.raises(ConflictError, match="cancelled"):
        MERGE.ask(at_once(world), FIRST_REQUEST)


def test_a_task_that_an_earlier_version_stored_still_answers():
    world = world_of(MERGE)
    task_id = left_to_task(MERGE, world)
    repository = world.engine().refs.repository(REPO)
    assert repository is not None
    stored = world.engine().refs.task(repository, task_id)
    assert stored is not None
    earlier = structs.replace(stored, branch_uid=None, branch_version=None)
    world.engine().refs.replace_task(repository, stored, earlier)
    run_tasks(world)
    assert MERGE.ask(impatient(world), FIRST_REQUEST).id == head(world, "clean")


# What a ref means that moved on.


def picking(ref: str) -> TaskScenario:
    return replace(
        CHERRY_PICK,
        ask=lambda engine, wait: replays.cherry_pick(
            engine, REPO, "clean", replays.CherryPickRequest(ref, "somebody"), wait
        ),
    )


def reverting(ref: str) -> TaskScenario:
    return replace(
        REVERT,
        ask=lambda engine, wait: replays.revert(
            engine, REPO, "dev", replays.RevertRequest(ref, "somebody"), wait
        ),
    )


@pytest.mark.parametrize("runs_before", [True, False])
def test_a_pick_of_a_branch_that_moved_on_picks_its_new_head(runs_before):
    world, scenario = world_of(CHERRY_PICK), picking("dev")
    left_to_task(scenario, world)
    if runs_before:
        run_tasks(world)
    moved = commit_more(world, "dev")
    if not runs_before:
        with pytest.raises(StillRunningError) as still:
            scenario.ask(impatient(world), FIRST_REQUEST)
        assert not still.value.is_outcome
        run_tasks(world)
    made = scenario.ask(at_once(world), FIRST_REQUEST)
    assert made.metadata["cherry-pick-origin"] == moved.id
    assert b"more still" in contents(world.engine(), "clean")


def test_a_branchs_own_commit_is_reverted_once_whatever_came_after():
    world, scenario = world_of(REVERT), reverting("dev~1")
    left_to_task(scenario, world)
    run_tasks(world)
    reverted = head(world, "dev")
    commit_more(world, "dev")
    assert scenario.ask(at_once(world), FIRST_REQUEST).id == reverted


def test_a_revert_that_failed_does_not_revert_what_came_after():
    world, scenario = world_of(REVERT), reverting("dev~1")
    left_to_task(scenario, world)
    upload(world.engine(), b"more still", branch="dev")
    run_tasks(world)
    moved = commit_more(world, "dev")
    with pytest.raises(InvalidInputError, match="uncommitted changes"):
        scenario.ask(at_once(world), FIRST_REQUEST)
    assert head(world, "dev") == moved.id


def test_a_revert_that_was_reset_is_made_again():
    world, scenario = world_of(REVERT), reverting("dev~1")
    dev = head(world, "dev")
    left_to_task(scenario, world)
    run_tasks(world)
    reset(world, "dev", dev)
    made = scenario.ask(at_once(world), FIRST_REQUEST)
    assert head(world, "dev") == made.id


# On which branch a task works.


def an_import(engine: Engine) -> Task:
    source = ImportSource(SourceType.PREFIX, "s3://source/", "in/")
    request = ImportRequest((source,), "somebody")
    return imports.start_import(engine, REPO, "clean", request)


def a_commit(engine: Engine) -> Task:
    upload(engine, b"new", branch="clean")
    return commits.start_commit(engine, REPO, "clean", commits.CommitRequest("m", "somebody"))


STARTED: dict[str, Callable[[Engine], Task]] = {
    "commit": a_commit,
    "merge": lambda engine: merges.start_merge(
        engine, REPO, "dev", "clean", merges.MergeRequest("somebody")
    ),
    "import": an_import,
    "move": lambda engine: start_move(engine, REPO, "clean", PrefixRequest("b/", "z/"), "somebody"),
    "copy": lambda engine: start_copy(engine, REPO, "clean", PrefixRequest("b/", "z/"), "somebody"),
    "copy from it": lambda engine: start_copy(
        engine, REPO, "dev", PrefixRequest("b/", "z/", "clean"), "somebody"
    ),
}


def begun(world: MemoryWorld, kind: str) -> TaskMessage:
    world.objects.put("s3://source/x", b"x", "text/plain")
    return TaskMessage(REPO, STARTED[kind](impatient(world)).id)


def assert_not_found(world: MemoryWorld, message: TaskMessage) -> None:
    task = task_now(world, message)
    assert task.state is TaskState.FAILED
    assert task.failure is not None
    assert ANOTHER in task.failure.details
    with pytest.raises(NotFoundError):
        raise task.failure.error


@pytest.mark.parametrize("kind", STARTED)
def test_a_task_leaves_another_branch_of_the_name_alone(kind):
    world = diverged_world()
    message = begun(world, kind)
    recreate(world, "clean")
    seen = {name: contents(world.engine(), name) for name in ("clean", "dev")}
    upload(world.engine(), b"half done", branch="clean")
    run_tasks(world)
    assert_not_found(world, message)
    seen["clean"] = {**seen["clean"], **_staged(world)}
    assert {name: contents(world.engine(), name) for name in seen} == seen
    assert b"half done" not in contents(world.engine(), "clean@")


def _staged(world: MemoryWorld) -> dict[bytes, str]:
    return {b"half done": contents(world.engine(), "clean")[b"half done"]}


@pytest.mark.parametrize("kind", ["commit", "merge", "import", "move", "copy"])
def test_a_task_that_loses_the_race_for_a_branch_takes_no_other_one_of_the_name(kind):
    world = diverged_world()
    message = begun(world, kind)
    at, seen = head(world, "clean"), contents(world.engine(), "clean@")
    last = "staging.stage_step" if kind in ("move", "copy") else "refs.move_branch"
    meanwhile = before_first(last, lambda: recreate(world, "clean"))
    run(engine_around(world.engine(), meanwhile), message)
    assert_not_found(world, message)
    assert head(world, "clean") == at
    assert contents(world.engine(), "clean") == seen


@pytest.mark.parametrize("scenario", ALL, ids=names_of(ALL))
def test_a_request_that_loses_the_race_for_a_branch_takes_no_other_one_of_the_name(scenario):
    world = world_of(scenario)
    at = head(world, scenario.branch)
    meanwhile = before_first("refs.move_branch", lambda: recreate(world, scenario.branch))
    with pytest.raises(NotFoundError) as raised:
        scenario.ask(engine_around(at_once(world), meanwhile), FIRST_REQUEST)
    assert ANOTHER in raised.value.details
    assert head(world, scenario.branch) == at


@pytest.mark.parametrize("call", ["staging.stage_if", "refs.count_edit"])
def test_a_conditional_write_is_staged_on_no_other_branch_of_the_name(call):
    """It loses the race, or has been staged already on the branch that is deleted."""
    world = diverged_world()
    engine = engine_around(world.engine(), before_first(call, lambda: recreate(world, "clean")))
    if call == "staging.stage_if":
        with pytest.raises(NotFoundError) as raised:
            upload(engine, b"new", branch="clean", requirement=ABSENT)
        assert ANOTHER in raised.value.details
    else:
        upload(engine, b"new", branch="clean", requirement=ABSENT)
    assert b"new" not in contents(world.engine(), "clean")


def test_a_deletion_deletes_no_other_branch_of_the_name():
    world = diverged_world()
    engine = engine_around(
        world.engine(),
        before_first("exports.delete_branch", lambda: recreate(world, "clean")),
    )
    with pytest.raises(NotFoundError) as raised:
        branches.delete(engine, REPO, "clean")
    assert ANOTHER in raised.value.details
    branches.delete(world.engine(), REPO, "clean")


# Which tasks a request joins.


@pytest.mark.parametrize("scenario", REPEATED, ids=names_of(REPEATED))
def test_a_request_joins_no_task_of_a_deleted_branch(scenario):
    world = world_of(scenario)
    first = left_to_task(scenario, world)
    recreate(world, scenario.branch)
    if scenario is COMMIT:
        upload(world.engine(), b"new", branch="clean")
    assert left_to_task(scenario, world) != first
    run_tasks(world)
    assert scenario.ask(impatient(world), FIRST_REQUEST).id == head(world, scenario.branch)


@pytest.mark.parametrize("has_ended", [True, False])
@pytest.mark.parametrize("scenario", ALL, ids=names_of(ALL))
def test_a_redirect_to_a_task_of_a_deleted_branch_leads_to_no_other_branch(scenario, has_ended):
    world = world_of(scenario)
    named = left_to_task(scenario, world, is_last=False)
    before = head(world, scenario.branch)
    if has_ended:
        run_tasks(world)
    recreate(world, scenario.branch, before)
    with pytest.raises(NotFoundError) as raised:
        scenario.ask(at_once(world), ClientWait(named))
    assert ANOTHER in raised.value.details
    assert head(world, scenario.branch) == before


# Which branches a pull request is for.


@pytest.mark.parametrize("branch", ["dev", "clean"])
def test_a_pull_request_does_not_merge_another_branch_of_the_name(branch):
    world = diverged_world()
    engine = world.engine()
    recreate(world, branch)
    at = head(world, "clean")
    with pytest.raises(NotFoundError) as raised:
        pulls.merge(engine, REPO, the_pull_request(engine), merges.MergeRequest("somebody"))
    assert "create a pull request for that branch" in raised.value.details
    assert head(world, "clean") == at
