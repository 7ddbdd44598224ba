"""Threads that work in the context of whoever asks them to."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class ContextThreads(ThreadPoolExecutor):
    """Threads in which context variables are what they were where the work was submitted.

    What a request uses is counted for that request, whichever thread uses it.
    """

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a thread call fn; `map` comes here as well."""
        context = copy_context()
        return super().submit(lambda: context.run(fn, *args, **kwargs))
