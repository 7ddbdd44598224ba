"""Runs tasks over the memory fakes: a queue that a test empties, and runners."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf

from graveler.engine import Engine
from graveler.model.tasks import Task, TaskMessage
from graveler.operations.task_work import WORK
from graveler.operations.tasks.advance import advance
from graveler.ports import Clock, TaskQueue

# SQS's limit.
DELAY_S_MAX = 900


class MemoryTaskQueue:
    """TaskQueue as a list of waiting messages, each with the time in ns when it is due."""

    def __init__(self, clock: Clock) -> None:
        self.waiting: list[tuple[int, TaskMessage]] = []
        self._clock = clock

    def fork(self, clock: Clock) -> "MemoryTaskQueue":
        made = MemoryTaskQueue(clock)
        made.waiting = list(self.waiting)
        return made

    def send(self, message: TaskMessage, delay_s: int = 0) -> None:
        assert 0 <= delay_s <= DELAY_S_MAX
        self.waiting.append((self._clock.now_ns() + delay_s * 10**9, message))


class HookMessage(TaskMessage, frozen=True):
    """A message for the runners of hooks."""


@dataclass(frozen=True)
class HookQueue:
    """The queue of hooks, whose messages are among those of the queue of tasks."""

    queue: TaskQueue

    def send(self, message: TaskMessage, delay_s: int = 0) -> None:
        self.queue.send(HookMessage(message.repository, message.task_id, message.runner), delay_s)


def with_hook_queue(engine: Engine, message: TaskMessage) -> Engine:
    """Return the engine of the runners that get the message: those of tasks, or those of hooks."""
    hooks = HookQueue(engine.task_queue)
    is_of_hooks = isinstance(message, HookMessage)
    return replace(engine, task_queue=hooks) if is_of_hooks else replace(engine, hook_queue=hooks)


def run(
    engine: Engine,
    message: TaskMessage,
    *,
    runner: str = "runner",
    time_left_s: Callable[[], float] = lambda: inf,
) -> Task | None:
    """Deliver a message to a runner, which does what its task needs."""
    return advance(engine, message, WORK, runner=runner, time_left_s=time_left_s)


def run_all(queue: MemoryTaskQueue, engine: Engine, *, hooks_apart: bool = False) -> None:
    """Deliver all messages, those that are sent meanwhile too, in the order of their times.

    hooks_apart: hooks have a queue of their own.
    """
    number = 0
    while queue.waiting:
        queue.waiting.sort(key=lambda each: each[0])
        _, message = queue.waiting.pop(0)
        number += 1
        its_engine = with_hook_queue(engine, message) if hooks_apart else engine
        run(its_engine, message, runner=f"runner-{number}")
