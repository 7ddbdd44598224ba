"""What a request, a message or a batch uses of the stores.

The adapters count where they send. They count for whoever measures in the current context, which
`graveler.threads` hand on to the threads that work for it; where nobody measures, nothing happens.
"""

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from threading import Lock


class Counted(StrEnum):
    """What is counted; the texts are the names of CloudWatch's metrics."""

    # Attempts: what is repeated counts again, and is billed again.
    DYNAMODB_REQUESTS = "DynamoDBRequests"
    S3_REQUESTS = "S3Requests"
    # Reads of committed files, by what answers: files that this process keeps, or S3. What it has
    # at hand in memory is not read, and counts as neither.
    CACHE_HITS = "CacheHits"
    CACHE_MISSES = "CacheMisses"
    OBJECTS_COPIED = "ObjectsCopied"
    BYTES_COPIED = "BytesCopied"
    OBJECTS_DELETED = "ObjectsDeleted"


# What is not in it was not used.
Usage = MutableMapping[Counted, int]

_current: ContextVar[Usage | None] = ContextVar("usage", default=None)
_lock = Lock()


@contextmanager
def measured() -> Iterator[Usage]:
    """What is used from here to the end of the block, by its threads too; grows as it is used."""
    usage: Usage = {}
    token = _current.set(usage)
    try:
        yield usage
    finally:
        _current.reset(token)


def count(counted: Counted, amount: int = 1) -> None:
    """Count for whoever measures, if anybody does."""
    usage = _current.get()
    if usage is not None:
        with _lock:  # the threads of one request share its usage
            usage[counted] = usage.get(counted, 0) + amount
