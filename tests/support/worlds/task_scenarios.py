"""Tasks of every kind that changes a branch, on the world of `scenarios`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from graveler.engine import Engine
from graveler.errors import StillRunningError
from graveler.model import Commit
from graveler.model.tasks import Task, TaskMessage, TaskSettings, TaskState
from graveler.operations import commits, merges, pulls, replays
from graveler.operations.tasks.requests import list_page, status
from graveler.operations.tasks.waiting import ClientWait
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.tasks import run
from tests.support.faults.counting import Calls, engine_around
from tests.support.worlds.scenarios import (
    REPO,
    commit,
    outside,
    prepared_world,
    the_pull_request,
    upload,
)
from tests.support.worlds.slices import predictable_slices

# A request leaves everything that takes time to a task, and does not wait for it.
IMPATIENT = TaskSettings(request_work_s=0, request_wait_s=0)


def diverged_world() -> MemoryWorld:
    """Return the world of `scenarios`, where dev has one more commit."""
    return _diverged_world().anew()


@cache
def _diverged_world() -> MemoryWorld:
    world = prepared_world()
    upload(world.engine(), b"more", b"more", "dev")
    commit(world.engine(), "dev", "more on dev")
    return world


@dataclass(frozen=True)
class TaskScenario:
    """A synchronous operation that becomes a task."""

    name: str
    branch: str
    ask: Callable[[Engine, ClientWait], Commit]

    def begun(self) -> tuple[MemoryWorld, TaskMessage]:
        """Return a world where a request has left the operation to a task."""
        world, message = self._begun()
        made = world.anew()
        made.refs.events = list(world.refs.events)  # the queue has still to hear of the task
        return made, message

    @cache  # noqa: B019 - scenarios are few, and live as long as the tests
    def _begun(self) -> tuple[MemoryWorld, TaskMessage]:
        world = diverged_world()
        world.task_settings = IMPATIENT
        try:
            self.ask(world.engine(), ClientWait())
        except StillRunningError as error:
            return world, TaskMessage(REPO, error.task_id)
        raise AssertionError(f"{self.name} left nothing to a task")

    @cache  # noqa: B019 - scenarios are few, and live as long as the tests
    def outcomes(self) -> tuple[object, object]:
        """Return what users see before and after the operation."""
        world = diverged_world()
        before = outside(world.engine())
        self.ask(world.engine(), ClientWait())
        return before, outside(world.engine())


SCENARIOS = [
    TaskScenario(
        "commit",
        "main",
        lambda engine, wait: commits.commit(
            engine, REPO, "main", commits.CommitRequest("commit", "somebody"), wait
        ),
    ),
    TaskScenario(
        "merge",
        "clean",
        lambda engine, wait: merges.merge(
            engine, REPO, "dev", "clean", merges.MergeRequest("somebody"), wait
        ),
    ),
    TaskScenario(
        "revert",
        "dev",
        lambda engine, wait: replays.revert(
            engine, REPO, "dev", replays.RevertRequest("on-dev", "somebody"), wait
        ),
    ),
    TaskScenario(
        "cherry-pick",
        "clean",
        lambda engine, wait: replays.cherry_pick(
            engine, REPO, "clean", replays.CherryPickRequest("v1", "somebody"), wait
        ),
    ),
    TaskScenario(
        "merge-pull-request",
        "clean",
        lambda engine, wait: pulls.merge(
            engine, REPO, the_pull_request(engine), merges.MergeRequest("somebody"), wait
        ),
    ),
]


def task_now(world: MemoryWorld, message: TaskMessage) -> Task:
    return status(world.engine(), message.repository, message.task_id)


def tasks_of(engine: Engine) -> list[Task]:
    """Return all tasks of the repository, newest first."""
    return list(list_page(engine, REPO, "", 100).results)


def effects(world: MemoryWorld, branch: str) -> list[str]:
    """Return the commits of a branch that were reported since the world was made."""
    return [
        str(event.detail["commit_id"])
        for event in world.refs.events
        if "parents" in event.detail and event.detail["branch"] == branch
    ]


def ends(world: MemoryWorld) -> list[str]:
    """Return the kinds of the events of tasks that ended."""
    kinds = ("task_completed", "task_failed", "task_cancelled")
    return [event.kind for event in world.refs.events if event.kind in kinds]


def places(scenario: TaskScenario) -> range:
    """Return the numbers of a runner's calls of ports, and one more."""
    calls = Calls()
    with predictable_slices():
        world, message = scenario.begun()
        run(engine_around(world.engine(), calls), message)
    return range(1, len(calls.names) + 2)


def assert_completed(world: MemoryWorld, message: TaskMessage, scenario: TaskScenario) -> None:
    """Check that the task is completed, with its one effect."""
    task = task_now(world, message)
    assert task.state is TaskState.COMPLETED
    assert effects(world, scenario.branch) == [task.result["commit_id"]]
    assert ends(world) == ["task_completed"]
    assert outside(world.engine()) == scenario.outcomes()[1]
