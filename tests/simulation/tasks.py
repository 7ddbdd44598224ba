"""Tasks in schedules: messages that arrive as they like, and the threads and workers of runners."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ALL_COMPLETED
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

import msgspec

from graveler.aws.dynamodb import commit_pages
from graveler.branches import changes
from graveler.committed.slices import plan
from graveler.errors import GravelerError, ThrottledError
from graveler.export import slices as export_slices
from graveler.imports.changes import plan_import
from graveler.merge import plan_merge
from graveler.model import Commit, Repository
from graveler.model.events import TASK_TRIGGERS
from graveler.model.tasks import TaskMessage
from graveler.operations.hooks import run as hook_run
from graveler.operations.prefixes import walk
from graveler.operations.tasks import slices
from graveler.operations.tasks.slices import SliceJob, apply_job
from tests.simulation.schedule import Op
from tests.simulation.scheduler import Scheduler
from tests.simulation.threads import stepped_threads
from tests.support.fakes.engines import MemoryWorld
from tests.support.fakes.memory import FixedClock
from tests.support.fakes.tasks import run, with_hook_queue
from tests.support.faults.counting import over_ports
from tests.support.faults.faults import Crash
from tests.support.worlds.path_model import Value

if TYPE_CHECKING:
    from tests.simulation.machine import Simulation
    from tests.simulation.process import Process

# After a runner dies, the queue delivers its message again.
_AGAIN_S = 60
_LOOKS_MAX = 3


class Answer(NamedTuple):
    """An operation that was answered with a commit of a task; asked: when its last request was."""

    op: Op
    client: str
    invoked: float
    returned: float
    commit_id: str
    asked: float


class Step(NamedTuple):
    """A transaction of a task that took effect: not before `began`, and visible since `moment`.

    branch: "" if it was deleted before the last part of the step was visible.
    source: the branch that it read, "" if none. read_since: not before this moment.
    """

    task_id: str
    began: float
    moment: float
    branch: str
    source: str
    read_since: float


class Ledger:
    """What the clients and the runners of a schedule did with tasks, for the verdict.

    origins: by task ID, when its request was sent, and the operation that sent it.
    moves: by task ID, the commits that runners tried to end it with.
    answers: operations that were answered with a commit of a task.
    taken: by task ID and runner, when the runner asked to take it.
    steps: transactions of tasks that copy or move prefixes.
    copied: what such a task copied last, by its ID and the path at the source.
    refusals: operations that were answered that there are no changes.
    starts: operations that were answered with a task.
    seen: by task ID, the states that answers showed: sent, answered, state, commit ID.
    cancelled: tasks whose cancellation was acknowledged.
    called_back: tasks for whose outcome a client was asked to repeat its request.
    """

    def __init__(self, tick: Callable[[], int]) -> None:
        self._tick = tick
        self.taken: dict[tuple[str, str], float] = {}
        self.origins: dict[str, tuple[float, Op]] = {}
        self.moves: dict[str, list[tuple[Repository, Commit]]] = {}
        self.answers: list[Answer] = []
        self.steps: list[Step] = []
        self.copied: dict[tuple[str, bytes], Value | None] = {}
        self.refusals: list[tuple[Op, str, float, float]] = []
        self.starts: list[tuple[Op, str, float, str]] = []
        self.seen: dict[str, list[tuple[float, float, str, str]]] = {}
        self.cancelled: set[str] = set()
        self.called_back: set[str] = set()

    def watch(self, name: str, args: tuple[Any, ...], options: Mapping[str, Any]) -> bool:
        """Write down a commit that ends a task, or a take; return whether the call is the former."""
        if name == "refs.replace_task" and args[2].takes > args[1].takes:
            self.taken[args[2].id, args[2].runner] = self._tick()
        ends = options.get("ends")
        if name != "refs.move_branch" or ends is None:
            return False
        self.moves.setdefault(ends.old.id, []).append((args[0], options["commit"]))
        return True

    def first_news(self, task_id: str, commit_id: str = "") -> float | None:
        """Return when an answer first showed the task's end, or its commit."""
        ended = ("completed", "failed", "cancelled")
        seen = self.seen.get(task_id, ())
        times = [returned for _, returned, state, _ in seen if state in ended]
        times += [each.returned for each in self.answers if each.commit_id == commit_id]
        return min(times, default=None)


class Deliveries:
    """The queue of tasks: it delivers at least once, late, in any order, and sometimes twice.

    The event of a new task is a message, too, which is never lost.
    """

    def __init__(self, world: MemoryWorld) -> None:
        self._world = world
        self._events_seen = 0

    def receive(self, choose: Callable[[str, int], int]) -> TaskMessage | None:
        """Return a message that is due, or None; choose returns a number below its second one."""
        waiting = self._waiting()
        if not waiting:
            return None
        clock = self._world.clock
        due = [each for each in waiting if each[0] <= clock.peek_ns]
        if not due:
            if choose("late", 2):
                return None
            first = min(waiting, key=lambda each: each[0])
            clock.tick((first[0] - clock.peek_ns) / 10**9)
            due = [first]
        chosen = due[choose("which", len(due))]
        if choose("twice", 4):
            waiting.remove(chosen)
        return chosen[1]

    def give_back(self, message: TaskMessage) -> None:
        """Deliver a message again, whose receiver failed."""
        self._waiting().append((self._world.clock.peek_ns + _AGAIN_S * 10**9, message))

    def drain(self) -> Iterator[TaskMessage]:
        """Yield all messages in the order of their times, each when it is due."""
        clock = self._world.clock
        while waiting := self._waiting():
            first = min(waiting, key=lambda each: each[0])
            waiting.remove(first)
            if first[0] > clock.peek_ns:
                clock.tick((first[0] - clock.peek_ns) / 10**9)
            yield first[1]

    def _waiting(self) -> list[tuple[int, TaskMessage]]:
        world = self._world
        events = world.refs.events[self._events_seen :]
        self._events_seen += len(events)
        world.task_queue.waiting += [
            (event.time_ns, TaskMessage(event.repository, str(event.detail["task_id"])))
            for event in events
            if event.kind in TASK_TRIGGERS
        ]
        return world.task_queue.waiting


class Workers:
    """The slice function: each invocation is a process of its own, which outlives its caller."""

    def __init__(self, start: Callable[[], "Process"]) -> None:
        self._start = start

    def invoke(self, job: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            answer = apply_job(self._start().engine, msgspec.convert(job, SliceJob))
        except Crash as crash:
            raise ThrottledError("the worker died") from crash
        result: Mapping[str, Any] = msgspec.to_builtins(answer)
        return result


@contextmanager
def stepwise(scheduler: Scheduler, clock: FixedClock) -> Iterator[None]:
    """Let the scheduler own the threads of runners, and cut changes into tiny slices."""

    def wait(
        futures: Iterable[Any], timeout: float | None = None, return_when: str = ALL_COMPLETED
    ) -> tuple[list[Any], set[Any]]:
        waiting = sorted(futures, key=lambda future: future.number)
        wanted = len(waiting) if return_when == ALL_COMPLETED else 1
        looks = 0
        while len(done := [each for each in waiting if each.done()]) < min(wanted, len(waiting)):
            looks += 1
            if timeout is not None and looks > _LOOKS_MAX:
                clock.tick(timeout)
                break
            scheduler.pause()
        return done, set(waiting) - set(done)

    with (
        stepped_threads(scheduler),
        patch.object(slices, "wait", wait),
        patch.object(hook_run, "wait", wait),
        patch.object(export_slices, "wait", wait),
        patch.object(changes, "plan", partial(plan, slice_weight=1)),
        patch.object(changes, "plan_merge", partial(plan_merge, slice_weight=1)),
        patch.object(changes, "plan_import", partial(plan_import, slice_weight=1)),
        patch.object(commit_pages, "_PARTS_MAX", 8),
        patch.object(walk, "PAGE_PATHS", 2),
        patch.object(walk, "CHANGES_TOGETHER_MAX", 2),
    ):
        yield


def deliver_all(simulation: "Simulation") -> None:
    """Deliver all messages to runners that do not fail; then every task has to have ended."""

    def around(
        name: str, call: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        simulation.ledger.watch(name, args, options)
        if name == "staging.stage_step":
            simulation.steps.send(None, *args)
        return call(*args, **options)

    deliveries = simulation.deliveries
    for number, message in enumerate(deliveries.drain()):
        with suppress(GravelerError):
            engine = with_hook_queue(over_ports(simulation.new_engine(), around), message)
            run(engine, message, runner=f"last {number}")
        if number > 300:
            simulation.problem("endless", f"messages of task {message.task_id} never end")
            return
