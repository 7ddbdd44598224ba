"""Changes cut into slices of a chosen weight, so that few changes make several slices."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import partial
from typing import ParamSpec, TypeVar

import pytest

from graveler.branches import changes
from graveler.committed.slices import plan
from graveler.merge import plan_merge
from graveler.operations.tasks import slices

P = ParamSpec("P")
T = TypeVar("T")


class AtOnce(Executor):
    """Does the work in the thread that submits it, so that every run is the same."""

    def __init__(self, _threads: int) -> None:
        """Take the arguments of a thread pool."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - like a pool, it hands on even a crash
            future.set_exception(error)
        return future


@contextmanager
def slices_of(weight: int) -> Iterator[None]:
    """Tasks cut their changes wherever a slice has the weight and the cut is safe."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(changes, "plan", partial(plan, slice_weight=weight))
        patch.setattr(changes, "plan_merge", partial(plan_merge, slice_weight=weight))
        yield


@contextmanager
def predictable_slices(weight: int = 1) -> Iterator[None]:
    """The same with one thread, so that a runner makes the same calls each time."""
    with slices_of(weight), pytest.MonkeyPatch.context() as patch:
        patch.setattr(slices, "ContextThreads", AtOnce)
        yield
