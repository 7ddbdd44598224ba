"""Work that outlives requests: it waits for a slow store, because to begin again is slower.

A request has to answer within seconds, so its attempts are short (`retries.py`). A task that lists
a bucket would give up each page of a slow store, and never end. In the block of `patient`, requests
to S3 wait long and are repeated long. A runner whose right to write ends with a lease reads
patiently, and writes as a request does.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context

from graveler.aws import deadlines

# The beginnings of the names of the operations that read, and of those that store a file once.
READS = ("get_", "head_", "list_")
READS_AND_PUTS = (*READS, "put_object")

# Reports between two beats are stored less often than this, see `graveler.tasks`.
_BEAT_S = 1.0

_patient: ContextVar[tuple[str, ...]] = ContextVar("patient", default=())


@contextmanager
def patient(operations: tuple[str, ...] = READS) -> Iterator[None]:
    """Be patient with S3 in the block, and in its threads, for operations that begin so."""
    token = _patient.set(operations)
    try:
        yield
    finally:
        _patient.reset(token)


def is_patient(operation: str) -> bool:
    """Whether the work in hand is patient with the operation."""
    return operation.startswith(_patient.get())


@contextmanager
def runner(beat: Callable[[], None], seconds: float) -> Iterator[None]:
    """Call beat every second while the block works, for so many seconds at most."""
    ended = threading.Event()

    def beat_on() -> None:
        while not ended.wait(_BEAT_S):
            beat()

    beats = threading.Thread(target=copy_context().run, args=(beat_on,), daemon=True)
    beats.start()
    try:
        with patient(READS_AND_PUTS), deadlines.within(seconds):
            yield
    finally:
        ended.set()
        beats.join()
