"""Threads that take tasks from a queue of bounded length."""

from collections.abc import Callable, Iterable
from queue import Empty, Queue
from threading import Lock, Semaphore, Thread
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

Task = Callable[[], None]


class TaskThreads:
    """Daemon threads that start when tasks need them."""

    def __init__(self, count: int, capacity: int) -> None:
        """Prepare threads.

        Args:
            count: how many tasks run at a time.
            capacity: how many tasks may wait.
        """
        self.count = count
        self._tasks: Queue[Task | None] = Queue(capacity)
        self._threads: list[Thread] = []
        self._lock = Lock()
        self._idle = 0

    def put(self, task: Task) -> None:
        """Queue a task, which must not raise; block while the queue is full."""
        with self._lock:
            if self._tasks.qsize() >= self._idle and len(self._threads) < self.count:
                # A daemon, so that an interrupted command need not wait for the network.
                thread = Thread(target=self._run, daemon=True)
                self._threads.append(thread)
                thread.start()
        self._tasks.put(task)

    def each(self, items: Iterable[T], do: Callable[[T], None]) -> None:
        """Call `do` with each item; start no more after a failure.

        Raises:
            Exception: the first failure.
        """
        failures: list[BaseException] = []
        # So that the items of one caller do not fill the queue.
        ahead = self.count * 2
        slots = Semaphore(ahead)

        def run(item: T) -> None:
            try:
                if not failures:
                    do(item)
            except Exception as error:  # noqa: BLE001 - raised by the caller's thread
                failures.append(error)
            finally:
                slots.release()

        for item in items:
            slots.acquire()
            if failures:
                slots.release()
                break
            self.put(lambda item=item: run(item))  # type: ignore[misc]
        for _ in range(ahead):
            slots.acquire()
        if failures:
            raise failures[0]

    def drop(self) -> None:
        """Drop the tasks that wait."""
        try:
            while True:
                self._tasks.get_nowait()
        except Empty:
            pass

    def end(self, timeout_s: float | None = None) -> None:
        """Wait until all tasks have run, or until the timeout."""
        for _ in self._threads:
            self._tasks.put(None)
        end_s = None if timeout_s is None else monotonic() + timeout_s
        for thread in self._threads:
            if thread.ident is None:
                continue  # an interrupt came before it was started
            thread.join(None if end_s is None else max(0.0, end_s - monotonic()))

    def _run(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
            task = self._tasks.get()
            with self._lock:
                self._idle -= 1
            if task is None:
                return
            task()
