"""Retries of work that outlives requests: it waits for a slow store, because a restart is slower.

A request has to answer within seconds, so its attempts are short (`retries.py`). With these, a task
that lists a bucket would give up each page of a slow store, and never end. In a `patient` block,
requests to S3 wait long and are repeated long. No timer extends the lease of an export: it reads
patiently for half of the lease, and writes like a request.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context

from graveler.aws import deadlines

# Prefixes of the names of operations that read, and the one that stores a file once.
READS = ("get_", "head_", "list_")
READS_AND_PUTS = (*READS, "put_object")

# The time for which requests are repeated.
_TASK_S = 240.0
_EXPORT_S = 30.0

# A beat is a report; reports are stored less often than this, see `graveler.model.tasks`.
_BEAT_S = 1.0

_patient: ContextVar[tuple[tuple[str, ...], float]] = ContextVar("patient", default=((), 0.0))


@contextmanager
def patient(
    operations: tuple[str, ...] = READS_AND_PUTS, seconds: float = _TASK_S
) -> Iterator[None]:
    """Repeat S3's operations with these prefixes for these seconds, also in the block's threads."""
    token = _patient.set((operations, seconds))
    try:
        yield
    finally:
        _patient.reset(token)


def patient_reads() -> AbstractContextManager[None]:
    """Repeat reads for part of an export's lease."""
    return patient(READS, _EXPORT_S)


def patience_s(operation: str) -> float:
    """Return how long the work in hand repeats the operation; 0 outside of a `patient` block."""
    operations, seconds = _patient.get()
    return seconds if operation.startswith(operations) else 0.0


@contextmanager
def runner(beat: Callable[[], None], seconds: float) -> Iterator[None]:
    """Call beat every second during a `patient` block, which ends after these seconds."""
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
