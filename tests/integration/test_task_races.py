"""Runners and users that meet at one task, each in a thread, on DynamoDB Local."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier

import pytest

from graveler.engine import Engine
from graveler.errors import ConflictError, ContentionError
from graveler.model.tasks import Task, TaskMessage, TaskState
from graveler.operations import commits, writes
from graveler.operations.tasks.requests import cancel, list_page, status
from tests.support.fakes.tasks import run
from tests.support.worlds.server_world import ServerWorld, open_world
from tests.support.worlds.slices import slices_of

pytestmark = pytest.mark.server

# A race is lost now and then: many rounds find the rare cases.
ROUNDS = [0, 1, *(pytest.param(number, marks=pytest.mark.long) for number in range(2, 10))]
AT_ONCE = 4
REQUEST = commits.CommitRequest("by a task", "somebody")


@pytest.fixture(scope="module")
def world(dynamodb_endpoint: str) -> Iterator[ServerWorld]:
    with open_world(dynamodb_endpoint) as world, slices_of(1):
        yield world


def staged(world: ServerWorld) -> str:
    """Return the name of a new repository with staged changes."""
    name = world.new_repository()
    for path in (b"a", b"b", b"c"):
        writes.upload(
            world.engine(),
            name,
            "main",
            path,
            read_content=lambda: (b"content", "text/plain"),
            metadata={},
        )
    return name


def all_at_once(*works: Callable[[], object]) -> None:
    barrier = Barrier(len(works))

    def begin(work: Callable[[], object]) -> None:
        barrier.wait()
        work()

    with ThreadPoolExecutor(len(works)) as pool:
        list(pool.map(begin, works))


def commits_of(engine: Engine, name: str) -> list[str]:
    """Return the IDs of the commits since the first one, newest first."""
    return [each.id for each in commits.log(engine, name, "main", commits.LogQuery(9)).results[:-1]]


def runner(world: ServerWorld, name: str, task: Task, number: int) -> Callable[[], object]:
    message = TaskMessage(name, task.id)
    return lambda: run(world.engine(), message, runner=f"runner-{number}")


@pytest.mark.parametrize("_round", ROUNDS)
def test_runners_that_get_a_message_together_make_one_commit(world, _round):
    name = staged(world)
    task = commits.start_commit(world.engine(), name, "main", REQUEST)
    all_at_once(*(runner(world, name, task, number) for number in range(AT_ONCE)))
    ended = status(world.engine(), name, task.id)
    assert ended.state is TaskState.COMPLETED
    assert commits_of(world.engine(), name) == [ended.result["commit_id"]]


@pytest.mark.parametrize("_round", ROUNDS)
def test_a_cancellation_that_meets_a_runner_prevents_the_commit_or_is_refused(world, _round):
    name = staged(world)
    task = commits.start_commit(world.engine(), name, "main", REQUEST)
    refused = []

    def cancel_it() -> None:
        try:
            cancel(world.engine(), name, task.id)
        except ConflictError:
            refused.append(True)

    all_at_once(runner(world, name, task, 1), cancel_it)
    ended = status(world.engine(), name, task.id)
    assert ended.state is (TaskState.COMPLETED if refused else TaskState.CANCELLED)
    assert len(commits_of(world.engine(), name)) == len(refused)


@pytest.mark.parametrize("_round", ROUNDS)
def test_equal_requests_that_come_together_share_one_task(world, _round):
    name = staged(world)
    started: list[str] = []

    def start() -> None:
        with suppress(ContentionError):
            started.append(commits.start_commit(world.engine(), name, "main", REQUEST).id)

    all_at_once(*[start] * AT_ONCE)
    assert len({*started}) == 1
    assert [task.id for task in list_page(world.engine(), name, "", 9).results] == started[:1]
