"""Work that outlives requests: it waits for a slow store, because to begin again is slower.

A request has to answer within seconds, so its attempts are short (`retries.py`). A task that lists
a bucket would give up each page of a slow store, and never end. In the block of `patient`, requests
to S3 wait long and are repeated long. An export has a lease that no timer extends: it reads
patiently for half of it, and writes as a request does.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context

from graveler.aws import deadlines

# The beginnings of the names of the operations that read, and of those that store a file once.
READS = ("get_", "head_", "list_")
READS_AND_PUTS = (*READS, "put_object")

# How long requests are repeated.
_TASK_S = 240.0
_EXPORT_S = 30.0

# Reports between two beats are stored less often than this, see `graveler.tasks`.
_BEAT_S = 1.0

_patient: ContextVar[tuple[tuple[str, ...], float]] = ContextVar("patient", default=((), 0.0))


@contextmanager
def patient(
    operations: tuple[str, ...] = READS_AND_PUTS, seconds: float = _TASK_S
) -> Iterator[None]:
    """Repeat S3's operations that begin so for so long, in the block and in its threads."""
    token = _patient.set((operations, seconds))
    try:
        yield
    finally:
        _patient.reset(token)


def patient_reads() -> AbstractContextManager[None]:
    """Repeat reads for a part of an export's lease."""
    return patient(READS, _EXPORT_S)


def patience_s(operation: str) -> float:
    """Return how long the work in hand repeats the operation; 0 if it is not patient with it."""
    operations, seconds = _patient.get()
    return seconds if operation.startswith(operations) else 0.0


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
        with patient(), deadlines.within(seconds):
            yield
    finally:
        ended.set()
        beats.join()
