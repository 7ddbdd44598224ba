"""Threads that run work in the context of its submitter."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


class ContextThreads(ThreadPoolExecutor):
    """A thread pool in which work sees the context variables of the code that submitted it.

    So the usage of a request is counted for that request in every thread.
    """

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call fn in a thread; `map` uses this method, too."""
        context = copy_context()
        return super().submit(lambda: context.run(fn, *args, **kwargs))


def begun(executor: Executor | None, work: Callable[[], T]) -> Callable[[], T]:
    """Begin the work in another thread; return the function that returns its result, or raises.

    Call that function once, or never: what the work raises is lost then. Work that no thread has
    begun by that call is done by the caller. So work may wait for other work, and a busy executor
    delays no caller. Without an executor, all work is done by that call.
    """
    if executor is None:
        return work
    future = executor.submit(work)
    return lambda: work() if future.cancel() else future.result()


def begun_ahead(
    pool: Executor, work: Callable[[S], T], items: Iterable[S], ahead: int
) -> Iterator[tuple[S, Future[T]]]:
    """Yield the items in their order, with the work on each; that on `ahead` more has begun."""
    held: deque[tuple[S, Future[T]]] = deque()
    for item in items:
        held.append((item, pool.submit(work, item)))
        if len(held) > ahead:
            yield held.popleft()
    while held:
        yield held.popleft()
