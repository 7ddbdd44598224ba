"""A request that takes long leaves its work to a task; asked again, it waits for the same task."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from msgspec import structs

from graveler.engine import Engine
from graveler.errors import (
    ConflictError,
    ForbiddenError,
    GravelerError,
    InvalidInputError,
    MergeConflictError,
    NoChangesError,
    NotFoundError,
    StillRunningError,
    TooManyWaitsError,
)
from graveler.imports.request import ImportRequest, SourceType, source_of
from graveler.model import ProtectionRule
from graveler.model.tasks import TaskKind, TaskMessage, TaskSettings, TaskState
from graveler.operations import (
    branches,
    commits,
    dumps,
    imports,
    merges,
    repositories,
    retention,
    tags,
)
from graveler.operations.tasks.requests import cancel
from graveler.operations.tasks.waiting import FIRST_REQUEST, OUTCOME_LIFE_S, ClientWait
from graveler.retention.rules import RetentionRules
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.tasks import run, run_all
from tests.support.faults.counting import engine_around
from tests.support.faults.faults import Meanwhile
from tests.support.worlds.dumps import make_bare, refs_of
from tests.support.worlds.scenarios import REPO, contents, outside, upload
from tests.support.worlds.task_scenarios import (
    IMPATIENT,
    SCENARIOS,
    TaskScenario,
    diverged_world,
    effects,
    task_now,
    tasks_of,
)

COMMIT, MERGE, REVERT, *_ = SCENARIOS
NAMES = [scenario.name for scenario in SCENARIOS]
IMPORT = ImportRequest((source_of(SourceType.PREFIX, "s3://raw/in/", "in/"),), "ann")
PATIENT = TaskSettings(request_work_s=0, request_wait_s=1000)


@pytest.fixture
def world(monkeypatch) -> MemoryWorld:
    """A world whose requests leave work to tasks, and whose runner works while they wait."""
    made = diverged_world()
    made.task_settings = PATIENT

    def sleep(seconds: float) -> None:
        made.clock.tick(seconds)
        run_all(made.task_queue, made.engine())

    monkeypatch.setattr(made.clock, "sleep", sleep)
    return made


def impatient(world: MemoryWorld) -> Engine:
    """Return an engine whose requests do not wait."""
    return replace(world.engine(), task_settings=IMPATIENT)


def told_to_come_again(
    scenario: TaskScenario, world: MemoryWorld, *, task_id: str = "", is_last: bool = True
) -> str:
    """Ask for the operation without waiting; return the ID of the task that does it."""
    with pytest.raises(StillRunningError) as raised:
        scenario.ask(impatient(world), ClientWait(task_id, is_last))
    return raised.value.task_id


def run_tasks(world: MemoryWorld) -> None:
    run_all(world.task_queue, world.engine())


def message_of(message: str) -> TaskScenario:
    """Return a commit with another message."""
    request = commits.CommitRequest(message, "somebody")
    return replace(
        COMMIT, ask=lambda engine, wait: commits.commit(engine, REPO, "main", request, wait)
    )


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_work_that_takes_long_is_done_by_a_task_and_the_answer_is_the_same(world, scenario):
    made = scenario.ask(world.engine(), FIRST_REQUEST)
    (task,) = tasks_of(world.engine())
    assert (task.state, task.kind, task.branch) == (
        TaskState.COMPLETED,
        TaskKind(scenario.name),
        scenario.branch,
    )
    assert effects(world, scenario.branch) == [made.id]
    assert outside(world.engine()) == scenario.outcomes()[1]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_work_that_takes_little_is_done_by_the_request(scenario):
    world = diverged_world()
    world.task_settings = TaskSettings(request_work_s=10_000)
    scenario.ask(world.engine(), FIRST_REQUEST)
    assert tasks_of(world.engine()) == []
    assert outside(world.engine()) == scenario.outcomes()[1]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_the_same_request_joins_the_running_task(world, scenario):
    first = told_to_come_again(scenario, world)
    assert told_to_come_again(scenario, world) == first
    made = scenario.ask(world.engine(), FIRST_REQUEST)
    assert len(tasks_of(world.engine())) == 1
    assert effects(world, scenario.branch) == [made.id]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_a_request_repeated_after_the_task_has_ended_gets_its_outcome(world, scenario):
    told_to_come_again(scenario, world)
    run_tasks(world)
    made = scenario.ask(impatient(world), FIRST_REQUEST)
    assert effects(world, scenario.branch) == [made.id]
    assert len(tasks_of(world.engine())) == 1


def test_a_client_that_follows_a_redirect_waits_for_the_task_that_it_names(world):
    named = told_to_come_again(COMMIT, world, is_last=False)
    assert told_to_come_again(COMMIT, world, task_id=named, is_last=False) == named
    run_tasks(world)
    made = COMMIT.ask(impatient(world), ClientWait(named))
    assert effects(world, "main") == [made.id]


def test_the_name_of_a_task_that_does_something_else_is_ignored(world):
    other = told_to_come_again(MERGE, world)
    task_id = told_to_come_again(COMMIT, world, task_id=other)
    assert task_id != other
    assert told_to_come_again(COMMIT, world, task_id="CAnone") == task_id


def test_a_request_after_something_else_was_staged_makes_a_commit_that_includes_it(world):
    first = told_to_come_again(COMMIT, world, is_last=False)
    second: list[str] = []

    def stage_and_ask() -> None:
        upload(world.engine(), b"later")
        second.append(told_to_come_again(COMMIT, world, is_last=False))

    # The runner has read the branch by then.
    runner = engine_around(world.engine(), Meanwhile(12, stage_and_ask))
    run(runner, TaskMessage(REPO, first))
    run_tasks(world)
    one = COMMIT.ask(world.engine(), ClientWait(first))
    other = COMMIT.ask(world.engine(), ClientWait(second[0]))
    assert effects(world, "main") == [one.id, other.id]
    assert b"later" not in contents(world.engine(), one.id)
    assert b"later" in contents(world.engine(), other.id)


def test_a_commit_that_waits_takes_what_another_one_seals_which_gets_the_same_commit(world):
    """As if the other request had come a moment later than the first commit."""
    first = told_to_come_again(COMMIT, world, is_last=False)
    upload(world.engine(), b"later")
    second = told_to_come_again(COMMIT, world, is_last=False)
    assert second != first
    run_tasks(world)
    (made,) = effects(world, "main")
    assert b"later" in contents(world.engine(), made)
    assert COMMIT.ask(world.engine(), ClientWait(second)).id == made


def test_a_request_with_another_message_gets_a_task_of_its_own(world):
    first = told_to_come_again(COMMIT, world)
    assert told_to_come_again(message_of("other"), world) != first


def test_a_client_that_wrote_more_before_it_came_again_gets_a_commit_with_all_of_it(world):
    told_to_come_again(COMMIT, world)
    upload(world.engine(), b"later")
    with pytest.raises(StillRunningError) as still:
        COMMIT.ask(impatient(world), FIRST_REQUEST)
    assert not still.value.is_outcome  # so the redirect does not name the task
    assert len(tasks_of(world.engine())) == 1
    run_tasks(world)
    made = COMMIT.ask(world.engine(), FIRST_REQUEST)
    assert len(effects(world, "main")) == 2
    assert effects(world, "main")[-1] == made.id
    assert b"later" in contents(world.engine(), made.id)


def test_a_client_whose_later_write_another_request_sealed_gets_a_commit_with_it(world):
    told_to_come_again(COMMIT, world)
    run_tasks(world)
    upload(world.engine(), b"later")
    told_to_come_again(message_of("other"), world)
    with pytest.raises(StillRunningError):
        COMMIT.ask(impatient(world), FIRST_REQUEST)


def test_an_outcome_is_told_once(world):
    told_to_come_again(COMMIT, world)
    run_tasks(world)
    COMMIT.ask(world.engine(), FIRST_REQUEST)
    upload(world.engine(), b"later")
    COMMIT.ask(world.engine(), FIRST_REQUEST)
    assert len(effects(world, "main")) == 2
    assert len(tasks_of(world.engine())) == 2


def test_an_outcome_that_nobody_asked_for_in_time_is_not_told(world):
    told_to_come_again(COMMIT, world)
    run_tasks(world)
    world.clock.tick(OUTCOME_LIFE_S + 60)
    with pytest.raises(InvalidInputError, match="no changes"):
        COMMIT.ask(world.engine(), FIRST_REQUEST)


@pytest.mark.parametrize("scenario", [COMMIT, REVERT], ids=["commit", "revert"])
def test_a_client_that_lost_its_answer_gets_the_commit_again(world, scenario):
    made = scenario.ask(world.engine(), FIRST_REQUEST)
    assert scenario.ask(world.engine(), FIRST_REQUEST) == made
    assert effects(world, scenario.branch) == [made.id]


def test_a_commit_repeated_after_another_one_is_refused(world):
    COMMIT.ask(world.engine(), FIRST_REQUEST)
    upload(world.engine(), b"later")
    message_of("other").ask(world.engine(), FIRST_REQUEST)
    with pytest.raises(InvalidInputError, match="no changes"):
        COMMIT.ask(world.engine(), FIRST_REQUEST)


def test_a_merge_repeated_when_there_is_more_to_merge_is_not_answered_with_the_old_one(world):
    MERGE.ask(world.engine(), FIRST_REQUEST)
    alone = replace(world.engine(), task_settings=TaskSettings())
    upload(alone, b"more", branch="dev")
    commits.commit(alone, REPO, "dev", commits.CommitRequest("more", "c"))
    upload(alone, b"dirty", branch="clean")
    with pytest.raises(InvalidInputError, match="uncommitted"):
        MERGE.ask(world.engine(), FIRST_REQUEST)


def test_a_client_learns_its_outcome_although_an_equal_request_waited_for_it_before(world):
    told_to_come_again(COMMIT, world)
    upload(world.engine(), b"later")
    world.task_settings = structs.replace(PATIENT, request_work_s=10_000)
    other = COMMIT.ask(world.engine(), FIRST_REQUEST)
    first = COMMIT.ask(world.engine(), FIRST_REQUEST)
    assert effects(world, "main") == [first.id, other.id]


def conflict(world: MemoryWorld) -> None:
    upload(world.engine(), b"more", b"other", "clean")
    alone = replace(world.engine(), task_settings=TaskSettings())  # runs no task meanwhile
    commits.commit(alone, REPO, "clean", commits.CommitRequest("m", "c"))


def protect(world: MemoryWorld) -> None:
    repositories.set_protection_rules(world.engine(), REPO, [ProtectionRule("*")])


def forget_changes(world: MemoryWorld) -> None:
    branches.reset(world.engine(), REPO, "main", kind="reset")


def delete_destination(world: MemoryWorld) -> None:
    branches.delete(world.engine(), REPO, "clean")


FAILURES: list[tuple[TaskScenario, Callable[[MemoryWorld], None], type[GravelerError]]] = [
    (COMMIT, forget_changes, NoChangesError),
    (COMMIT, protect, ForbiddenError),
    (REVERT, protect, ForbiddenError),
    (MERGE, conflict, MergeConflictError),
    (MERGE, delete_destination, NotFoundError),
]


@pytest.mark.parametrize(("scenario", "spoil", "expected"), FAILURES)
def test_a_task_that_fails_answers_like_the_request_itself(world, scenario, spoil, expected):
    spoiled = diverged_world()
    spoil(spoiled)
    with pytest.raises(expected) as alone:
        scenario.ask(spoiled.engine(), FIRST_REQUEST)
    named = told_to_come_again(scenario, world)
    spoil(world)
    with pytest.raises(expected) as raised:
        scenario.ask(world.engine(), ClientWait(named))
    assert type(raised.value) is type(alone.value) is expected
    assert str(raised.value) == str(alone.value)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_a_branch_that_is_protected_while_a_task_works_takes_only_its_merge(scenario):
    world, message = scenario.begun()

    def around(name: str, call: Callable[[], object]) -> object:
        if name == "files.write":
            protect(world)
        return call()

    run(engine_around(world.engine(), around), message)
    task = task_now(world, message)
    if "merge" in scenario.name:
        assert effects(world, scenario.branch) == [task.result["commit_id"]]
    else:
        assert effects(world, scenario.branch) == []
        assert task.failure is not None
        assert task.failure.message == "cannot commit to protected branch"


def test_a_failure_is_told_once_and_then_tried_again(world):
    told_to_come_again(MERGE, world)
    upload(world.engine(), b"dirty", branch="clean")
    run_tasks(world)
    with pytest.raises(InvalidInputError, match="uncommitted"):
        MERGE.ask(impatient(world), FIRST_REQUEST)
    branches.reset(world.engine(), REPO, "clean", kind="reset")
    made = MERGE.ask(world.engine(), FIRST_REQUEST)
    assert effects(world, "clean") == [made.id]


def test_a_cancelled_task_is_a_conflict_for_those_who_wait_for_it(world):
    named = told_to_come_again(COMMIT, world)
    cancel(world.engine(), REPO, named)
    with pytest.raises(ConflictError, match="was cancelled"):
        COMMIT.ask(world.engine(), FIRST_REQUEST)
    made = COMMIT.ask(world.engine(), FIRST_REQUEST)
    assert effects(world, "main") == [made.id]


def test_a_request_for_a_cancelled_task_that_still_runs_gets_another_one(world):
    first = told_to_come_again(COMMIT, world, is_last=False)
    repository = world.engine().refs.repository(REPO)
    task = world.engine().refs.task(repository, first)
    running = structs.replace(task, state=TaskState.RUNNING, is_unwanted=True)
    world.engine().refs.replace_task(repository, task, running)
    assert told_to_come_again(COMMIT, world) != first


def test_bad_requests_are_refused_before_a_task_is_made(world):
    for request, expected in (
        (commits.CommitRequest("m" * 2**20, "c"), InvalidInputError),
        (commits.CommitRequest("m", "c"), ForbiddenError),
    ):
        if expected is ForbiddenError:
            protect(world)
        with pytest.raises(expected):
            commits.commit(world.engine(), REPO, "main", request)
    assert tasks_of(world.engine()) == []


def test_dumps_restores_and_prepared_commits_are_left_to_tasks_too(world):
    engine = world.engine()
    dumped = dumps.dump(engine, REPO)
    make_bare(engine)
    dumps.restore(engine, "bare", dumped)
    assert refs_of(engine, "bare") == refs_of(engine, REPO)
    retention.set_rules(engine, REPO, RetentionRules(1, {}))
    prepared = retention.prepare_commits(engine, REPO)
    assert engine.objects.get(prepared.commits_uri)
    kinds = {task.kind for task in tasks_of(engine)}
    assert kinds == {TaskKind.DUMP, TaskKind.PREPARE_COMMITS}
    plain = diverged_world()
    assert dumps.dump(plain.engine(), REPO) == dumped


def test_a_dump_includes_what_was_made_before_it_was_asked_for(world):
    told = impatient(world)
    with pytest.raises(StillRunningError):
        dumps.dump(told, REPO, wait=ClientWait(is_last=False))
    tags.create(world.engine(), REPO, name="new", ref="main")
    with pytest.raises(StillRunningError):
        dumps.dump(told, REPO, wait=ClientWait(is_last=False))
    assert len(tasks_of(world.engine())) == 2


def test_two_equal_requests_at_once_start_one_task(world, monkeypatch):
    """Both find no task; the second to store one finds the first one's."""
    create_task = world.refs.create_task
    others: list[str] = []

    def create(repository, task, joinable, event):
        if not others:
            others.append("")
            others[0] = told_to_come_again(MERGE, world)
        create_task(repository, task, joinable, event)

    monkeypatch.setattr(world.refs, "create_task", create)
    assert told_to_come_again(MERGE, world) == others[0]
    assert len(tasks_of(world.engine())) == 1


def test_a_merge_that_is_started_after_its_source_moved_does_not_join_the_earlier_one(world):
    def started() -> str:
        return merges.start_merge(
            world.engine(), REPO, "dev", "clean", merges.MergeRequest("somebody")
        ).id

    first = started()
    assert started() == first
    upload(world.engine(), b"later", b"later", "dev")
    later = commits.commit(
        replace(world.engine(), task_settings=TaskSettings()),
        REPO,
        "dev",
        commits.CommitRequest("later", "somebody"),
    )
    assert started() != first
    run_tasks(world)
    assert later.id in {*commits.get(world.engine(), REPO, "clean").parents}


@pytest.mark.parametrize(
    "start",
    [
        lambda engine: dumps.start_dump(engine, REPO, "ann"),
        lambda engine: retention.start_prepare(engine, REPO, "ann"),
        lambda engine: imports.start_import(engine, REPO, "clean", IMPORT),
    ],
    ids=["dump", "prepare", "import"],
)
def test_a_task_is_not_joined_if_what_it_reads_may_have_changed_since(world, start):
    engine = world.engine()
    retention.set_rules(engine, REPO, RetentionRules(7, {}))
    assert start(engine).id != start(engine).id


def test_a_user_whose_requests_wait_for_many_tasks_is_asked_to_come_again(world, monkeypatch):
    """The others of the user wait on, and so does another user; the task goes on."""
    monkeypatch.setattr(world.clock, "sleep", world.clock.tick)  # nobody works meanwhile
    world.task_settings = TaskSettings(request_work_s=0, request_wait_s=1, waits_max=2)
    engine = world.engine()

    def asked(number: int, user: str = "ann") -> GravelerError:
        request = commits.CommitRequest(f"message {number}", user, allow_empty=True)
        with pytest.raises(GravelerError) as refused:
            commits.commit(engine, REPO, "main", request)
        return refused.value

    for number in range(5):  # nobody waits for them
        request = commits.CommitRequest(f"other {number}", "ann", allow_empty=True)
        commits.start_commit(engine, REPO, "main", request)
    for number in range(2):
        assert isinstance(asked(number), StillRunningError)
    refused = asked(2)
    assert isinstance(refused, TooManyWaitsError)
    assert "wait for 2 older ones" in refused.message
    (task_id,) = (each.id for each in tasks_of(engine) if each.id in refused.message)
    assert isinstance(asked(0), StillRunningError)
    assert isinstance(asked(3, "bob"), StillRunningError)
    run_all(world.task_queue, engine)
    request = commits.CommitRequest("message 2", "ann", allow_empty=True)
    made = commits.commit(engine, REPO, "main", request)
    assert made.id == task_now(world, TaskMessage(REPO, task_id)).result["commit_id"]
