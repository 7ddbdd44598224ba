"""Threads of the product: the scheduler owns them, so that each of their steps is one of a schedule.

Every pool is a ContextThreads, and each of its threads is a greenlet here. The one other place
where threads wait for each other is the coalescer.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import Context, copy_context
from types import SimpleNamespace
from typing import Any, Protocol, TypeVar
from unittest.mock import patch

from graveler.aws.dynamodb import coalescing
from graveler.threads import ContextThreads
from tests.support.faults.faults import Crash

T = TypeVar("T")


class ThreadOwner(Protocol):
    """What owns the threads."""

    @property
    def is_stepping(self) -> bool:
        """Whether the caller is one of those that run here."""

    def add_thread(self, work: Callable[[], object], context: Context) -> None:
        """Let a thread begin."""

    def pause(self) -> None:
        """Let others go on."""


class _Stepped(Future[T]):
    """A result that comes while others go on."""

    def __init__(self, scheduler: ThreadOwner, number: int) -> None:
        super().__init__()
        self.number = number  # in its pool, for those that wait for several
        self._scheduler = scheduler

    def result(self, timeout: float | None = None) -> T:
        while not self.done():
            self._scheduler.pause()
        return super().result(timeout)


class _Event:
    """As threading.Event; whoever waits lets others go on."""

    def __init__(self, scheduler: ThreadOwner) -> None:
        self._scheduler = scheduler
        self._is_set = False

    def set(self) -> None:
        self._is_set = True

    def is_set(self) -> bool:
        return self._is_set

    def wait(self, _timeout_s: float | None) -> bool:
        while not self._is_set:
            self._scheduler.pause()
        return True


class _Pool:
    """The threads of one ContextThreads."""

    def __init__(self, scheduler: ThreadOwner, amount: int) -> None:
        self._scheduler = scheduler
        self._amount = amount
        self._running = self._submitted = 0
        self._jobs: deque[tuple[Future[Any], Callable[[], Any]]] = deque()

    def submit(self, work: Callable[[], T]) -> Future[T]:
        self._submitted += 1
        future: _Stepped[T] = _Stepped(self._scheduler, self._submitted)
        self._jobs.append((future, work))
        if self._running < self._amount:
            self._running += 1
            if self._scheduler.is_stepping:
                self._scheduler.add_thread(self._run, copy_context())
            else:
                self._run()
        return future

    def shutdown(self, *, waits: bool, cancels: bool) -> None:
        if cancels:
            for future, _ in self._jobs:
                future.cancel()
        while waits and self._running:
            self._scheduler.pause()

    def _run(self) -> None:
        while self._jobs:
            future, work = self._jobs.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except (Exception, Crash) as error:  # noqa: BLE001 - whoever asks for the result raises it
                future.set_exception(error)
        self._running -= 1


@contextmanager
def stepped_threads(scheduler: ThreadOwner) -> Iterator[None]:
    """Let the scheduler own all threads."""

    def pool_of(threads: ContextThreads) -> _Pool:
        pool: _Pool = threads.__dict__.setdefault("stepped", _Pool(scheduler, threads._max_workers))
        return pool

    def submit(
        threads: ContextThreads, work: Callable[..., T], /, *args: Any, **options: Any
    ) -> Future[T]:
        return pool_of(threads).submit(lambda: work(*args, **options))

    def shutdown(
        threads: ContextThreads,
        wait: bool = True,
        *,
        cancel_futures: bool = False,
    ) -> None:
        pool_of(threads).shutdown(waits=wait, cancels=cancel_futures)

    def leave(threads: ContextThreads, kind: type[BaseException] | None, *_: object) -> None:
        pool_of(threads).shutdown(waits=kind is not Crash, cancels=False)

    methods: dict[str, Any] = {"submit": submit, "shutdown": shutdown, "__exit__": leave}
    stepped = SimpleNamespace(
        Event=lambda: _Event(scheduler),
        Lock=threading.Lock,
        TIMEOUT_MAX=threading.TIMEOUT_MAX,
    )
    with (
        patch.multiple(ContextThreads, **methods),
        patch.object(coalescing, "threading", stepped),
    ):
        yield
