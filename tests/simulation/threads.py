"""Threads of a client's process: what it reads ahead, between the steps of everybody else."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar

from tests.simulation.scheduler import Scheduler

P = ParamSpec("P")
T = TypeVar("T")


class _Stepped(Future[T]):
    """A result that comes while others go on."""

    def __init__(self, scheduler: Scheduler) -> None:
        super().__init__()
        self._scheduler = scheduler

    def result(self, timeout: float | None = None) -> T:
        while not self.done():
            self._scheduler.pause()
        return super().result(timeout)


class SteppedThreads(Executor):
    """An executor whose threads the scheduler runs."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: _Stepped[T] = _Stepped(self._scheduler)

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:  # noqa: BLE001 - whoever asks for the result raises it
                future.set_exception(error)

        if self._scheduler.is_stepping:
            self._scheduler.add_thread(work)
        else:
            work()
        return future
