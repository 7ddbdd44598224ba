"""Threads that run work in the context of its submitter."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class ContextThreads(ThreadPoolExecutor):
    """A thread pool in which work sees the context variables of the code that submitted it.

    So the usage of a request is counted for that request in every thread.
    """

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call fn in a thread; `map` uses this method, too."""
        context = copy_context()
        return super().submit(lambda: context.run(fn, *args, **kwargs))
