"""Simulated Lambda functions: each serves one request at a time, with a process of its own.

A process has its client of DynamoDB, its engine and its caches. Committed files, objects and queues
are memory fakes, and S3 is as far away as docs/requests.md has it.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import TypeVar
from unittest.mock import patch

from bench.scale.dynamodb import ModelOfDynamoDB
from bench.scale.virtual_time import VirtualTime
from graveler.aws import deadlines
from graveler.aws.dynamodb import client
from graveler.aws.dynamodb.exports import DynamoExportStore
from graveler.aws.dynamodb.job_records import DynamoJobStore
from graveler.aws.dynamodb.refs import DynamoRefStore
from graveler.aws.dynamodb.staging import DynamoStagingStore
from graveler.aws.dynamodb.tables import Tables
from graveler.aws.system import SystemNames
from graveler.committed.store import Committed
from graveler.engine import Engine
from graveler.errors import ThrottledError
from graveler.limits import REQUEST_S_MAX
from graveler.model.tokens import ALL_PLAIN, Spreads
from graveler.threads import ContextThreads
from tests.simulation.database import drawn_ids, tables_of
from tests.simulation.threads import stepped_threads
from tests.support.fakes.engines import memory_world
from tests.support.fakes.memory_objects import MemoryCommittedFiles

T = TypeVar("T")

S3_S = 0.015
# Routing, authentication and JSON of a request, without other work (bench/prices.py).
SERVING_S = 0.001
# The processor time of a start and its first request (bench/README.md).
START_S = 0.6
# The function's threads, as graveler/aws/wiring.py has them.
_READS_AHEAD_MAX = 16
_UPLOADS_AT_ONCE = 8


class _DistantFiles(MemoryCommittedFiles):
    """Committed files behind S3's latency."""

    def __init__(self, time: VirtualTime) -> None:
        super().__init__()
        self._time = time

    def _file(self, method: str, namespace: str, file_id: str) -> bytes:
        self._time.sleep(S3_S)
        return super()._file(method, namespace, file_id)

    def write(self, namespace: str, file_id: str, content: bytes) -> bool:
        self._time.sleep(S3_S)
        return super().write(namespace, file_id, content)


class World:
    """A deployment: the model of DynamoDB, and engines over it.

    spreads: of the tokens that follow a branch's first one.
    """

    def __init__(self, model: ModelOfDynamoDB, spreads: Spreads = ALL_PLAIN) -> None:
        self.model = model
        self.spreads = spreads
        self.time = model.time
        self._memory = memory_world()
        self._files = _DistantFiles(model.time)
        self.tables = tables_of(model.service)
        self.tables.create()

    def engine(self, tables: Tables | None = None) -> Engine:
        """Return the engine of a new process; without tables, its requests take no time."""
        used = tables or self.tables
        threads = None if tables is None else ContextThreads(_READS_AHEAD_MAX)
        executor = None if tables is None else ContextThreads(_UPLOADS_AT_ONCE)
        return replace(
            self._memory.engine(Committed(self._files, executor=executor)),
            refs=DynamoRefStore(used),
            staging=DynamoStagingStore(used, self.spreads),
            exports=DynamoExportStore(used),
            jobs=DynamoJobStore(used),
            clock=self.time,
            names=SystemNames(self.time),
            threads=threads,
        )


class Fleet:
    """The function of the API: as many processes as are needed at once, up to the limit."""

    def __init__(self, world: World, limit: int) -> None:
        self._world = world
        self._limit = limit
        self._idle: list[Engine] = []
        self.processes = 0

    def serve(self, work: Callable[[Engine], T]) -> T:
        """Return the result of the work of one request, in an idle process or a new one.

        Raises:
            ThrottledError: all processes are busy, or DynamoDB cannot serve the request now.
            GravelerError: as the work.
        """
        if self._idle:
            engine = self._idle.pop()
        elif self.processes < self._limit:
            self.processes += 1
            self._world.time.sleep(START_S)
            engine = self._world.engine(self._world.model.tables())
        else:
            raise ThrottledError("too many concurrent requests")
        try:
            self._world.time.sleep(SERVING_S)
            with deadlines.within(REQUEST_S_MAX):
                return work(engine)
        finally:
            self._idle.append(engine)


@contextmanager
def virtual(time: VirtualTime, seed: int) -> Iterator[None]:
    """Let the product's deadlines, threads and IDs go by the virtual time and the seed."""
    with (
        drawn_ids(seed),
        patch.object(os, "getpid", lambda: seed),  # a part of IDs, and so of items' places
        patch.object(deadlines, "time", SimpleNamespace(monotonic=time.monotonic)),
        patch.object(client, "moment", time.moment),
        stepped_threads(time),
    ):
        yield
