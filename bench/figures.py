"""Figures with their units, and measurements of time, memory and processes."""

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

# A process that takes longer has failed.
_READY_S_MAX = 1800


class Figure(NamedTuple):
    """One number of a section; the unit says whether a time is of the processor (cpu) or wall."""

    name: str
    value: float
    unit: str


@dataclass
class Spent:
    """The duration of some work in seconds."""

    cpu_s: float = 0
    wall_s: float = 0


@contextmanager
def spent() -> Iterator[Spent]:
    """Measures processor and wall time of the work inside the block."""
    times = Spent()
    wall, cpu = perf_counter(), process_time()
    try:
        yield times
    finally:
        times.cpu_s, times.wall_s = process_time() - cpu, perf_counter() - wall


def memory_mb() -> float:
    """Return the current memory of this process."""
    return _status("VmRSS")


def peak_memory_mb() -> float:
    """Return the peak memory of this process.

    From /proc, since what getrusage tells goes back to the process that started this one.
    """
    return _status("VmHWM")


def _status(name: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024 / 1e6
    raise RuntimeError(f"the system does not tell {name}")


def cores() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0))


def in_fresh_process(measure: Callable[..., Iterator[T]], *args: object) -> Iterator[T]:
    """Yield the figures, or other results, of measure(*args), run in a new process, as they come.

    Caches are cold there, and memory is its own.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_send_figures, args=(theirs, measure, *args))
    process.start()
    theirs.close()
    try:
        yield from _received(ours)
    finally:
        process.join()
    if process.exitcode:
        raise RuntimeError(f"{measure.__module__}.{measure.__name__} failed: see above")


def _send_figures(
    results: Connection, measure: Callable[..., Iterator[object]], *args: object
) -> None:
    for figure in measure(*args):
        results.send(figure)
    results.close()


def _received(results: Connection) -> Iterator[Any]:
    while True:
        try:
            yield results.recv()
        except EOFError:
            return


def on_all_cores(prepare: Callable[[], Sequence[Callable[[], object]]], rounds: int) -> float:
    """Return the wall seconds of a round, run by a fork of this process on each core.

    Each prepares, in its own memory, and the clock runs while they do what preparing gave them for
    the round. Of all rounds the fastest counts: whatever else a machine does makes them slower.
    """
    context = multiprocessing.get_context("fork")
    together = context.Barrier(cores() + 1, timeout=_READY_S_MAX)

    def prepare_and_work() -> None:
        for work in prepare():
            together.wait()
            work()
            together.wait()
        os._exit(0)  # its memory need not be cleared up

    processes = [context.Process(target=prepare_and_work) for _ in range(cores())]
    for process in processes:
        process.start()
    seconds: list[float] = []
    for _ in range(rounds):
        together.wait()
        start = perf_counter()
        together.wait()
        seconds.append(perf_counter() - start)
    for process in processes:
        process.join()
    return min(seconds)
