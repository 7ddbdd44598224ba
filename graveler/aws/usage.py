"""Counts the use of the stores by a request, a message or a batch.

The adapters count each request where they send it. The count goes to the `measured` block of the
current context, which `graveler.threads` pass on to worker threads. Outside such a block, nothing
is counted.
"""

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from threading import Lock


class Counted(StrEnum):
    """The kinds of use; their texts are the names of CloudWatch's metrics."""

    # Attempts: a repeated request counts again, and is billed again.
    DYNAMODB_REQUESTS = "DynamoDBRequests"
    S3_REQUESTS = "S3Requests"
    # Reads of committed files, answered by the process's own files or by S3. Reads from memory
    # count as neither.
    CACHE_HITS = "CacheHits"
    CACHE_MISSES = "CacheMisses"
    OBJECTS_COPIED = "ObjectsCopied"
    BYTES_COPIED = "BytesCopied"
    OBJECTS_DELETED = "ObjectsDeleted"


# A kind that is missing was not used.
Usage = MutableMapping[Counted, int]

_current: ContextVar[Usage | None] = ContextVar("usage", default=None)
_lock = Lock()


@contextmanager
def measured() -> Iterator[Usage]:
    """Yield the usage of the block and its threads; it grows during the block."""
    usage: Usage = {}
    token = _current.set(usage)
    try:
        yield usage
    finally:
        _current.reset(token)


def count(counted: Counted, amount: int = 1) -> None:
    """Add to the usage of the current `measured` block, if there is one."""
    usage = _current.get()
    if usage is not None:
        with _lock:  # the threads of one request share its usage
            usage[counted] = usage.get(counted, 0) + amount
